import { Inject, Injectable } from '@nestjs/common';
import { InstallationKeys, removeKeyOf } from '@app/crypto';
import { eachOf, type Tx, UnitOfWork } from '@app/database';
import { Clock, CONFIG, type Config } from '@app/kernel';
import { subjectAt } from '@app/subjects';
import { entriesOf, type LedgerEntry, linesOf } from './ledger-lines';
import { ledgerBegins } from './unknown-erasures';

/** Entries of one read or write. */
const BATCH = 500;

const COLUMNS = 'bot_id, request_id, guild_id, user_id, key_id, erased_at';
const INSERT = `INSERT INTO keys.erasure_ledger (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

/** Numbers of entries of a merged file. */
export interface Merged {
  readonly added: number;
  readonly known: number;
  /** Entries beyond the retention time. */
  readonly tooOld: number;
  /** Keys that a backup had brought back and the ledger lists as destroyed. */
  readonly destroyedKeys: number;
}

/**
 * Exports and merges the ledger of all erasures: one line of JSON for each, with digests in place of ids. After a
 * restored backup the operator merges it; the next start repeats the erasures that the backup does not contain.
 */
@Injectable()
export class ErasureLedger {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly keys: InstallationKeys,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** The lines of the file, see {@link linesOf}. */
  lines(): AsyncGenerator<string> {
    const entries = eachOf<LedgerEntry>(BATCH, (after) => this.page(after));
    return linesOf(this.keys.digest, this.clock.nowIso(), entries);
  }

  /**
   * Adds the unknown entries. `read` returns the lines of the file at each call: all are checked before the first one is
   * added.
   * @throws StartError, with nothing changed, for a file that is not whole, or not as this installation exported it.
   */
  async merge(read: () => AsyncIterable<string>): Promise<Merged> {
    const entries = (): AsyncGenerator<LedgerEntry> => entriesOf(this.keys.digest, read());
    const since = ledgerBegins(this.clock, this.config);
    const merged = { added: 0, known: 0, tooOld: 0, destroyedKeys: 0 };
    for await (const { erased_at: at } of entries()) if (at < since) merged.tooOld += 1;
    for await (const batch of batches(entries())) {
      const inTime = batch.filter((entry) => entry.erased_at >= since);
      const added = await this.unitOfWork.write((tx) => add(tx, inTime));
      merged.added += added;
      merged.known += inTime.length - added;
      merged.destroyedKeys += await this.unitOfWork.write((tx) => destroyKeys(tx, inTime));
    }
    await this.unitOfWork.scrubKeys();
    return merged;
  }

  private page(after: LedgerEntry | undefined): Promise<LedgerEntry[]> {
    const behind = after === undefined ? '' : 'WHERE (bot_id, request_id) > (?, ?)';
    return this.unitOfWork.read((tx) =>
      tx.all<LedgerEntry>(
        `SELECT ${COLUMNS} FROM keys.erasure_ledger ${behind} ORDER BY bot_id, request_id LIMIT ${BATCH}`,
        ...(after === undefined ? [] : [after.bot_id, after.request_id]),
      ),
    );
  }
}

async function* batches(entries: AsyncIterable<LedgerEntry>): AsyncGenerator<readonly LedgerEntry[]> {
  let batch: LedgerEntry[] = [];
  for await (const entry of entries) {
    if (batch.push(entry) < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function add(tx: Tx, entries: readonly LedgerEntry[]): Promise<number> {
  let added = 0;
  for (const entry of entries) {
    const { bot_id, request_id, guild_id, user_id, key_id, erased_at } = entry;
    added += await tx.run(INSERT, bot_id, request_id, guild_id, user_id, key_id, erased_at);
  }
  return added;
}

/**
 * Destroys keys that a backup has brought back beside newer data, and that no other subject has. Where the data is as old,
 * the next start erases the subject again: it needs the key for the ids that the webhook names.
 */
async function destroyKeys(tx: Tx, entries: readonly LedgerEntry[]): Promise<number> {
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
