import { Inject, Injectable } from '@nestjs/common';
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
import { Clock, type Config, CONFIG, DomainEvents, firstIdAt, Metrics, NO_METRICS } from '@app/kernel';
import { DeliveriesSettled } from './delivery-results';
import { CHUNK, RetrySchedule } from './delivery-states';

/** Of a pending delivery: its time is up. One without any attempt has it yet to come, unless its receiver is being spared. */
const OVERDUE = `next_attempt_at <= ? AND give_up_at <= ? AND (attempts > 0 OR
  (SELECT failures FROM webhook_health WHERE webhook_health.bot_id = webhook_deliveries.bot_id) > 0)`;
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

/** A delivery that a statement has looked at, and whether it is one of those that are meant. */
interface Looked {
  readonly id: string;
  readonly isMeant: number;
}

/**
 * Gives up deliveries whose time is up, unless their bot is suspended, and removes records of deliveries that ended more
 * than `WEBHOOK_RETENTION_DAYS` ago. One run at a time over all processes. Rows locked by other units are skipped.
 */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class DeliveryRetention implements BotSweep {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  readonly name = 'delivery-retention';
  readonly everyMs = 3_600_000;
  readonly bots = 'webhook_deliveries';

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
    const overdue = { within: `AND status = 'pending'`, meant: OVERDUE, values: [now, now] };
    yield* this.among(botId, overdue, (tx, ids) => this.giveUp(tx, botId, ids, now));
    const before = this.clock.daysAgoIso(this.config.webhookRetentionDays);
    // Ids follow the time, so that later deliveries are not read.
    const expired = { within: '', meant: EXPIRED, values: [before], last: firstIdAt(before) };
    yield* this.among(botId, expired, (tx, ids) => remove(tx, botId, ids, before));
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

  private async giveUp(tx: Tx, botId: string, found: readonly string[], at: string): Promise<number> {
    if (await this.hasWaited(tx, botId, at)) return 0;
    const given = amongValues(tx, 'id', found);
    const some = await tx.all<{ id: string; event: string }>(
      `SELECT id, event FROM webhook_deliveries
       WHERE bot_id = ? AND status = 'pending' AND ${OVERDUE} AND ${given.sql} ORDER BY id FOR UPDATE SKIP LOCKED`,
      ...[botId, at, at, given.value],
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
    tx.afterCommit(() => this.metrics.count('webhookDeliveries', 'exhausted', some.length));
    return ids.length;
  }

  /** Whether the calls of the bot wait for the end of its suspension, or have a schedule that began with that end. */
  private async hasWaited(tx: Tx, botId: string, nowIso: string): Promise<boolean> {
    const bot = await suspensionOf(tx, botId);
    if (bot === undefined || bot.suspended_at !== null) return true;
    return this.schedule.giveUpMs(nowIso, bot.resumed_at) > Date.parse(nowIso);
  }
}

async function remove(tx: Tx, botId: string, found: readonly string[], before: string): Promise<number> {
  const given = amongValues(tx, 'id', found);
  const some = await tx.all<{ id: string }>(
    `SELECT id FROM webhook_deliveries
     WHERE bot_id = ? AND ${EXPIRED} AND ${given.sql} ORDER BY id FOR UPDATE SKIP LOCKED`,
    ...[botId, before, given.value],
  );
  for (const { id } of some) {
    await tx.run('DELETE FROM webhook_attempts WHERE bot_id = ? AND delivery_id = ?', botId, id);
    await tx.run('DELETE FROM webhook_deliveries WHERE bot_id = ? AND id = ?', botId, id);
  }
  return some.length;
}
