import { Inject, Injectable } from '@nestjs/common';
import { findBot, nextBot } from '@app/bots';
import { ConsentHistoryPruning, ConsentService } from '@app/consent';
import { type Digest, ledgerBegins, subjectAt, SubjectDataHolders, SubjectKeys } from '@app/crypto';
import {
  type Batches,
  type BotSweep,
  containing,
  pages,
  PeriodicJob,
  type Tx,
  UnitOfWork,
} from '@app/database';
import { Clock, type Config, CONFIG, firstIdAt, Metrics, NO_METRICS } from '@app/kernel';
import { AuditPruning } from '@app/sealing';

/** Records of one unit, or that one statement looks at, and erasures of which a unit removes remains. */
const BATCH = 500;
const REMAINS = 50;
/** How many days back remains are looked for: no update takes longer. */
const LOOKED_BACK_DAYS = 8;

const OLD_ENTRY = 'erased_at < ?';
/** A failed request has no `completed_at`: its age counts from its creation. */
const OLD_REQUEST = `status <> 'processing' AND COALESCE(completed_at, created_at) < ?`;
/** Ids are in the order of time, so the index on them skips requests that are too young. */
const OLD_ENTRIES = `FROM keys.erasure_ledger WHERE bot_id = ? AND request_id < ? AND ${OLD_ENTRY}`;
const OLD_REQUESTS = `FROM deletion_requests WHERE bot_id = ? AND id < ? AND ${OLD_REQUEST}`;
const WITHOUT_ENTRY = `NOT EXISTS (SELECT 1 FROM keys.erasure_ledger l
  WHERE l.bot_id = deletion_requests.bot_id AND l.request_id = deletion_requests.id)`;

/**
 * A statement that looks at the next records of a bot by their ids, of which few may be old, and says which are; and those that remove
 * these. They have ended, so that no other unit changes them.
 */
const ENTRIES = {
  look: lookAt('keys.erasure_ledger', 'request_id', OLD_ENTRY),
  remove: ['DELETE FROM keys.erasure_ledger WHERE bot_id = ? AND request_id = ?'],
};
const REQUESTS = {
  look: lookAt('deletion_requests', 'id', `${OLD_REQUEST} AND ${WITHOUT_ENTRY}`),
  // A task of a holder of the bot has its user by its request.
  remove: [
    'DELETE FROM holder_tasks WHERE bot_id = ? AND request_id = ?',
    'DELETE FROM deletion_requests WHERE bot_id = ? AND id = ?',
  ],
};

function lookAt(table: string, id: string, old: string): string {
  return `SELECT ${id} AS id, CASE WHEN ${old} THEN 1 ELSE 0 END AS "isOld" FROM ${table}
    WHERE bot_id = ? AND ${id} > ? AND ${id} < ? ORDER BY ${id} LIMIT ${BATCH}`;
}

interface Looked {
  readonly id: string;
  readonly isOld: number;
}

/** Numbers of records. */
export interface ExpiredRecords {
  readonly ledgerEntries: number;
  readonly deletionRequests: number;
  readonly consentEntries: number;
  readonly auditEvents: number;
}

/**
 * Holds the records that prove a bot's acts (GDPR Art. 5(2)) to `EVIDENCE_RETENTION_DAYS`. The ledger of erasures stays
 * for `BACKUP_RETENTION_DAYS` if that is longer: with it a restored backup is erased again.
 */
@Injectable()
export class EvidenceRetention {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly consents: ConsentHistoryPruning,
    private readonly audit: AuditPruning,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Removes records that are too old. */
  async *prune(botId: string): Batches {
    const { ledger, before } = this.cutoffs();
    // In this order: an entry without its request means a restored backup, and the next start would repeat the erasure.
    yield* this.removeOld(ENTRIES, botId, ledger);
    yield* this.removeOld(REQUESTS, botId, before);
    yield* this.consents.pruneBefore(botId, before);
    yield* this.audit.pruneBefore(botId, before);
  }

  /** {@link prune} of the ledger of deleted bots, which outlives them. */
  async *pruneOfGoneBots(): Batches {
    for (let botId = await this.inLedger(''); botId !== undefined; botId = await this.inLedger(botId)) {
      if ((await findBot(this.unitOfWork, botId)) === undefined)
        yield* this.removeOld(ENTRIES, botId, this.cutoffs().ledger);
      yield undefined;
    }
  }

  /** Numbers of the records that {@link prune} would remove. */
  async expired(botId: string): Promise<ExpiredRecords> {
    const { ledger, before } = this.cutoffs();
    const old = [botId, firstIdAt(ledger), ledger] as const;
    const records = await this.unitOfWork.snapshot(async (tx) => ({
      ledgerEntries: await tx.total(`SELECT COUNT(*) AS total ${OLD_ENTRIES}`, ...old),
      deletionRequests: await tx.total(
        `SELECT COUNT(*) AS total ${OLD_REQUESTS} AND (${WITHOUT_ENTRY} OR id IN (SELECT request_id ${OLD_ENTRIES}))`,
        ...[botId, firstIdAt(before), before, ...old],
      ),
    }));
    return {
      ...records,
      consentEntries: await this.consents.endedEntries(botId, before),
      auditEvents: await this.audit.expiredEvents(botId, before),
    };
  }

