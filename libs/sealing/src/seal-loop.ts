import { UnsealedBots } from '@app/audit';
import { eachOf, isUnavailable, type Job, type Lease, PeriodicJob, UnitOfWork } from '@app/database';
import { ApiError, Clock, type Config, CONFIG, describeFault, Metrics } from '@app/kernel';
import {
  BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  OnApplicationBootstrap,
} from '@nestjs/common';
import { BatchSealer } from './batch-sealer';
import { SettledOrder } from './settled-order';

/** Pause between rounds. PostgreSQL needs two rounds, which together take less than two seconds. */
const PAUSE_MS = 700;
/** Pause after an error of the database. */
const FAULT_PAUSE_MS = 5_000;
/** After this time a round begins no further group; the next round continues. */
const ROUND_MS = 350;
/** Bots whose batches share a unit. */
const GROUP = 16;
/** Interval of the search for logs that grew without a note. */
const SWEEP_MS = 60_000;
/** Bots read by one statement of the search. */
const PAGE = 500;

interface LogEnd {
  readonly id: string;
  readonly newest: number | null;
  readonly sealed: number | null;
}

const LOG_ENDS = `SELECT id, (SELECT MAX(seq) FROM audit_events WHERE bot_id = bot.id) AS newest,
    (SELECT last_seq FROM audit_heads WHERE bot_id = bot.id) AS sealed
  FROM bots bot WHERE id > ? ORDER BY id LIMIT ${PAGE}`;

/** A log that has grown. */
interface Due {
  /** The place up to which the log has to be settled before all noted events are sealed. */
  place: number;
  /** Time of the oldest note, and of the oldest later note, in milliseconds of the monotonic clock. */
  sinceMs: number;
  moreSinceMs?: number;
  /** After a failure: until when it is left alone, by the monotonic clock, and whether a note ends that. The search does. */
  rest?: { readonly untilMs: number; readonly endsWithNote: boolean };
}

/**
 * Seals the logs of all bots within two seconds of each commit; writers do not wait for it. Without events it is idle.
 * Any number of processes can run it. The search finds the logs that a process left unsealed when it died.
 */
