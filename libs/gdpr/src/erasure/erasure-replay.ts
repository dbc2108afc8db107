import { setTimeout as pause } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Inject, Injectable, Logger } from '@nestjs/common';
import { ConsentService } from '@app/consent';
import { ledgerBegins, SubjectDataHolders, subjectAt, SubjectKeys } from '@app/crypto';
import { JobLeases, UnitOfWork } from '@app/database';
import { Clock, type Config, CONFIG, many } from '@app/kernel';
import { addTasks } from '../holders/holder-tasks.sql';
import { ErasureService } from './erasure.service';
import { destroyKeys, LEDGER_COLUMNS, type LedgerEntry } from './ledger-entries.sql';
import { MissingEntries } from './missing-entries';
import { BEGINNING, inParts, type Part, type Place } from './parts';

const NAME = 'erasure-replay';
/** Pause between two looks whether another process has finished. */
const WAIT_MS = 200;

/**
 * Erasures of subjects of present bots that are in the ledger, and in the data not at all or not completed. Entry and removal are committed
 * together: `failed` means that an earlier start could not repeat the erasure, and `processing` that it ended amid it, or that a process
 * repeats it now. One whose rows are removed waits for a scrub of the keys, and not the start for it.
 */
const UNKNOWN = `l
  JOIN bots b ON b.id = l.bot_id AND b.deleted_at IS NULL
  LEFT JOIN deletion_requests r ON r.bot_id = l.bot_id AND r.id = l.request_id
  WHERE (r.id IS NULL OR r.status = 'failed' OR (r.status = 'processing' AND r.deleted_categories IS NULL))
    AND l.request_id <> l.bot_id AND l.erased_at >= ?
  ORDER BY l.bot_id, l.request_id`;
const SHOWN = LEDGER_COLUMNS.split(', ').map((column) => `l.${column}`);

/** An entry with the state of its request; null without one. */
interface UnknownEntry extends LedgerEntry {
  readonly status: string | null;
}

/**
 * Repeats erasures after a restored backup (GDPR Art. 17): an erasure that is in the ledger and not in the data took
 * place after the backup was made. An erasure that is in the data and not in the ledger is entered first: the keys are older than
 * the data. A key that such an entry names and that is back is destroyed again. The start completes this before it answers requests; of
 * several processes that start together one repeats erasures and the others wait.
 */
@Injectable()
export class ErasureReplay implements BeforeApplicationShutdown {
  private readonly logger = new Logger(ErasureReplay.name);
  private running: Promise<void> = Promise.resolve();
  private stopping = false;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly leases: JobLeases,
    private readonly consents: ConsentService,
    private readonly holders: SubjectDataHolders,
    private readonly keys: SubjectKeys,
    private readonly erasures: ErasureService,
    private readonly missing: MissingEntries,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Resolves when the ledger contains the erasures of the data, the data those of the ledger, and their keys are destroyed.
   * @throws Error when one of them fails
   */
  run(): Promise<void> {
    const run = this.replayed();
    this.running = run.catch(() => undefined);
    return run;
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await this.running;
  }

  private async replayed(): Promise<void> {
    if (await this.missing.areLikely()) await this.enterMissing();
    // What is before a part with unknown ones was known already.
    for (let part = await this.next(); part !== undefined; part = await this.next(part.before)) {
      const { before } = part;
      const lease = await this.unitOfWork.write((tx) => this.leases.take(tx, NAME, 'now'));
      if (lease === undefined) {
        await pause(WAIT_MS);
        continue;
      }
      try {
        await lease.keep(() => this.replayAll(before));
      } finally {
        await this.unitOfWork.write((tx) => lease.end(tx)).finally(() => lease.release());
      }
    }
  }

  /** Before data is looked at that may be replaced by older data later. */
  private async enterMissing(): Promise<void> {
    const { entered, destroyedKeys } = await this.missing.enter(() => this.stopping);
    if (entered === 0) return;
    this.logger.warn(
      `The ledger of erasures is older than the data: ${many(entered, 'erasure that the data records was', 'erasures that the data records were')} entered again; ` +
        `${many(destroyedKeys, 'restored key was', 'restored keys were')} destroyed`,
    );
  }

  private async replayAll(from: Place): Promise<void> {
    let [found, absent, destroyed] = [0, 0, 0];
    for await (const { found: entries } of this.unknown(from))
      for (const entry of entries) {
        if (this.stopping) return;
        // Where the keys are newer than the data, no subject has this key, and no erasure reaches it. First, as in MissingEntries.
        destroyed += await destroyKeys(this.unitOfWork, [entry]);
        if (entry.status !== 'processing' && (await this.note(entry))) absent += 1;
        else {
          await this.erasures.reapply(subjectAt(entry.bot_id, entry), entry.request_id);
          found += 1;
        }
      }
    this.logger.warn(
      `The data is older than the ledger of erasures: ${many(found, 'erasure was', 'erasures were')} applied again; ` +
        `${many(absent, 'was', 'were')} only noted, since nothing is held about ${absent === 1 ? 'its subject' : 'their subjects'}; ` +
        `${many(destroyed, 'restored key was', 'restored keys were')} destroyed`,
    );
  }

  /** The first part of the ledger behind a place that has erasures which the data lacks; undefined also if the process stops. */
  private async next(before?: Place): Promise<Part<UnknownEntry> | undefined> {
    for await (const part of this.unknown(before)) {
      if (this.stopping) break;
      if (part.found.length > 0) return part;
    }
    return undefined;
  }

  private unknown(before: Place = BEGINNING): AsyncGenerator<Part<UnknownEntry>> {
    const since = ledgerBegins(this.clock, this.config);
    return inParts(this.unitOfWork, { table: 'keys.erasure_ledger', id: 'request_id', before }, (tx, part) =>
      tx.all(`SELECT ${SHOWN.join(', ')}, r.status FROM ${part.sql} ${UNKNOWN}`, ...part.values, since),
    );
  }

  /** Records an erasure of a subject about which nothing is held as completed again; false for another subject. */
  private note(entry: LedgerEntry): Promise<boolean> {
    const { bot_id: botId, request_id: id, guild_id: guildId, user_id: userId } = entry;
    const { key_id: keyId, erased_at: at } = entry;
    const subject = subjectAt(botId, entry);
    return this.unitOfWork.write(async (tx) => {
      await this.consents.lock(tx, [subject]);
      if ((await this.keys.idOf(tx, subject)) !== undefined) return false;
      // Some holders have rows without a key.
      await this.holders.erase(tx, [subject]);
      await tx.run(
        `INSERT INTO deletion_requests
           (bot_id, id, guild_id, user_id, status, deleted_categories, webhook_sent, created_at, completed_at, key_id)
         VALUES (?, ?, ?, ?, 'completed', '[]', 0, ?, ?, ?) ON CONFLICT (bot_id, id) DO UPDATE
           SET status = 'completed', completed_at = excluded.completed_at, deleted_categories = '[]'
           WHERE deletion_requests.status = 'failed'`,
        ...[botId, id, guildId, userId, at, at, keyId],
      );
      await addTasks(tx, [{ botId, id }], this.clock.nowIso());
      return true;
    });
  }
}
