import { Injectable } from '@nestjs/common';
import { BotResumed, WebhookUrlChanged } from '@app/bots';
import { ConsentRevoked } from '@app/consent';
import { UserForgotten } from '@app/erasure';
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

  @OnDomainEvent(UserForgotten)
  async onUserForgotten(event: UserForgotten): Promise<void> {
    const payload = userForgottenPayload(event);
    const { tx, subject, requestId } = event;
    await this.outbox.queue(tx, {
      botId: subject.botId,
      event: 'user_forgotten',
      requestId,
      payload,
      subject,
    });
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
