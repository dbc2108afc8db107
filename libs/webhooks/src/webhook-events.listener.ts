import { Injectable } from '@nestjs/common';
import { WebhookUrlChanged } from '@app/bots';
import { OnDomainEvent } from '@app/common';
import { ConsentRevoked } from '@app/consent';
import { UserForgotten } from '@app/gdpr';
import { Outbox } from './outbox';
import { consentRevokedPayload, userForgottenPayload } from './payload';

/** Turns what happened into webhook calls, in the transaction in which it happened. */
@Injectable()
export class WebhookEventsListener {
  constructor(private readonly outbox: Outbox) {}

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
  async onWebhookUrlChanged({ tx, botId, webhookUrl }: WebhookUrlChanged): Promise<void> {
    if (webhookUrl === null) await this.outbox.cancel(tx, botId);
    else await this.outbox.redirect(tx, botId);
  }
}
