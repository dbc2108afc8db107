import { Injectable } from '@nestjs/common';
import { BotResumed, WebhookUrlChanged } from '@app/bots';
import { ConsentRevoked } from '@app/consent';
import { UsersForgotten } from '@app/erasure';
import { OnDomainEvent } from '@app/kernel';
import { Dispatcher } from './dispatcher';
import { Outbox } from './outbox';
import { consentRevokedPayload, userForgottenPayload } from './payload';
import { UrlChanges } from './url-changes';

/** Turns events into webhook calls, in the unit of the event. */
@Injectable()
export class WebhookEventsListener {
  constructor(
    private readonly outbox: Outbox,
    private readonly urlChanges: UrlChanges,
    private readonly dispatcher: Dispatcher,
  ) {}

  @OnDomainEvent(ConsentRevoked)
  async onConsentRevoked(event: ConsentRevoked): Promise<void> {
    const payload = consentRevokedPayload(event);
    const { tx, subject } = event;
    await this.outbox.queue(tx, { botId: subject.botId, event: 'consent_revoked', payload, subject });
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
    return this.urlChanges.begin(tx, botId);
  }

  @OnDomainEvent(BotResumed)
  onBotResumed({ tx, botId }: BotResumed): void {
    tx.afterCommit(() => this.dispatcher.poke(botId));
  }
}
