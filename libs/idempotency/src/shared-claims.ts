import { ConcurrentChange, type Tx } from '@app/database';
import { type Claim, COLUMNS, KeyClaim } from './claim';
import type { Form } from './form';

/** What one of several callers in a shared transaction has done. */
interface Done<Outcome> {
  readonly claim: Claim;
  readonly form: Form<Outcome>;
  readonly outcome: Outcome;
}

/**
 * For each caller of a shared transaction on PostgreSQL, whether its key is claimed already, also by an earlier one of
 * them: it is then served alone.
 */
export async function claimedBefore(tx: Tx, claims: readonly Claim[]): Promise<readonly boolean[]> {
  const given = claims.filter((claim) => claim instanceof KeyClaim);
  if (given.length === 0) return claims.map(() => false);
  const rows = await tx.all<{ id: string }>(
    `SELECT id FROM idempotency_keys
     WHERE (bot_id, id) IN (SELECT bot_id, id FROM unnest(?::text[], ?::text[]) AS given (bot_id, id))`,
    given.map(({ botId }) => botId),
    given.map(({ id }) => id),
  );
  const taken = new Set(rows.map(({ id }) => id));
  return claims.map((claim) => {
    if (!(claim instanceof KeyClaim)) return false;
    return taken.size === taken.add(claim.id).size;
  });
}

/** Stores the outcomes of the callers that have a key, in the transaction that they share. */
export async function keepAll<Outcome>(tx: Tx, done: readonly Done<Outcome>[]): Promise<void> {
  const rows = done.flatMap(({ claim, form, outcome }) =>
    claim instanceof KeyClaim ? [claim.valuesOf(form, outcome)] : [],
  );
  if (rows.length === 0) return;
  const columns = COLUMNS.split(',').map((_, at) => rows.map((row) => row[at] ?? null));
  const inserted = await tx.run(
    `INSERT INTO idempotency_keys (${COLUMNS})
     SELECT * FROM unnest(${columns.map(() => '?::text[]').join(', ')}) AS given (${COLUMNS})
     ORDER BY bot_id, id ON CONFLICT DO NOTHING`,
    ...columns,
  );
  if (inserted < rows.length) throw new ConcurrentChange();
}
