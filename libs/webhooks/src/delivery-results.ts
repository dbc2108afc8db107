import { BOT_AT_URL } from '@app/bots';
import { type SqlValue, type Tx, UnitOfWork } from '@app/database';
import { confirmForgotten } from '@app/gdpr';
import { Clock, DomainEvents, type EndedSpan, many, Metrics, NO_METRICS, Spans } from '@app/kernel';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { hastenSome } from './delivery-haste';
import { followSome, RetrySchedule } from './delivery-states';
import { ATTEMPTS_KEPT } from './delivery.entity';
import { DeliveryTexts } from './delivery-texts';
import type { CallResult, LeasedDelivery } from './webhook-call';
import { confirmedPayload } from './webhook-events';

/** How deliveries of a bot ended, and how often an attempt had failed before, at one time. */
interface Settled {
  readonly botId: string;
  readonly at: string;
  readonly delivered?: number;
  readonly failed?: number;
  readonly exhausted?: number;
}

/** Attempts or deliveries ended, pings aside; published inside the transaction that stores the ends. */
export class DeliveriesSettled {
  constructor(
    readonly tx: Tx,
    readonly settled: Settled,
  ) {}
}

/** The consequence of an attempt: a later one, or the end. */
interface Verdict {
  readonly status: 'pending' | 'delivered' | 'exhausted' | 'gone';
  readonly retries: number;
  readonly nextDueMs?: number;
}

/**
 * Stores the result of an attempt in one unit: the delivery, the attempt, the state of the receiver, and with a confirmed
 * `user_forgotten` the `webhook_sent` of its erasure request.
 */
