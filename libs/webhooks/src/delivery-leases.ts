import { Inject, Injectable, Logger } from '@nestjs/common';
import { lockBot, suspensionOf, WebhookSecrets } from '@app/bots';
import { isTimeOut, isUnavailable, type Tx, UnitOfWork } from '@app/database';
import {
  Clock,
  type Config,
  CONFIG,
  describeFault,
  DomainEvents,
  Metrics,
  NO_METRICS,
  Random,
} from '@app/kernel';
import { UnreadableSecretError } from '@app/crypto';
import { DeliveriesSettled } from './delivery-results';
import { WAITING_BOTS } from './delivery-health';
import { cancelFree, CHUNK, RetrySchedule } from './delivery-states';
import { DeliveryTexts } from './delivery-texts';
import type { Admit } from './host-slots';
import type { DeliveryToSend, Found } from './webhook-call';

/** Bots found by one look whose deliveries follow a changed URL. Each takes a unit at a time, which others wait for. */
const FOLLOWING_MAX = 16;
/** Time beyond the longest call for which a lease is valid: enough to store the result. */
const LEASE_MARGIN_MS = 5_000;
/** Pause for a bot with a fault, and for a delivery whose master key is missing. */
const REST_MS = 60_000;
/** Pause after an error of the database. */
export const FAULT_PAUSE_MS = 1_000;
/** Pause for a delivery that another process has locked. */
const CONTENDED_PAUSE_MS = 100;

/**
 * Leases deliveries, so that no two attempts of one run at the same time, also in processes whose clocks differ by up to
 * five seconds. Each lease is a short unit; no unit is open during a call. A lease that is not given back expires.
 */
@Injectable()
export class DeliveryLeases {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  private readonly logger = new Logger('Webhooks');
  /** Bots with a fault, and until when they are left alone by the monotonic clock: their calls stay due. */
  private readonly resting = new Map<string, number>();
  /** Bots whose last unit alone has taken too long. */
  private readonly slowBefore = new Set<string>();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly secrets: WebhookSecrets,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly texts: DeliveryTexts,
    private readonly events: DomainEvents,
    private readonly schedule: RetrySchedule,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Every bot with pending deliveries and the time of its next one; reads one index entry for each bot. */
  dueBots(): Promise<{ botId: string; dueMs: number }[]> {
    return this.unitOfWork.read(async (tx) => {
      const rows = await tx.all<{ bot_id: string; due: string }>(
        `${WAITING_BOTS}
         SELECT bot_id, (SELECT MIN(d.next_attempt_at) FROM webhook_deliveries d
                         WHERE d.bot_id = waiting.bot_id AND d.status = 'pending') AS due
         FROM waiting WHERE bot_id IS NOT NULL`,
      );
      return rows.map(({ bot_id, due }) => ({ botId: bot_id, dueMs: Date.parse(due) }));
    });
  }

  /** Some of the bots with deliveries that have yet to follow a changed URL: as many as follow at one time. */
  movedBots(): Promise<{ bot_id: string }[]> {
    const sql = `SELECT bot_id FROM webhook_url_changes ORDER BY bot_id LIMIT ${FOLLOWING_MAX}`;
    return this.unitOfWork.read((tx) => tx.all(sql));
  }

  /**
   * Leases at most one due delivery of each bot; `admit` takes a slot, or returns the place at which a call has to wait. A fault
   * of one bot holds up no other. @throws ApiError 503 when the database is unavailable
   */
  async leaseDue(botIds: readonly string[], admit: Admit): Promise<Found[]> {
    try {
      return await this.unitOfWork.write(async (tx) => {
        const leased: Found[] = [];
        for (const botId of botIds) leased.push(await this.leaseDueOf(tx, botId, admit));
        return leased;
      });
    } catch (error) {
      if (isUnavailable(error) || (isTimeOut(error) && botIds.length === 1)) throw error;
      if (botIds.length === 1) return botIds.map((botId) => this.faulty(botId, error));
    }
    return this.leaseEach(botIds, admit);
  }

