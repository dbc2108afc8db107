import { givenRows, type Tx, type UnitOfWork } from '@app/database';
import { type DestroyedKey, type Digest, ledgerEntriesOf, removeOrphans, storedOrphans } from '@app/crypto';
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
 * Destroys keys that a backup has brought back, and scrubs them; returns their number. A subject that has its key still is spared: the
 * next start erases it again, and needs the key for the ids that the webhook names.
 */
export async function destroyKeys(unitOfWork: UnitOfWork, entries: readonly DestroyedKey[]): Promise<number> {
  const named = entries.flatMap(({ key_id: keyId }) => keyId ?? []);
  const back = new Set(await unitOfWork.read((tx) => storedOrphans(tx, named)));
  if (back.size === 0) return 0;
  // In a unit before, since SQLite commits keys before data: the key was recoverable again.
  await unitOfWork.write(async (tx) => {
    for (const { bot_id: botId, request_id: id, key_id: keyId } of entries)
      if (keyId !== null && back.has(keyId))
        await tx.run(
          'UPDATE deletion_requests SET unrecoverable_at = NULL, certificate = NULL WHERE bot_id = ? AND id = ?',
          ...[botId, id],
        );
  });
  const { length: destroyed } = await unitOfWork.write((tx) => removeOrphans(tx, [...back]));
  await unitOfWork.scrubKeys();
  return destroyed;
}
