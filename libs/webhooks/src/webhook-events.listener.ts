import { Injectable } from '@nestjs/common';
import { WebhookUrlChanged } from '@app/bots';
import { OnDomainEvent } from '@app/common';
import { ConsentRevoked } from '@app/consent';
import { UserForgotten } from '@app/gdpr';
import { Outbox } from './outbox';
import { consentRevokedPayload, userForgottenPayload } from './payload';
import { UrlChanges } from './url-changes';

/** Turns what happened into webhook calls, in the transaction in which it happened. */
@Injectable()
export class WebhookEventsListener {
  constructor(
    private readonly outbox: Outbox,
    private readonly urlChanges: UrlChanges,
  ) {}

  @OnDomainEvent(ConsentRevoked)
  async onConsentRevoked(event: ConsentRevoked): Promise<void> {
    const payload = consentRevokedPayload(event);
    const { botId, userId, guildId } = event;
    await this.outbox.queue(event.tx, { botId, event: 'consent_revoked', payload, userId, guildId });
  }

  @OnDomainEvent(UserForgotten)
  async onUserForgotten(event: UserForgotten): Promise<void> {
    const payload = userForgottenPayload(event);
    const { botId, requestId, userId, guildId } = event;
    const outgoing = { botId, event: 'user_forgotten', payload, userId, guildId, requestId } as const;
    await this.outbox.queue(event.tx, outgoing);
  }

  @OnDomainEvent(WebhookUrlChanged)
  onWebhookUrlChanged({ tx, botId }: WebhookUrlChanged): Promise<void> {
    return this.urlChanges.begin(tx, botId);
  }
}