@PeriodicJob({ lookEveryMs: SWEEP_MS / 2, atStart: 'now' })
@Injectable()
export class SealLoop implements Job, OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly name = 'audit-sealing';
  readonly everyMs = SWEEP_MS;
  private readonly logger = new Logger('SealLoop');
  private readonly due = new Map<string, Due>();
  private timer: NodeJS.Timeout | undefined;
  private round: Promise<void> | undefined;
  private stopped = false;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly sealer: BatchSealer,
    private readonly order: SettledOrder,
    private readonly unsealed: UnsealedBots,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    @Inject(CONFIG) private readonly config: Pick<Config, 'jobs'>,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.jobs === 'off') return;
    this.metrics.gauge('auditSealingAge', () => this.oldestWait());
    this.unsealed.onNote(() => this.arm());
  }

  /** Ends the loop. Unsealed events are left to the next start or to another process. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.round;
  }

  /** Searches for logs that grew without a note. */
  run(lease: Lease, stopping: AbortSignal): Promise<void> {
    const read = (after?: LogEnd): Promise<LogEnd[]> =>
      this.unitOfWork.read((tx) => tx.all<LogEnd>(LOG_ENDS, after?.id ?? ''));
    return lease.keep(async () => {
      for await (const { id, newest, sealed } of eachOf(PAGE, read)) {
        if (stopping.aborted) return;
        if ((newest ?? 0) <= (sealed ?? 0)) continue;
        delete this.due.get(id)?.rest;
        this.unsealed.note(id);
      }
    });
  }

  private arm(pauseMs = PAUSE_MS): void {
    if (this.stopped || this.timer !== undefined) return;
    this.timer = setTimeout(() => {
      this.round = this.seal().then((isDone) => {
        this.timer = undefined;
        if (this.due.size > 0 || this.unsealed.size > 0) this.arm(isDone ? PAUSE_MS : FAULT_PAUSE_MS);
      });
    }, pauseMs).unref();
  }

  /** One round; false when it failed. */
  private async seal(): Promise<boolean> {
    try {
      // Before the look: an event noted during the look may have a place above its result.
      for (const [botId, sinceMs] of this.unsealed.take()) {
        const known = this.due.get(botId);
        if (known === undefined) this.due.set(botId, { place: Infinity, sinceMs });
        else known.moreSinceMs ??= sinceMs;
        if (known?.rest?.endsWithNote === true) delete known.rest;
      }
      const nowMs = this.clock.monotonicMs();
      for (const due of this.due.values()) if ((due.rest?.untilMs ?? Infinity) <= nowMs) delete due.rest;
      const left = [...this.due].flatMap(([botId, { rest }]) => (rest === undefined ? [botId] : []));
      if (left.length === 0) return true;
      const { upTo, settled } = await this.order.look();
      for (const due of this.due.values()) if (due.place === Infinity) due.place = upTo;
      const endMs = performance.now() + ROUND_MS;
      while (left.length > 0 && !this.stopped) {
        const group = left.splice(0, GROUP).sort();
        group.forEach((botId) => this.putLast(botId));
        const more = await this.sealGroup(group, settled);
        for (const botId of group) if (!more.includes(botId)) this.settle(botId, settled);
        if (performance.now() > endMs) break;
        left.push(...more);
      }
      return true;
    } catch (error) {
      this.report('The audit log', error);
      return false;
    }
  }

  /** The next round begins with the bots that this one does not reach. */
  private putLast(botId: string): void {
    const due = this.due.get(botId);
    this.due.delete(botId);
    if (due !== undefined) this.due.set(botId, due);
  }

  /** Drops the notes about events up to the place `settled`, which are sealed. */
  private settle(botId: string, settled: number): void {
    const { place = 0, moreSinceMs, rest } = this.due.get(botId) ?? {};
    if (settled < place || rest !== undefined) return;
    if (moreSinceMs === undefined) this.due.delete(botId);
    else this.due.set(botId, { place: Infinity, sinceMs: moreSinceMs });
  }

  /** Seconds. */
  private oldestWait(): number {
    const nowMs = this.clock.monotonicMs();
    const since = [...this.due.values()].map(({ sinceMs }) => sinceMs);
    return Math.max(0, nowMs - Math.min(nowMs, ...since, this.unsealed.oldestMs)) / 1000;
  }

  /**
   * Seals a group; if that fails, each bot alone, so that a fault concerns only one bot.
   * @throws ApiError 503 when the database is unavailable, and when two bots of a group fail by it alone: the fault is not theirs
   */
  private async sealGroup(group: readonly string[], settled: number, failed?: string[]): Promise<string[]> {
    try {
      return await this.sealer.seal(group, settled);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      const code = error instanceof ApiError ? error.code : undefined;
      const [botId = ''] = group;
      if (group.length === 1) {
        if (code === 'service_unavailable' && (failed === undefined || failed.push(botId) > 1)) throw error;
        // A bot that was deleted during the round has no log.
        if (code === 'unauthorized') this.due.delete(botId);
        const due = this.due.get(botId);
        if (due === undefined) return [];
        // A time-out can be that of a lock that has ended.
        const endsWithNote = code === 'service_unavailable';
        due.rest = { untilMs: this.clock.monotonicMs() + SWEEP_MS, endsWithNote };
        this.report(`The audit log of bot ${botId}`, error);
        return [];
      }
    }
    const more: string[] = [];
    const alone: string[] = [];
    for (const botId of group)
      if (!this.stopped) more.push(...(await this.sealGroup([botId], settled, alone)));
    return more;
  }

  private report(log: string, error: unknown): void {
    this.metrics.count('auditSealingFailures');
    this.logger.error(`${log} could not be sealed and is tried again within a minute`, describeFault(error));
  }
}

/** The state of all audit logs for the operator. */
export interface LogState {
  /** Logs with events that are not sealed. */
  readonly unsealed: number;
  /** The time of the oldest of these events. */
  readonly oldestUnsealed: string | undefined;
  /** The time of the newest event. */
  readonly newest: string | undefined;
}

export async function logState(unitOfWork: UnitOfWork): Promise<LogState> {
  const row = await unitOfWork.snapshot((tx) =>
    tx.get<{
      readonly unsealed: number;
      readonly oldest: string | null;
      readonly newest: string | null;
    }>(
      `SELECT COUNT(behind) AS unsealed, MIN(behind) AS oldest, MAX(newest) AS newest FROM (
       SELECT (SELECT created_at FROM audit_events WHERE bot_id = bot.id AND seq > COALESCE(
                 (SELECT last_seq FROM audit_heads WHERE bot_id = bot.id), ${Number.MIN_SAFE_INTEGER})
               ORDER BY seq LIMIT 1) AS behind,
         (SELECT created_at FROM audit_events WHERE bot_id = bot.id ORDER BY seq DESC LIMIT 1) AS newest
       FROM bots bot) logs`,
    ),
  );
  return {
    unsealed: row?.unsealed ?? 0,
    oldestUnsealed: row?.oldest ?? undefined,
    newest: row?.newest ?? undefined,
  };
}
