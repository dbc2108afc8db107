import { givenRows, type Tx } from '@app/database';
import { type Digest, ledgerEntriesOf, removeKeyOf, subjectAt } from '@app/crypto';
import type { DeletionRequest } from './deletion-request.entity';

/** A row of `keys.erasure_ledger`. */
export interface LedgerEntry {
  readonly bot_id: string;
  readonly request_id: string;
  readonly guild_id: Digest;
  readonly user_id: Digest;
  readonly key_id: string | null;
  readonly erased_at: string;
}

/** The columns of an entry. */
export const LEDGER_COLUMNS = 'bot_id, request_id, guild_id, user_id, key_id, erased_at';

/** The values of {@link LEDGER_COLUMNS}. */
export function valuesOf(entry: LedgerEntry): (string | null)[] {
  return [entry.bot_id, entry.request_id, entry.guild_id, entry.user_id, entry.key_id, entry.erased_at];
}

/**
 * Enters erasures in the ledger, each by the values of {@link LEDGER_COLUMNS}. An entry that a request has already stays.
 * Returns the number of new ones.
 */
export function addToLedger(tx: Tx, rows: readonly (readonly (string | null)[])[]): Promise<number> {
  const given = givenRows(tx, LEDGER_COLUMNS.split(', '), rows);
  return tx.run(
    `INSERT INTO keys.erasure_ledger (${LEDGER_COLUMNS}) SELECT ${LEDGER_COLUMNS} FROM ${given.sql}
     WHERE place > 0 ON CONFLICT DO NOTHING`,
    ...given.values,
  );
}

/** When the erasure of a request was done, by the ledger; undefined without an entry. */
export async function doneAt(tx: Tx, botId: string, id: string): Promise<string | undefined> {
  return (await ledgerEntriesOf(tx, botId, [id]))[0]?.erased_at;
}

/**
 * The ids of the requests for which the ledger has an entry that is older than the request: the data was restored from a
 * backup since.
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

/**
 * Destroys keys that a backup has brought back beside newer data, and that no other subject has. If the data is as old,
 * the next start erases the subject again: it needs the key for the ids that the webhook names.
 */
export async function destroyKeys(tx: Tx, entries: readonly LedgerEntry[]): Promise<number> {
  let destroyed = 0;
  for (const entry of entries) {
    const { bot_id: botId, request_id: id, key_id: keyId } = entry;
    if (keyId === null) continue;
    const sql = `SELECT 1 FROM deletion_requests WHERE bot_id = ? AND id = ? AND status = 'completed'`;
    if ((await tx.get(sql, botId, id)) === undefined) continue;
    const removed = await removeKeyOf(tx, subjectAt(botId, entry), keyId);
    destroyed += removed;
    // The key was recoverable again.
    const again =
      'UPDATE deletion_requests SET unrecoverable_at = NULL, certificate = NULL WHERE bot_id = ? AND id = ?';
    if (removed > 0) await tx.run(again, botId, id);
  }
  return destroyed;
}
