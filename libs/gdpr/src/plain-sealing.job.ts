import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { SubjectKeys } from '@app/crypto';
import {
  type Job,
  JobRunner,
  type Lease,
  type PlainRowsHolder,
  PlainRowsHolders,
  lockSubject,
  type Subject,
  type Tx,
  UnitOfWork,
} from '@app/database';
import { CONFIG, type Config } from '@app/kernel';

/** Until it has been done it is tried this often. */
const INTERVAL_MS = 30_000;
/** Once it has been done there is nothing left that it could find. */
const NEVER_MS = 100 * 365 * 86_400_000;
const BOTS_AT_ONCE = 100;

/**
 * Seals what was stored before there were keys, once: after an upgrade no value, no detail and no id of an erased user
 * is left in plain. A few rows at a time, so that requests pass in between; what a crash interrupts begins anew, and passes
 * over what is sealed. The keys are committed before anything is sealed with them: SQLite commits to data and keys one
 * after the other, and a crash in between must not leave a value whose key never was.
 */
@Injectable()
export class PlainSealing implements Job, OnApplicationBootstrap {
  readonly name = 'plain-sealing';
  private readonly logger = new Logger(PlainSealing.name);
  private isDone = false;
  private listen: () => void;
  private readonly mayListen = new Promise<void>((resolve) => (this.listen = resolve));

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly keys: SubjectKeys,
    private readonly holders: PlainRowsHolders,
    private readonly jobs: JobRunner,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  get everyMs(): number {
    return this.isDone ? NEVER_MS : INTERVAL_MS;
  }

  /** On SQLite Nest awaits, before the server listens, that nothing is left of what a request could write over. */
  async onApplicationBootstrap(): Promise<void> {
    const run = this.jobs.run(this);
    if (this.config.database.engine === 'sqlite') await Promise.race([run, this.mayListen]);
  }

  @Interval(INTERVAL_MS)
  async tick(): Promise<void> {
    if (!this.isDone) await this.jobs.run(this);
  }

  async run(lease: Lease, stopping: AbortSignal): Promise<void> {
    let sealed = 0;
    for (const holder of this.holders.all()) {
      if (!holder.isWrittenOver) this.listen();
      for await (const botId of this.botIds()) {
        for (let after: string | undefined = ''; after !== undefined;) {
          if (stopping.aborted) return;
          const step: Step = await this.sealNext(lease, holder, botId, after);
          sealed += step.sealed;
          after = step.next;
        }
      }
    }
    this.isDone = true;
    if (sealed === 0) return;
    await this.unitOfWork.scrub();
    this.logger.log(`${sealed} rows that an older version had stored in plain text are encrypted now`);
  }

  private async sealNext(lease: Lease, holder: PlainRowsHolder, botId: string, after: string): Promise<Step> {
    const rows = await this.unitOfWork.read((tx) => holder.next(tx, botId, after));
    const { next, plain, subjects } = rows;
    if (plain === 0) return { next, sealed: 0 };
    if (subjects.length > 0) {
      await lease.batch(async (tx) => {
        await lockAll(tx, subjects);
        // Whoever was erased before has no rows any more, and gets no key; whoever stays locked is not erased now.
        const left = await holder.next(tx, botId, after);
        const locked = new Set(subjects.map(nameOf));
        await this.keys.allForWriting(
          tx,
          left.subjects.filter((subject) => locked.has(nameOf(subject))),
        );
      });
    }
    const seal = async (tx: Tx): Promise<number> => {
      await lockAll(tx, subjects);
      return rows.seal(tx);
    };
    return { next, sealed: await lease.batch(seal) };
  }

  private async *botIds(): AsyncGenerator<string> {
    for (let after = '', more = true; more;) {
      const sql = `SELECT id FROM bots WHERE id > ? ORDER BY id LIMIT ${BOTS_AT_ONCE}`;
      const some = await this.unitOfWork.read((tx) => tx.all<{ id: string }>(sql, after));
      for (const { id } of some) {
        yield id;
        after = id;
      }
      more = some.length === BOTS_AT_ONCE;
    }
  }
}

interface Step {
  readonly next: string | undefined;
  readonly sealed: number;
}

/** Each once, in one order. */
async function lockAll(tx: Tx, subjects: readonly Subject[]): Promise<void> {
  const named = new Map(subjects.map((subject) => [nameOf(subject), subject]));
  await Promise.all(
    [...named.values()]
      .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
      .map((subject) => lockSubject(tx, subject, 'together')),
  );
}

function nameOf({ botId, guildId, userId }: Subject): string {
  return `${botId}/${guildId}/${userId}`;
}
