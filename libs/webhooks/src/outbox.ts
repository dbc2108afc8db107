import { BotResumed, WebhookUrlChanged } from '@app/bots';
import { ConsentsRevoked } from '@app/consent';
import { givenRows, type Tx } from '@app/database';
import { HolderTasksMade, UsersForgotten } from '@app/gdpr';
import { Clock, OnDomainEvent, OwnError, Random } from '@app/kernel';
import { DataCorrected } from '@app/user-data';
import { Injectable } from '@nestjs/common';
import {
  beginToFollow,
  followSome,
  type Meant,
  replayable,
  type ReplayScope,
  type Restart,
  RetrySchedule,
  reviveOne,
} from './delivery-states';
import { hastenOne, putFirst } from './delivery-haste';
import { DeliveryTexts } from './delivery-texts';
import { Dispatcher } from './dispatcher';
import {
  type EventOfSubject,
  type Happened,
  outgoing,
  type OutgoingEvent,
  payloadOf,
} from './webhook-events';

/**
 * Stores events as deliveries inside the unit of the act: they are sent if and only if it commits. The first attempt
 * follows the commit at once.
 */
@Injectable()
export class Outbox {
  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly schedule: RetrySchedule,
    private readonly texts: DeliveryTexts,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** {@link queueAll} for one event; returns the id of its delivery. */
  async queue(tx: Tx, given: OutgoingEvent): Promise<string> {
    const [id] = await this.queueAll(tx, [given]);
    if (id === undefined) throw new OwnError('A queued event has no delivery');
    return id;
  }

  /**
   * Queues a delivery for each event and returns their ids. The bots are neither read nor locked: each attempt reads the
   * URL, and ends the delivery as `cancelled` if there is none.
   */
  async queueAll(tx: Tx, events: readonly OutgoingEvent[]): Promise<string[]> {
    const { dueAt, giveUpAt } = this.restart();
    const rows: [id: string, ...(string | null)[]][] = [];
    for (const given of events) {
      const { botId, event, subject, requestId = null } = given;
      const id = this.random.uuid();
      const payload = await this.texts.encrypt(tx, given, id, given.payload);
      rows.push([id, botId, event, requestId, subject?.guildId ?? null, subject?.userId ?? null, payload]);
    }
    const columns = 'id, bot_id, event, request_id, guild_id, user_id, payload';
    const given = givenRows(tx, columns.split(', '), rows);
    await tx.run(
      `INSERT INTO webhook_deliveries (${columns}, status, attempts, retries, next_attempt_at, give_up_at, created_at)
       SELECT ${columns}, 'pending', 0, 0, ?, ?, ? FROM ${given.sql} ORDER BY place`,
      ...[dueAt, giveUpAt, this.clock.nowIso(), ...given.values],
    );
    tx.afterCommit(() => {
      for (const { botId, event } of events) this.dispatcher.poke(botId, event === 'ping' ? 'byHand' : 'due');
    });
    return rows.map(([id]) => id);
  }

  /** Queues a ping, which is sent before the calls that wait; returns the id of its delivery. */
  async ping(tx: Tx, botId: string): Promise<string> {
    const payload = payloadOf('ping', { sentAt: this.clock.nowIso() });
    const id = await this.queue(tx, { botId, event: 'ping', payload });
    await putFirst(tx, botId, id, this.clock.confirmedIso());
    return id;
  }

  /** Sends one delivery again, before the others of its bot. A waiting one is sent now; a running call continues. */
  async resend(tx: Tx, botId: string, id: string): Promise<void> {
    const restart = this.restart();
    if ((await reviveOne(tx, botId, id, restart)) === 0) await hastenOne(tx, botId, id, restart.dueAt);
    await putFirst(tx, botId, id, restart.dueAt);
    tx.afterCommit(() => this.dispatcher.poke(botId, 'byHand'));
  }

  /** Sends the next chunk of a replay again. */
  async resendSome(tx: Tx, botId: string, scope: ReplayScope): Promise<Meant> {
    const chunk = await replayable(tx, botId, scope);
    const restart = this.restart();
    for (const id of chunk.ids) await reviveOne(tx, botId, id, restart);
    tx.afterCommit(() => this.dispatcher.poke(botId));
    return chunk;
  }

  /**
   * The unit has changed the URL of the bot: the first chunk of its deliveries follows in it, the rest after the commit. What is known
   * of the former receiver ends.
   */
  async follow(tx: Tx, botId: string): Promise<void> {
    await beginToFollow(tx, botId);
    await followSome(tx, botId, this.restart());
    // After the deliveries: a result locks its own before it.
    await tx.run('DELETE FROM webhook_health WHERE bot_id = ?', botId);
    tx.afterCommit(() => this.dispatcher.poke(botId, 'anew'));
  }

  private restart(): Restart {
    return this.schedule.begin(this.clock.confirmedMs());
  }
}

/** Turns events into webhook calls, in the unit of the event. */
@Injectable()
export class WebhookEventsListener {
  constructor(
    private readonly outbox: Outbox,
    private readonly dispatcher: Dispatcher,
  ) {}

  @OnDomainEvent(ConsentsRevoked)
  onConsentsRevoked({ tx, revoked }: ConsentsRevoked): Promise<void> {
    return this.queue(tx, 'consent_revoked', revoked);
  }

  @OnDomainEvent(DataCorrected)
  onDataCorrected({ tx, corrected }: DataCorrected): Promise<void> {
    return this.queue(tx, 'data_corrected', corrected);
  }

  @OnDomainEvent(UsersForgotten)
  onUsersForgotten({ tx, forgotten }: UsersForgotten): Promise<void> {
    return this.queue(tx, 'user_forgotten', forgotten);
  }

  @OnDomainEvent(HolderTasksMade)
  onHolderTasksMade({ tx, calls }: HolderTasksMade): Promise<void> {
    return this.queue(tx, 'holder_task', calls);
  }

  @OnDomainEvent(WebhookUrlChanged)
  onWebhookUrlChanged({ tx, botId }: WebhookUrlChanged): Promise<void> {
    return this.outbox.follow(tx, botId);
  }

  @OnDomainEvent(BotResumed)
  onBotResumed({ tx, botId }: BotResumed): void {
    tx.afterCommit(() => this.dispatcher.poke(botId));
  }

  private async queue<Event extends EventOfSubject>(
    tx: Tx,
    event: Event,
    all: readonly Happened[Event][],
  ): Promise<void> {
    await this.outbox.queueAll(
      tx,
      all.map((each) => outgoing(event, each)),
    );
  }
}
