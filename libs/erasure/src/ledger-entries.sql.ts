import { givenRows, type Tx } from '@app/database';
import type { DeletionRequest } from './deletion-request.entity';

/** Enters erasures in the ledger. An entry that a request has already stays. */
export async function addToLedger(
  tx: Tx,
  requests: readonly DeletionRequest[],
  erasedAt: string,
): Promise<void> {
  const columns = 'bot_id, request_id, guild_id, user_id, key_id';
  const given = givenRows(
    tx,
    columns.split(', '),
    requests.map(({ botId, id, guildId, userId, keyId }) => [botId, id, guildId, userId, keyId]),
  );
  await tx.run(
    `INSERT INTO keys.erasure_ledger (${columns}, erased_at)
     SELECT ${columns}, ? FROM ${given.sql} WHERE place > 0 ON CONFLICT DO NOTHING`,
    ...[erasedAt, ...given.values],
  );
}

/**
 * The ids of the requests of which the ledger has an older entry than the request: the data was restored from a backup
 * since.
 */
export async function doneBefore(tx: Tx, requests: readonly DeletionRequest[]): Promise<ReadonlySet<string>> {
  const given = givenRows(
    tx,
    ['bot_id', 'request_id', 'created_at'],
    requests.map(({ botId, id, createdAt }) => [botId, id, createdAt]),
  );
  const found = await tx.all<{ request_id: string }>(
    `SELECT given.request_id FROM ${given.sql} CROSS JOIN keys.erasure_ledger ledger
     WHERE ledger.bot_id = given.bot_id AND ledger.request_id = given.request_id
       AND ledger.erased_at < given.created_at`,
    ...given.values,
  );
  return new Set(found.map(({ request_id: id }) => id));
}
