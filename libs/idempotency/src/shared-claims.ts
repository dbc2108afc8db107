import { ConcurrentChange, type Tx } from '@app/database';
import { type Claim, KeyClaim } from './claim';
import type { Form } from './form';

/** What one of several callers in a shared transaction has done. */
interface Done<Outcome> {
  readonly claim: Claim;
  readonly form: Form<Outcome>;
  readonly outcome: Outcome;
}

/** For each caller of a shared transaction on PostgreSQL, whether its key is claimed already: it is then served alone. */
export async function claimedBefore(tx: Tx, claims: readonly Claim[]): Promise<readonly boolean[]> {
  const given = claims.filter((claim) => claim instanceof KeyClaim);
  if (given.length === 0) return claims.map(() => false);
  const rows = await tx.all<{ id: string }>(
    `SELECT id FROM idempotency_keys
     WHERE (bot_id, id) IN (SELECT bot_id, id FROM unnest(?::text[], ?::text[]) AS given (bot_id, id))`,
    given.map(({ botId }) => botId),
    given.map(({ id }) => id),
  );
  const found = new Set(rows.map(({ id }) => id));
  return claims.map((claim) => claim instanceof KeyClaim && found.has(claim.id));
}

/** Stores the outcomes of the callers that have a key, in the transaction that they share. */
export async function keepAll<Outcome>(tx: Tx, done: readonly Done<Outcome>[]): Promise<void> {
  const rows: (string | null)[][] = [];
  for (const { claim, form, outcome } of done)
    if (claim instanceof KeyClaim) rows.push(await claim.values(tx, form, outcome));
  if (rows.length === 0) return;
  const columns = [0, 1, 2, 3, 4, 5, 6].map((at) => rows.map((row) => row[at] ?? null));
  const inserted = await tx.run(
    `INSERT INTO idempotency_keys (bot_id, id, request, guild_id, user_id, answer, created_at)
     SELECT * FROM unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[])
     ON CONFLICT DO NOTHING`,
    ...columns,
  );
  if (inserted < rows.length) throw new ConcurrentChange();
}
