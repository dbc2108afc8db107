import { amongValues, ConcurrentChange, insertion, type Tx } from '@app/database';
import { type Claim, COLUMNS, KeyClaim } from './claim';
import type { Form } from './form';

/** What one of several callers in a shared transaction has done. */
interface Done<Outcome> {
  readonly claim: Claim;
  readonly form: Form<Outcome>;
  readonly outcome: Outcome;
}

const FIND_OF_BOT = 'SELECT id FROM idempotency_keys WHERE bot_id = ?';
const CREATE = insertion('INSERT INTO idempotency_keys', COLUMNS.split(', '), 'ON CONFLICT DO NOTHING');

/**
 * For each caller of a shared transaction, whether its key is claimed already, also by an earlier one of them: it is then
 * served alone.
 */
export async function claimedBefore(tx: Tx, claims: readonly Claim[]): Promise<readonly boolean[]> {
  const given = claims.filter((claim) => claim instanceof KeyClaim);
  if (given.length === 0) return claims.map(() => false);
  const taken = new Set((await stored(tx, given)).map(({ id }) => id));
  return claims.map((claim) => {
    if (!(claim instanceof KeyClaim)) return false;
    return taken.size === taken.add(claim.id).size;
  });
}

async function stored(tx: Tx, claims: readonly KeyClaim[]): Promise<{ id: string }[]> {
  if (tx.engine === 'postgres')
    return tx.all(
      `SELECT id FROM idempotency_keys
       WHERE (bot_id, id) IN (SELECT bot_id, id FROM unnest(?::text[], ?::text[]) AS given (bot_id, id))`,
      claims.map(({ botId }) => botId),
      claims.map(({ id }) => id),
    );
  const found: { id: string }[] = [];
  for (const bot of new Set(claims.map(({ botId }) => botId))) {
    const ids = claims.filter(({ botId }) => botId === bot).map(({ id }) => id);
    const { sql, value } = amongValues(tx, 'id', ids);
    found.push(...(await tx.all<{ id: string }>(`${FIND_OF_BOT} AND ${sql}`, bot, value)));
  }
  return found;
}

/** Stores the outcomes of the callers that have a key, in the transaction that they share. */
export async function keepAll<Outcome>(tx: Tx, done: readonly Done<Outcome>[]): Promise<void> {
  const rows = await Promise.all(
    done.flatMap(({ claim, form, outcome }) =>
      claim instanceof KeyClaim ? [claim.valuesOf(tx, form, outcome)] : [],
    ),
  );
  if ((await CREATE(tx, rows)) < rows.length) throw new ConcurrentChange();
}
