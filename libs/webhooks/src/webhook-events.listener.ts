import { Injectable } from '@nestjs/common';
import { WebhookUrlChanged } from '@app/bots';
import { ConsentRevoked } from '@app/consent';
import { UserForgotten } from '@app/erasure';
import { OnDomainEvent } from '@app/kernel';
import { ForgottenCalls } from './forgotten-calls';
import { Outbox } from './outbox';
import { consentRevokedPayload, userForgottenPayload } from './payload';
import { UrlChanges } from './url-changes';

/** Turns events into webhook calls, in the unit of the event. */
@Injectable()
export class WebhookEventsListener {
  constructor(
    private readonly outbox: Outbox,
    private readonly urlChanges: UrlChanges,
    private readonly forgotten: ForgottenCalls,
  ) {}

  @OnDomainEvent(ConsentRevoked)
  async onConsentRevoked(event: ConsentRevoked): Promise<void> {
    const payload = consentRevokedPayload(event);
    const { botId, userId, guildId } = event;
    await this.outbox.queue(event.tx, { botId, event: 'consent_revoked', payload, userId, guildId });
  }

  @OnDomainEvent(UserForgotten)
  async onUserForgotten(event: UserForgotten): Promise<void> {
    const { botId, requestId } = event;
    const stored = this.forgotten.stored(event, requestId, userForgottenPayload(event));
    await this.outbox.queue(event.tx, { botId, event: 'user_forgotten', requestId, ...stored });
  }

  @OnDomainEvent(WebhookUrlChanged)
  onWebhookUrlChanged({ tx, botId }: WebhookUrlChanged): Promise<void> {
    return this.urlChanges.begin(tx, botId);
  }
}
