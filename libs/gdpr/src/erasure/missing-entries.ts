import { Inject, Injectable } from '@nestjs/common';
import { ledgerBegins } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { Clock, type Config, CONFIG, firstIdAt } from '@app/kernel';
import { RecordedErasures } from '@app/sealing';
import { addToLedger, destroyKeys, type LedgerEntry, valuesOf } from './ledger-entries.sql';
import { BEGINNING, inParts } from './parts';

/** Entries of one write. */
const BATCH = 500;
/** The newest erasures of each bot that a start compares. */
const NEWEST = 100;

/**
 * Completed erasures in the time of the ledger, by the request too: the entry of one that was done again has its first time. One that a
 * restore has only noted was entered before.
 */
const IS_COMPLETED = `WHERE r.status = 'completed' AND r.subject_commitment IS NOT NULL AND r.id >= ? AND r.completed_at >= ?`;
const COMPLETED = `FROM deletion_requests r ${IS_COMPLETED}`;
const ABSENT = `NOT EXISTS (SELECT 1 FROM keys.erasure_ledger l WHERE l.bot_id = r.bot_id AND l.request_id = r.id)`;

/**
 * Keys that are older than the data lack its newest erasures. So a start looks at these alone. Each bot costs one look into the
 * index.
 */
const ANY_OF_NEWEST = `WITH RECURSIVE bot (id) AS (
    SELECT MIN(bot_id) FROM deletion_requests
    UNION ALL
    SELECT (SELECT MIN(r.bot_id) FROM deletion_requests r WHERE r.bot_id > bot.id) FROM bot WHERE bot.id IS NOT NULL)
  SELECT bot.id FROM bot WHERE bot.id IS NOT NULL AND EXISTS (
    SELECT 1 FROM (SELECT r.bot_id, r.id ${COMPLETED} AND r.bot_id = bot.id ORDER BY r.id DESC LIMIT ${NEWEST}) r
    WHERE ${ABSENT})
  LIMIT 1`;
const ENTRY = 'r.bot_id, r.id AS request_id, r.guild_id, r.user_id, r.key_id, r.completed_at AS erased_at';

/** Counts them in files of SQLite, of which the keys are attached as `keys`. Parameters: the first id and the time of the ledger's begin. */
export const COUNT_MISSING = `SELECT COUNT(*) ${COMPLETED} AND ${ABSENT}`;

/** The result of {@link MissingEntries.enter}. */
interface Entered {
  readonly entered: number;
  /** Keys that a backup had brought back. */
  readonly destroyedKeys: number;
}

/**
 * Enters erasures in the ledger that the data in place records and the ledger lacks, as after a restore of older keys: a later
 * restore of older data would bring these users back. Of several processes that do so at once each changes nothing twice.
 */
@Injectable()
export class MissingEntries {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly recorded: RecordedErasures,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Whether the ledger lacks any of the newest erasures of a bot. */
  async areLikely(): Promise<boolean> {
    return (await this.unitOfWork.read((tx) => tx.get(ANY_OF_NEWEST, ...this.since()))) !== undefined;
  }

  /** Compares all, and destroys the keys that are back. */
  async enter(isStopping: () => boolean = () => false): Promise<Entered> {
    let [entered, destroyedKeys] = [0, 0];
    for await (const missing of this.missing()) {
      if (isStopping()) break;
      const found = await this.onRecord(missing);
      // First the keys: a process that ends in between finds the entries missing again.
      destroyedKeys += await destroyKeys(this.unitOfWork, found);
      entered += await this.unitOfWork.write((tx) => addToLedger(tx, found.map(valuesOf)));
    }
    return { entered, destroyedKeys };
  }

  private async *missing(): AsyncGenerator<readonly LedgerEntry[]> {
    const requests = { table: 'deletion_requests', id: 'id', before: BEGINNING };
    const parts = inParts(this.unitOfWork, requests, (tx, { sql, values }) =>
      tx.all<LedgerEntry>(
        `SELECT ${ENTRY} FROM ${sql} r ${IS_COMPLETED} AND ${ABSENT} ORDER BY r.bot_id, r.id`,
        ...[...values, ...this.since()],
      ),
    );
    for await (const { found } of parts)
      for (let at = 0; at < found.length; at += BATCH) yield found.slice(at, at + BATCH);
  }

  private since(): string[] {
    const begins = ledgerBegins(this.clock, this.config);
    return [firstIdAt(begins), begins];
  }

  /** A row of the data alone is not believed: its certificate would be signed, and its key destroyed. */
  private async onRecord(missing: readonly LedgerEntry[]): Promise<LedgerEntry[]> {
    const found: LedgerEntry[] = [];
    for (const entry of missing)
      if (await this.unitOfWork.read((tx) => this.recorded.hasEnd(tx, entry))) found.push(entry);
    return found;
  }
}