@Injectable()
export class DeliveryResults {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  @Inject(Spans) private readonly spans = new Spans();
  private readonly logger = new Logger('Webhooks');

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly schedule: RetrySchedule,
    private readonly clock: Clock,
    private readonly texts: DeliveryTexts,
    private readonly events: DomainEvents,
  ) {}

  /** Stores the result; returns when the next attempt is due because of it. */
  async settle(leased: LeasedDelivery, result: CallResult): Promise<number | undefined> {
    const verdict = this.verdictOn(leased, result);
    const { status } = verdict;
    const { event } = leased.delivery;
    const isEnd = status !== 'pending' && event !== 'ping';
    this.metrics.count('webhookAttempts', result.outcome);
    this.spans.receive?.(attemptSpan(leased, result));
    const nextDueMs = await this.unitOfWork.write(async (tx) => {
      if (!(await this.conclude(tx, leased, result, verdict))) return undefined;
      await this.record(tx, leased, result);
      if (isEnd) tx.afterCommit(() => this.metrics.count('webhookDeliveries', status));
      if (result.outcome === 'interrupted') return verdict.nextDueMs;
      await this.noteHealth(tx, leased, result);
      const { request_id: requestId } = leased.delivery;
      if (status === 'delivered' && event === 'user_forgotten')
        await confirmForgotten(tx, leased.botId, requestId);
      // The last statements of the unit, so that counts are locked after all other rows.
      if (event !== 'ping') await this.publish(tx, leased.botId, status);
      return verdict.nextDueMs;
    });
    if (isEnd && status !== 'delivered') this.reportEnd(leased, result, status);
    return nextDueMs;
  }

  /** Makes a chunk of the waiting retries due now, since the receiver works again: {@link hastenSome}. */
  hasten(botId: string, after: string): Promise<string | undefined> {
    const dueAt = this.clock.confirmedIso();
    return this.unitOfWork.write((tx) => hastenSome(tx, botId, dueAt, after));
  }

  /** {@link followSome} in a unit of its own, after the one of the change; undefined at the end. */
  async follow(botId: string): Promise<'' | undefined> {
    const restart = this.schedule.begin(this.clock.confirmedMs());
    return (await this.unitOfWork.write((tx) => followSome(tx, botId, restart))) ? '' : undefined;
  }

  private async publish(tx: Tx, botId: string, status: Verdict['status']): Promise<void> {
    const ends = status === 'delivered' ? { delivered: 1 } : { failed: 1 };
    const exhausted = status === 'exhausted' || status === 'gone' ? 1 : 0;
    const settled = { botId, at: this.clock.confirmedIso(), ...ends, exhausted };
    await this.events.publish(new DeliveriesSettled(tx, settled));
  }

  private verdictOn({ delivery, target }: LeasedDelivery, { outcome, retryAfterMs }: CallResult): Verdict {
    const { event, retries, give_up_at: giveUpAt } = delivery;
    const nowMs = this.clock.confirmedMs();
    if (outcome === 'confirmed') return { status: 'delivered', retries };
    if (outcome === 'gone') return { status: 'gone', retries };
    if (outcome === 'interrupted') return { status: 'pending', retries, nextDueMs: nowMs };
    // A ping tests the receiver now and is not repeated.
    const pauseMs = event === 'ping' ? undefined : this.schedule.pauseMs(retries, retryAfterMs);
    const giveUpMs = this.schedule.giveUpMs(giveUpAt, target.resumedAt);
    if (pauseMs === undefined || nowMs >= giveUpMs) return { status: 'exhausted', retries };
    return { status: 'pending', retries: retries + 1, nextDueMs: nowMs + pauseMs };
  }

  /**
   * False when the delivery was erased or another process has its lease. A confirmation counts even then, since the
   * receiver has the event.
   */
  private async conclude(
    tx: Tx,
    leased: LeasedDelivery,
    result: CallResult,
    verdict: Verdict,
  ): Promise<boolean> {
    const { botId, delivery, lease } = leased;
    const { status, retries, nextDueMs } = verdict;
    const delivered = status === 'delivered';
    const values: SqlValue[] = [
      status,
      retries,
      new Date(nextDueMs ?? this.clock.confirmedMs()).toISOString(),
      status === 'pending' ? null : this.clock.confirmedIso(),
      delivered ? await this.confirmed(tx, leased) : null,
      result.outcome,
      result.status ?? null,
      botId,
      delivery.id,
    ];
    const changed = await tx.run(
      `UPDATE webhook_deliveries SET status = ?, retries = ?, next_attempt_at = ?, finished_at = ?,
         payload = COALESCE(?, payload), last_outcome = ?, last_status = ?, locked_by = NULL, locked_until = NULL
       WHERE bot_id = ? AND id = ? ${delivered ? `AND status <> 'delivered'` : `AND status = 'pending' AND locked_by = ?`}`,
      ...(delivered ? values : [...values, lease]),
    );
    return changed === 1;
  }

  /** The part of the body that is kept after the confirmation; null if the delivery was erased meanwhile. */
  private confirmed(tx: Tx, { botId, delivery }: LeasedDelivery): Promise<string | null> {
    const { id, event, request_id: requestId, payload, guild_id: guildId, user_id: userId } = delivery;
    const subject = guildId === null || userId === null ? undefined : { botId, guildId, userId };
    return this.texts.reencrypt(tx, { botId, requestId, subject }, id, confirmedPayload(event, payload));
  }

  private async record(
    tx: Tx,
    { botId, delivery, startedAt }: LeasedDelivery,
    result: CallResult,
  ): Promise<void> {
    await tx.run(
      `INSERT INTO webhook_attempts (bot_id, delivery_id, number, started_at, duration_ms, outcome, status)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ...[botId, delivery.id, delivery.attempts + 1, startedAt],
      ...[result.durationMs, result.outcome, result.status ?? null],
    );
    const first = delivery.attempts + 2 - ATTEMPTS_KEPT;
    const older = 'DELETE FROM webhook_attempts WHERE bot_id = ? AND delivery_id = ? AND number < ?';
    if (first > 1) await tx.run(older, botId, delivery.id, first);
  }

  /** Logs the first failure in a row and the recovery from it, after the commit. A call to a former URL says nothing about the receiver. */
  private async noteHealth(tx: Tx, leased: LeasedDelivery, result: CallResult): Promise<void> {
    const { botId, target } = leased;
    const { outcome, status } = result;
    const nowIso = this.clock.nowIso();
    const confirmed = outcome === 'confirmed';
    const column = confirmed ? 'last_delivered_at' : 'last_failed_at';
    // If several calls are confirmed at the same time, only one of them still finds the failures.
    const sql = 'SELECT failures FROM webhook_health WHERE bot_id = ?';
    const known = confirmed && leased.delivery.failures > 0;
    const before = known ? Number((await tx.get<{ failures: number }>(sql, botId))?.failures ?? 0) : 0;
    const noted = await tx.get<{ failures: number }>(
      `INSERT INTO webhook_health (bot_id, failures, last_outcome, ${column})
       SELECT id, ${confirmed ? 0 : 1}, ?, ? FROM (${BOT_AT_URL}) bot WHERE TRUE
       ON CONFLICT (bot_id) DO UPDATE SET last_outcome = excluded.last_outcome, ${column} = excluded.${column},
         failures = ${confirmed ? '0' : 'webhook_health.failures + 1'} RETURNING failures`,
      ...[outcome, nowIso, botId, target.url],
    );
    const warn = (what: string, more = {}): void =>
      tx.afterCommit(() => this.logger.warn(`The webhook of bot ${botId} ${what}`, { botId, ...more }));
    if (noted === undefined) return;
    if (before > 0) warn(`works again after ${before} failed calls in a row`);
    else if (Number(noted.failures) === 1)
      warn(
        `fails (${wordsOf(result)}); later failures in a row are not logged, webhook_health of GET /api/v1/bots/{bot_id} counts them`,
        { outcome, httpStatus: status },
      );
  }

  private reportEnd({ botId, delivery }: LeasedDelivery, result: CallResult, end: string): void {
    const { outcome, status } = result;
    this.logger.warn(
      `Delivery ${delivery.id} of bot ${botId} is given up: ${end} after ${many(delivery.attempts + 1, 'attempt')}, the last one ${wordsOf(result)}; POST /api/v1/webhooks/deliveries/{id}/redeliver sends it again`,
      { botId, deliveryId: delivery.id, outcome, httpStatus: status },
    );
  }
}

/** An attempt without its receiver, whose address can hold a secret of the bot. */
function attemptSpan({ delivery }: LeasedDelivery, { outcome, status, durationMs }: CallResult): EndedSpan {
  const attributes = {
    'http.request.method': 'POST',
    'http.request.resend_count': delivery.attempts,
    'lethe.webhook.event': delivery.event,
    'lethe.webhook.outcome': outcome,
    ...(status !== undefined && { 'http.response.status_code': status }),
    ...(outcome !== 'confirmed' && { 'error.type': outcome }),
  };
  return { name: `webhook ${delivery.event}`, kind: 'client', tookMs: durationMs, attributes };
}

function wordsOf({ outcome, status }: CallResult): string {
  return status === undefined ? outcome : `${outcome}, status ${status}`;
}
