import { Injectable } from '@nestjs/common';
import { BotResumed, WebhookUrlChanged } from '@app/bots';
import { ConsentsRevoked } from '@app/consent';
import { UsersForgotten } from '@app/erasure';
import { OnDomainEvent } from '@app/kernel';
import { Dispatcher } from './dispatcher';
import { Outbox } from './outbox';
import { consentRevokedPayload, userForgottenPayload } from './payload';

/** Turns events into webhook calls, in the unit of the event. */
@Injectable()
export class WebhookEventsListener {
  constructor(
    private readonly outbox: Outbox,
    private readonly dispatcher: Dispatcher,
  ) {}

  @OnDomainEvent(ConsentsRevoked)
  async onConsentsRevoked({ tx, revoked }: ConsentsRevoked): Promise<void> {
    await this.outbox.queueAll(
      tx,
      revoked.map((each) => ({
        botId: each.subject.botId,
        event: 'consent_revoked',
        payload: consentRevokedPayload(each),
        subject: each.subject,
      })),
    );
  }

  @OnDomainEvent(UsersForgotten)
  async onUsersForgotten({ tx, forgotten }: UsersForgotten): Promise<void> {
    await this.outbox.queueAll(
      tx,
      forgotten.map((each) => ({
        botId: each.subject.botId,
        event: 'user_forgotten',
        requestId: each.requestId,
        payload: userForgottenPayload(each),
        subject: each.subject,
      })),
    );
  }

  @OnDomainEvent(WebhookUrlChanged)
  onWebhookUrlChanged({ tx, botId }: WebhookUrlChanged): Promise<void> {
    return this.outbox.follow(tx, botId);
  }

  @OnDomainEvent(BotResumed)
  onBotResumed({ tx, botId }: BotResumed): void {
    tx.afterCommit(() => this.dispatcher.poke(botId));
  }
}