  /** A second bot whose unit takes too long alone, as behind a lock of the table, shows that the fault is not theirs. */
  private async leaseEach(botIds: readonly string[], admit: Admit): Promise<Found[]> {
    const found: Found[] = [];
    const slow: [botId: string, error: unknown][] = [];
    for (const [index, botId] of botIds.entries()) {
      try {
        found.push(...(await this.leaseDue([botId], admit)));
      } catch (error) {
        if (slow.push([botId, error]) === 1 && !isUnavailable(error)) continue;
        if (found.length === 0) throw error;
        // What is leased is sent, or given back by its call if it is too old.
        this.logger.error('Due webhooks could not be looked up; it is tried again', describeFault(error));
        const nextDueMs = this.clock.confirmedMs() + FAULT_PAUSE_MS;
        const left = slow.map(([id]) => id).concat(botIds.slice(index + 1));
        return [...found, ...left.map((id) => ({ botId: id, nextDueMs }))];
      }
    }
    for (const { botId } of found) this.slowBefore.delete(botId);
    return [...found, ...slow.map(([botId, error]) => this.tooSlow(botId, error))];
  }

  /** The first time the bot has another look soon: what it waited for can have been a lock that has ended. */
  private tooSlow(botId: string, error: unknown): Found {
    if (this.slowBefore.delete(botId)) return this.faulty(botId, error);
    this.slowBefore.add(botId);
    return { botId, nextDueMs: this.clock.confirmedMs() + FAULT_PAUSE_MS };
  }

  private faulty(botId: string, error: unknown): Found {
    this.logger.error(`Due webhooks of bot ${botId} could not be looked up: they wait`, describeFault(error));
    return this.paused(botId);
  }

  private paused(botId: string): Found {
    this.resting.set(botId, this.clock.monotonicMs() + REST_MS);
    return { botId, nextDueMs: this.clock.confirmedMs() + REST_MS };
  }

