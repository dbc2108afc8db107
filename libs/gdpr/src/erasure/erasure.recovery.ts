import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { type Job, type Lease, PeriodicJob, UnitOfWork } from '@app/database';
import { Clock, type Config, CONFIG, Degradations, Metrics, SharedReading } from '@app/kernel';
import { type ErasureBacklog, erasureBacklog } from './deletion-requests.sql';
import { ErasureService } from './erasure.service';

/** Time between two runs. */
const INTERVAL_MS = 10_000;
/**
 * On PostgreSQL an erasure older than this counts as left behind; a younger one is probably under way in a process. A
 * SQLite file has one process, which has a list of its own erasures.
 */
const LEFT_AFTER_MS = 10_000;
/** At most one query in this time. */
const HOLD_MS = 5_000;
const LOOK_MS = 15_000;
/** An erasure takes seconds, and one that a process left behind is taken over within half a minute. */
const USUAL_S = 60;
const ERASURE_UNFINISHED = 'erasure_unfinished';

/**
 * Finishes erasures that were left `processing`, at the start and then at intervals, in one process at a time. When the
 * process that began one is still working on it, one of both completes it and the other changes nothing. On SQLite the
 * server listens after the first run.
 */
@PeriodicJob({ lookEveryMs: INTERVAL_MS / 2, atStart: 'awaited' })
@Injectable()
export class ErasureRecovery implements Job {
  readonly name = 'erasure-recovery';
  readonly everyMs = INTERVAL_MS;

  constructor(
    private readonly erasures: ErasureService,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  run(lease: Lease, stopping: AbortSignal): Promise<void> {
    return lease.keep(() => this.erasures.finishLeft((at) => this.isLeft(at), stopping));
  }

  private isLeft(createdAt: string): boolean {
    if (this.config.database.engine === 'sqlite') return true;
    // A time in the future was written with a wrong clock.
    return Math.abs(this.clock.nowMs() - Date.parse(createdAt)) > LEFT_AFTER_MS;
  }
}

/**
 * An erasure that does not end is never silent: while one is older than a minute, every process is degraded, also those
 * without jobs. The log has a line when that begins and when it ends. Metrics have the number of erasures under way, the age
 * of the oldest, and of the oldest that is recoverable, in seconds.
 */
@Injectable()
export class ErasureWatch implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Erasure');
  private readonly underWay: SharedReading<ErasureBacklog>;
  private readonly recoverable: SharedReading<string | undefined>;
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    private readonly degradations: Degradations,
  ) {
    this.underWay = new SharedReading(clock, HOLD_MS, () => erasureBacklog(unitOfWork));
    this.recoverable = new SharedReading(clock, HOLD_MS, () => this.oldestRecoverable());
  }

  /** The start itself finishes what was left behind. */
  onApplicationBootstrap(): void {
    const { metrics, underWay, recoverable } = this;
    metrics.gauge('erasuresProcessing', async () => (await underWay.get()).processing);
    metrics.gauge('erasureOldestAge', () => this.oldestAgeSeconds());
    metrics.gauge('erasureRecoverableAge', async () => this.ageOf(await recoverable.get()));
    this.timer = setInterval(() => void this.look(), LOOK_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
  }

  /** Reports a change. Never rejects. */
  look(): Promise<void> {
    this.looking ??= this.oldestAgeSeconds()
      .then((seconds) => this.note(seconds > USUAL_S))
      // A database that does not answer is reported elsewhere, and says nothing about its erasures.
      .catch(() => undefined)
      .finally(() => (this.looking = undefined));
    return this.looking;
  }

  private note(isUnfinished: boolean): void {
    if (!this.degradations.note(ERASURE_UNFINISHED, isUnfinished)) return;
    if (!isUnfinished) return this.logger.log('No erasure is unfinished for more than a minute any more');
    this.logger.error(
      'An erasure is unfinished after more than a minute. It is tried again until it ends: look for the fault in the lines of this request (is not finished yet), and whether a process with JOBS=on or a worker runs',
    );
  }

  /** The age of the oldest erasure that is under way, 0 for none. */
  private async oldestAgeSeconds(): Promise<number> {
    return this.ageOf((await this.underWay.get()).oldest);
  }

  private ageOf(time: string | undefined): number {
    return time === undefined ? 0 : Math.max(0, (this.clock.nowMs() - Date.parse(time)) / 1000);
  }

  private async oldestRecoverable(): Promise<string | undefined> {
    const row = await this.unitOfWork.get<{ completed_at: string }>(
      `SELECT completed_at FROM deletion_requests
       WHERE unrecoverable_at IS NULL AND key_id IS NOT NULL AND status = 'completed' ORDER BY id LIMIT 1`,
    );
    return row?.completed_at;
  }
}
