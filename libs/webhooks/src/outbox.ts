import { Injectable } from '@nestjs/common';
import { Clock, Random } from '@app/common';
import type { Tx } from '@app/database';
import type { DeliveryEvent } from './delivery.entity';
import {
  cancelPending,
  hastenPending,
  replayable,
  type ReplayScope,
  type Restart,
  restartUnconfirmed,
  reviveOne,
} from './delivery-states';
import { Dispatcher } from './dispatcher';
import { RetrySchedule } from './retry-schedule';

/** An event to be told to a bot. */
export interface OutgoingEvent {
  readonly botId: string;
  readonly event: DeliveryEvent;
  readonly payload: string;
  readonly userId?: string;
  readonly guildId?: string;
  readonly requestId?: string;
}

/**
 * Takes events over inside the transaction of the act: with its commit they are on their way, without it they never
 * were. The first attempt follows the commit at once.
 */
@Injectable()
export class Outbox {
  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly schedule: RetrySchedule,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /**
   * Answers the id of the delivery. For a bot without a URL it is `cancelled`, and so visible, from the start; who gives
   * the bot a URL finds it, since the bot is locked until the commit.
   */
  async queue(tx: Tx, given: OutgoingEvent): Promise<string> {
    const { botId, event, payload, userId = null, guildId = null, requestId = null } = given;
    const bot = await tx.get<{ webhook_url: string | null }>(
      'SELECT webhook_url FROM bots WHERE id = ? FOR SHARE',
      botId,
    );
    const id = this.random.uuid();
    const { dueAt, giveUpAt } = this.restart();
    const waits = bot?.webhook_url != null;
    await tx.run(
      `INSERT INTO webhook_deliveries (bot_id, id, event, request_id, guild_id, user_id, payload, status, attempts,
         retries, next_attempt_at, give_up_at, created_at, finished_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?)`,
      ...[botId, id, event, requestId, guildId, userId, payload, waits ? 'pending' : 'cancelled'],
      ...[dueAt, giveUpAt, dueAt, waits ? null : dueAt],
    );
    if (waits) tx.afterCommit(() => this.tell(botId, event));
    return id;
  }

  /**
   * The bot, which the caller has locked, has its calls go to a new URL: what waits and what was given up goes there at
   * once, what is under way to the old one unless that confirms it.
   */
  async redirect(tx: Tx, botId: string): Promise<void> {
    await restartUnconfirmed(tx, botId, this.restart());
    tx.afterCommit(() => this.dispatcher.pokeAnew(botId));
  }

  /** Sends one delivery again; one that waits is hastened, one that is under way goes on. */
  async resend(tx: Tx, botId: string, id: string): Promise<void> {
    const restart = this.restart();
    if ((await reviveOne(tx, botId, id, restart)) === 0) await hastenPending(tx, botId, restart.dueAt, id);
    tx.afterCommit(() => this.dispatcher.pokeByHand(botId));
  }

  /** Sends the next `max` deliveries of a replay again, in the order of their ids, which it answers. */
  async resendSome(tx: Tx, botId: string, scope: ReplayScope, max: number): Promise<string[]> {
    const ids = await replayable(tx, botId, scope, max);
    const restart = this.restart();
    for (const id of ids) await reviveOne(tx, botId, id, restart);
    tx.afterCommit(() => this.dispatcher.poke(botId));
    return ids;
  }

  /** The bot, which the caller has locked, has no URL any more. */
  async cancel(tx: Tx, botId: string): Promise<void> {
    await cancelPending(tx, botId, this.clock.nowIso());
  }

  private tell(botId: string, event: DeliveryEvent): void {
    if (event === 'ping') this.dispatcher.pokeByHand(botId);
    else this.dispatcher.poke(botId);
  }

  /** A schedule that begins now. */
  restart(): Restart {
    const nowMs = this.clock.nowMs();
    return {
      dueAt: new Date(nowMs).toISOString(),
      giveUpAt: new Date(nowMs + this.schedule.lifetimeMs).toISOString(),
    };
  }
}
