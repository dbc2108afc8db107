import { Inject, Injectable, Logger } from '@nestjs/common';
import { suspensionOf } from '@app/bots';
import {
  amongValues,
  type Batches,
  type BotSweep,
  pages,
  PeriodicJob,
  type Tx,
  UnitOfWork,
} from '@app/database';
import { Clock, type Config, CONFIG, DomainEvents, firstIdAt, many, Metrics, NO_METRICS } from '@app/kernel';
import { FAILURES_MAX } from './circuit-breakers';
import { DeliveriesSettled } from './delivery-results';
import { hastenLate } from './delivery-haste';
import { CHUNK, type Looked, RetrySchedule } from './delivery-states';

/** Of a pending delivery: it is due, and its time was up at a failure of its receiver. */
const OVERDUE = 'next_attempt_at <= ? AND give_up_at <= ?';
const EXPIRED = `status <> 'pending' AND finished_at < ?`;

/** Greater than every id. */
const END = '~';

/** The deliveries before the id `last` that are looked at, and those of them that are meant. */
interface Chosen {
  readonly within: string;
  readonly meant: string;
  readonly values: readonly string[];
  readonly last?: string;
}

/**
 * Gives up deliveries whose time is up if their receiver fails again and again, also since then; the dispatcher sends the others, and
 * gives each up at its first failure. Makes due what a clock that was ahead has planned. Removes records of deliveries that
 * ended more than `WEBHOOK_RETENTION_DAYS` ago. One run at a time over all processes. Rows locked by other units are skipped.
 */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class DeliveryRetention implements BotSweep {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  readonly name = 'delivery-retention';
  readonly everyMs = 3_600_000;
  readonly bots = 'webhook_deliveries';
  private readonly logger = new Logger('Webhooks');

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    private readonly schedule: RetrySchedule,
    private readonly events: DomainEvents,
  ) {}

  /** Locked rows are left to the next run. */
  async *batches(botId: string): Batches {
    const now = this.clock.confirmedIso();
    yield* this.late(botId, now);
    const failedAt = await this.unitOfWork.read((tx) => this.failureAt(tx, botId, now));
    if (failedAt !== undefined) {
      const overdue = { within: `AND status = 'pending'`, meant: OVERDUE, values: [now, failedAt] };
      let given = 0;
      try {
        yield* this.among(botId, overdue, (tx, ids) =>
          this.giveUp(tx, botId, ids, now, (count) => (given += count)),
        );
      } finally {
        if (given > 0)
          this.logger.warn(
            `Given up for bot ${botId}, whose receiver fails again and again: ${many(given, 'delivery', 'deliveries')}; POST /api/v1/webhooks/replay sends them again`,
            { botId },
          );
      }
    }
    const before = this.clock.daysAgoIso(this.config.webhookRetentionDays);
    // Ids follow the time, so that later deliveries are not read.
    const expired = { within: '', meant: EXPIRED, values: [before], last: firstIdAt(before) };
    yield* this.among(botId, expired, (tx, ids) => remove(tx, botId, ids, before));
  }

  private async *late(botId: string, now: string): Batches {
    // The later one of the two times: a process that was suspended for days is behind the others for an hour.
    const latest = new Date(this.schedule.latestMs(this.clock.nowMs())).toISOString();
    const sql = `SELECT MAX(next_attempt_at) AS at FROM webhook_deliveries WHERE bot_id = ? AND status = 'pending'`;
    const last = await this.unitOfWork.read((tx) => tx.get<{ at: string | null }>(sql, botId));
    for (let more = (last?.at ?? '') > latest; more;)
      more = (yield (tx) => hastenLate(tx, botId, now, latest)) === CHUNK;
  }

  /** Of millions that wait for their receiver few may be meant, and no index has which: each statement looks at a chunk. */
  private async *among(
    botId: string,
    { within, meant, values, last = END }: Chosen,
    work: (tx: Tx, ids: readonly string[]) => Promise<number>,
  ): Batches {
    const sql = `SELECT id, CASE WHEN ${meant} THEN 1 ELSE 0 END AS "isMeant" FROM webhook_deliveries
      WHERE bot_id = ? AND id > ? AND id < ? ${within} ORDER BY id LIMIT ${CHUNK}`;
    const look = (after?: Looked): Promise<Looked[]> =>
      this.unitOfWork.read((tx) => tx.all(sql, ...values, botId, after?.id ?? '', last));
    for await (const page of pages(CHUNK, look)) {
      const ids = page.filter(({ isMeant }) => Number(isMeant) === 1).map(({ id }) => id);
      yield ids.length > 0 ? (tx) => work(tx, ids) : undefined;
    }
  }

  private async giveUp(
    tx: Tx,
    botId: string,
    found: readonly string[],
    at: string,
    note: (count: number) => void,
  ): Promise<number> {
    // The receiver may have failed once more, or have confirmed a call.
    const failedAt = await this.failureAt(tx, botId, this.clock.confirmedIso());
    if (failedAt === undefined) return 0;
    const given = amongValues(tx, 'id', found);
    const some = await tx.all<{ id: string; event: string }>(
      `SELECT id, event FROM webhook_deliveries
       WHERE bot_id = ? AND status = 'pending' AND ${OVERDUE} AND ${given.sql} ORDER BY id FOR UPDATE SKIP LOCKED`,
      ...[botId, at, failedAt, given.value],
    );
    const ids = some.map(({ id }) => id);
    const list = amongValues(tx, 'id', ids);
    await tx.run(
      `UPDATE webhook_deliveries SET status = 'exhausted', finished_at = ?, locked_by = NULL, locked_until = NULL
       WHERE bot_id = ? AND ${list.sql}`,
      ...[at, botId, list.value],
    );
    const settled = some.filter(({ event }) => event !== 'ping').length;
    await this.events.publish(new DeliveriesSettled(tx, { botId, at, exhausted: settled }));
    tx.afterCommit(() => {
      this.metrics.count('webhookDeliveries', 'exhausted', settled);
      note(settled);
    });
    return ids.length;
  }

  /**
   * When a receiver failed last that fails again and again, by refusals too. Undefined for calls that wait for the end of a
   * suspension, or whose schedule began with that end and was not over at the failure.
   */
  private async failureAt(tx: Tx, botId: string, nowIso: string): Promise<string | undefined> {
    const bot = await suspensionOf(tx, botId);
    if (bot === undefined || bot.suspended_at !== null) return undefined;
    // A later time was written by a clock that was ahead.
    const sql = `SELECT last_failed_at AS at FROM webhook_health WHERE bot_id = ? AND failures >= ? AND last_failed_at <= ?`;
    const failed = await tx.get<{ at: string }>(sql, botId, FAILURES_MAX, nowIso);
    if (failed === undefined) return undefined;
    return this.schedule.giveUpMs(failed.at, bot.resumed_at) > Date.parse(failed.at) ? undefined : failed.at;
  }
}

async function remove(tx: Tx, botId: string, found: readonly string[], before: string): Promise<number> {
  const given = amongValues(tx, 'id', found);
  const some = await tx.all<{ id: string }>(
    `SELECT id FROM webhook_deliveries
     WHERE bot_id = ? AND ${EXPIRED} AND ${given.sql} ORDER BY id FOR UPDATE SKIP LOCKED`,
    ...[botId, before, given.value],
  );
  const ids = some.map(({ id }) => id);
  const [attempts, ended] = [amongValues(tx, 'delivery_id', ids), amongValues(tx, 'id', ids)];
  await tx.run(`DELETE FROM webhook_attempts WHERE bot_id = ? AND ${attempts.sql}`, botId, attempts.value);
  await tx.run(`DELETE FROM webhook_deliveries WHERE bot_id = ? AND ${ended.sql}`, botId, ended.value);
  return ids.length;
}