  /** ISO times before which entries of the ledger, and all other records, are too old. */
  private cutoffs(): { readonly ledger: string; readonly before: string } {
    return {
      ledger: ledgerBegins(this.clock, this.config),
      before: this.clock.daysAgoIso(this.config.evidenceRetentionDays),
    };
  }

  private async *removeOld({ look, remove }: typeof ENTRIES, botId: string, beforeIso: string): Batches {
    const read = (after?: Looked): Promise<Looked[]> =>
      this.unitOfWork.read((tx) => tx.all(look, beforeIso, botId, after?.id ?? '', firstIdAt(beforeIso)));
    for await (const page of pages(BATCH, read)) {
      const old = page.filter(({ isOld }) => Number(isOld) === 1);
      const removed = async (tx: Tx): Promise<number> => {
        await Promise.all(old.flatMap(({ id }) => remove.map((sql) => tx.run(sql, botId, id))));
        return old.length;
      };
      yield old.length > 0 ? removed : undefined;
    }
  }

  /** The next bot in the ledger; one index lookup for each bot, however many entries it has. */
  private async inLedger(after: string): Promise<string | undefined> {
    const next = 'SELECT bot_id FROM keys.erasure_ledger WHERE bot_id > ? ORDER BY bot_id LIMIT 1';
    return (await this.unitOfWork.get<{ bot_id: string }>(next, after))?.bot_id;
  }
}

interface Erased {
  readonly id: string;
  readonly guild_id: Digest;
  readonly user_id: Digest;
  /** Null where it names every table. */
  readonly erased_rows: string | null;
}

/**
 * Removes what erasures have left that a process of an older version carried out during an update: it did not know the
 * tables of the newer one. The counts of an erasure name the tables that it knew.
 */
@Injectable()
export class ErasureRemains {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly holders: SubjectDataHolders,
    private readonly consents: ConsentService,
    private readonly keys: SubjectKeys,
    private readonly clock: Clock,
  ) {}

  /**
   * Asks the holders of those tables once more for each such erasure of a bot. The others have done their part, and keep what an
   * erasure leaves them, such as calls that still have to be made. With one version nothing is found, and no statement looks at all
   * of a week.
   */
  async *remove(botId: string): Batches {
    const tables = this.holders.erasedTables();
    const from = firstIdAt(this.clock.daysAgoIso(LOOKED_BACK_DAYS));
    const read = (after?: Erased): Promise<Erased[]> =>
      this.unitOfWork.read((tx) => {
        const known = tables.map((table) => containing(tx, 'erased_rows', `"${table}":`));
        const lacks = known.map(({ sql }) => `NOT (${sql})`).join(' OR ');
        return tx.all(
          `SELECT id, guild_id, user_id, CASE WHEN ${lacks} THEN erased_rows END AS erased_rows FROM deletion_requests
           WHERE bot_id = ? AND id > ? AND status = 'completed' ORDER BY id LIMIT ${BATCH}`,
          ...known.map(({ value }) => value),
          ...[botId, after?.id ?? from],
        );
      });
    for await (const page of pages(BATCH, read)) {
      const found = page.filter(({ erased_rows: rows }) => rows !== null);
      if (found.length === 0) yield undefined;
      for (let at = 0; at < found.length; at += REMAINS)
        yield (tx) => this.removeOf(tx, botId, found.slice(at, at + REMAINS));
    }
  }

  /** Something that is held again is not touched: its own erasure takes all of it. Counts as no record. */
  private async removeOf(tx: Tx, botId: string, found: readonly Erased[]): Promise<number> {
    const subjects = found.map((row) => subjectAt(botId, row));
    await this.consents.lock(tx, subjects);
    for (const [at, subject] of subjects.entries()) {
      if ((await this.keys.idOf(tx, subject)) !== undefined) continue;
      const { id, erased_rows } = found[at] as Erased;
      const [rows] = await this.holders.count(tx, [subject]);
      const counted = JSON.parse(erased_rows ?? '{}') as object;
      const others = this.holders.all().filter(({ tables }) => tables.some((table) => !(table in counted)));
      await this.holders.erase(tx, [subject], others);
      const counts = { ...rows, ...counted };
      const sql = 'UPDATE deletion_requests SET erased_rows = ? WHERE bot_id = ? AND id = ?';
      await tx.run(sql, JSON.stringify(counts), botId, id);
    }
    return 0;
  }
}

/**
 * Removes records older than `EVIDENCE_RETENTION_DAYS` every hour, and after a downtime at the start; also the rows that
 * erasures of an older version have left, and what the files of the engine still hold in the clear of rows that were deleted
 * or changed since the last run, of bots and API keys too.
 */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class EvidenceRetentionJob implements BotSweep {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  readonly name = 'evidence-retention';
  readonly everyMs = 3_600_000;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly evidence: EvidenceRetention,
    private readonly remains: ErasureRemains,
  ) {}

  readonly bots = async (after: string): Promise<string | undefined> =>
    (await nextBot(this.unitOfWork, after))?.id;

  async *batches(botId: string): Batches {
    yield* this.evidence.prune(botId);
    yield* this.remains.remove(botId);
  }

  async *afterBots(): Batches {
    yield* this.evidence.pruneOfGoneBots();
    // A sweep that is to stop ends here.
    yield undefined;
    await this.unitOfWork.scrubRows();
  }

  done(records: number): void {
    this.metrics.count('retention', 'evidence', records);
  }
}