  private async leaseDueOf(tx: Tx, botId: string, admit: Admit): Promise<Found> {
    const nowMs = this.clock.confirmedMs();
    const pauseMs = (this.resting.get(botId) ?? -Infinity) - this.clock.monotonicMs();
    if (pauseMs > 0) return { botId, nextDueMs: nowMs + pauseMs };
    this.resting.delete(botId);
    const startedAt = new Date(nowMs).toISOString();
    // Several processes take different deliveries without waiting.
    const delivery = await tx.get<DeliveryToSend>(
      `SELECT id, event, request_id, guild_id, user_id, payload, attempts, retries, give_up_at,
         COALESCE((SELECT failures FROM webhook_health WHERE webhook_health.bot_id = webhook_deliveries.bot_id), 0) AS failures
       FROM webhook_deliveries
       WHERE bot_id = ? AND status = 'pending' AND next_attempt_at <= ?
       ORDER BY next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
      ...[botId, startedAt],
    );
    if (delivery === undefined) return { botId, nextDueMs: await this.nextDue(tx, botId, nowMs) };
    const target = await this.secrets
      .target(tx, botId)
      .catch((error: unknown) => this.unreadableSecret(botId, error));
    // Its calls wait for the end of the suspension: the dispatcher gets a signal then, or sees it at the next poll.
    if (target === 'suspended') return { botId };
    if (target === 'unreadable') {
      const resumedAt = (await suspensionOf(tx, botId))?.resumed_at ?? null;
      if (nowMs < this.schedule.giveUpMs(delivery.give_up_at, resumedAt)) return this.paused(botId);
      return this.giveUp(tx, botId, delivery, startedAt);
    }
    if (target?.url == null) return this.cancelSome(tx, botId, nowMs);
    const { url, resumedAt } = target;
    const busy = admit(botId, url);
    if (busy !== undefined) return { botId, busy };
    const payload = await this.texts.decrypt(tx, botId, delivery).catch(unreadable);
    if (payload === 'unreadable' && nowMs < this.schedule.giveUpMs(delivery.give_up_at, resumedAt))
      return this.postpone(tx, botId, delivery.id, nowMs);
    if (payload === undefined || payload === 'unreadable') return this.giveUp(tx, botId, delivery, startedAt);
    const lease = await this.lease(tx, botId, delivery.id, nowMs);
    return {
      botId,
      leased: { botId, lease, startedAt, delivery: { ...delivery, payload }, target: { ...target, url } },
      nextDueMs: await this.nextDue(tx, botId, nowMs, delivery.id),
    };
  }

  /** Names in the log what ends the wait of the bot's calls. Throws every error but that of a secret that cannot be decrypted. */
  private unreadableSecret(botId: string, error: unknown): 'unreadable' {
    if (!(error instanceof UnreadableSecretError)) throw error;
    const mend =
      error.code === undefined
        ? `It is damaged: POST /bots/${botId}/webhook-secret/rotate replaces it`
        : `The ${error.code}`;
    this.logger.error(`The webhook secret of bot ${botId} cannot be decrypted: its calls wait. ${mend}`);
    return 'unreadable';
  }

  /** Lets a delivery wait whose master key is missing, until it is given up: the others of its bot are sent. */
  private async postpone(tx: Tx, botId: string, id: string, nowMs: number): Promise<Found> {
    this.logger.error(`Delivery ${id} of bot ${botId} waits: the master key is missing that opens its key`);
    await tx.run(
      'UPDATE webhook_deliveries SET next_attempt_at = ? WHERE bot_id = ? AND id = ?',
      ...[new Date(nowMs + REST_MS).toISOString(), botId, id],
    );
    return { botId, nextDueMs: nowMs };
  }

  /** Ends a delivery that the unit has locked and that can never be sent. */
  private async giveUp(tx: Tx, botId: string, { id, event }: DeliveryToSend, at: string): Promise<Found> {
    const why = 'its body, or the secret that signs it, cannot be decrypted';
    this.logger.error(`Delivery ${id} of bot ${botId} is given up: ${why}`);
    const sql = `UPDATE webhook_deliveries SET status = 'exhausted', finished_at = ? WHERE bot_id = ? AND id = ?`;
    await tx.run(sql, at, botId, id);
    if (event !== 'ping') {
      await this.events.publish(new DeliveriesSettled(tx, { botId, at, exhausted: 1 }));
      tx.afterCommit(() => this.metrics.count('webhookDeliveries', 'exhausted'));
    }
    return { botId, nextDueMs: Date.parse(at) };
  }

  /** Leases a delivery that the unit has locked. */
  private async lease(tx: Tx, botId: string, id: string, nowMs: number): Promise<string> {
    const lease = this.random.uuid();
    const until = new Date(nowMs + this.config.webhookTimeoutMs + LEASE_MARGIN_MS).toISOString();
    await tx.run(
      `UPDATE webhook_deliveries SET attempts = attempts + 1, locked_by = ?, locked_until = ?, next_attempt_at = ?
       WHERE bot_id = ? AND id = ?`,
      ...[lease, until, until, botId, id],
    );
    return lease;
  }

  /** The time of the next look at the bot. A due delivery that was not leased is being taken by another process. */
  private async nextDue(tx: Tx, botId: string, nowMs: number, leased?: string): Promise<number | undefined> {
    const next = await tx.get<{ due: string }>(
      `SELECT next_attempt_at AS due FROM webhook_deliveries
       WHERE bot_id = ? AND status = 'pending' AND id <> ? ORDER BY next_attempt_at LIMIT 1`,
      ...[botId, leased ?? ''],
    );
    if (next === undefined) return undefined;
    const dueMs = Date.parse(next.due);
    return leased === undefined && dueMs <= nowMs ? nowMs + CONTENDED_PAUSE_MS : dueMs;
  }

  /** Cancels deliveries of a bot without a URL; skips a bot whose URL is being changed. */
  private async cancelSome(tx: Tx, botId: string, nowMs: number): Promise<Found> {
    const bot = await lockBot(tx, botId, 'NO KEY UPDATE SKIP LOCKED');
    if (bot?.webhook_url !== null) return { botId, nextDueMs: nowMs + CONTENDED_PAUSE_MS };
    const cancelled = await cancelFree(tx, botId, this.clock.confirmedIso());
    return { botId, ...(cancelled === CHUNK && { nextDueMs: nowMs }) };
  }
}

function unreadable(error: unknown): 'unreadable' {
  if (error instanceof UnreadableSecretError) return 'unreadable';
  throw error;
}
