import { Injectable } from '@nestjs/common';
import type { Tx } from '@app/database';
import { Clock, Random } from '@app/kernel';
import { hastenOne, replayable, type ReplayScope, type Restart, reviveOne } from './delivery-states';
import type { DeliveryEvent } from './delivery.entity';
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
   * Answers the id of the delivery. It waits in any case, and nothing is asked of the bot, which no act has to lock for
   * it: the URL is that of the bot at the attempt. Where there is none the attempt ends it as `cancelled`, and so
   * visible.
   */
  async queue(tx: Tx, given: OutgoingEvent): Promise<string> {
    const { botId, event, payload, userId = null, guildId = null, requestId = null } = given;
    const id = this.random.uuid();
    const { dueAt, giveUpAt } = this.restart();
    await tx.run(
      `INSERT INTO webhook_deliveries (bot_id, id, event, request_id, guild_id, user_id, payload, status, attempts,
         retries, next_attempt_at, give_up_at, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', 0, 0, ?, ?, ?)`,
      ...[botId, id, event, requestId, guildId, userId, payload, dueAt, giveUpAt, dueAt],
    );
    tx.afterCommit(() => this.tell(botId, event));
    return id;
  }

  /** Sends one delivery again; one that waits is hastened, one that is under way goes on. */
  async resend(tx: Tx, botId: string, id: string): Promise<void> {
    const restart = this.restart();
    if ((await reviveOne(tx, botId, id, restart)) === 0) await hastenOne(tx, botId, id, restart.dueAt);
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

  private tell(botId: string, event: DeliveryEvent): void {
    if (event === 'ping') this.dispatcher.pokeByHand(botId);
    else this.dispatcher.poke(botId);
  }

  private restart(): Restart {
    return this.schedule.begin(this.clock.nowMs());
  }
}
