import { Injectable, Optional } from '@nestjs/common';
import { type Tx, UnitOfWork } from '@app/database';
import type { Caller } from '@app/http';
import { Clock, DomainEvents, EgressPolicy, notFound } from '@app/kernel';
import { ApiKey, Bot } from './bot.entity';
import type { BotView, ChangeBot } from './bots.dto';
import { requireAllowed } from './registration.service';
import { WebhookHealth } from './webhook-health';
import { WebhookUrlChanged } from './webhook-url-changed.event';

/** The master data of the tenants. */
@Injectable()
export class BotsService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly egress: EgressPolicy,
    private readonly clock: Clock,
    private readonly events: DomainEvents,
    /** Absent in an application without webhooks. */
    @Optional() private readonly health?: WebhookHealth,
  ) {}

  view(caller: Caller): Promise<BotView> {
    return this.unitOfWork.read((tx) => this.viewIn(tx, caller));
  }

  /** Changes the given fields; `null` removes a contact or URL. */
  change(caller: Caller, input: ChangeBot): Promise<BotView> {
    const { botId } = caller;
    requireAllowed(this.egress, input.webhook_url);
    return this.unitOfWork.write(async (tx) => {
      // Locked before its deliveries: a unit that queues one waits and reads the new URL.
      await tx.get('SELECT 1 FROM bots WHERE id = ? FOR NO KEY UPDATE', botId);
      const before = await tx.manager.findOneBy(Bot, { id: botId });
      const changes: Partial<Bot> = {};
      if (input.name != null) changes.name = input.name;
      if (input.privacy_contact !== undefined) changes.privacyContact = input.privacy_contact;
      if (input.webhook_url !== undefined) changes.webhookUrl = input.webhook_url;
      if (Object.keys(changes).length > 0)
        await tx.manager.update(Bot, { id: botId }, { ...changes, updatedAt: this.clock.nowIso() });
      const { webhookUrl } = changes;
      if (webhookUrl !== undefined && webhookUrl !== before?.webhookUrl)
        await this.events.publish(new WebhookUrlChanged(tx, botId, webhookUrl));
      return this.viewIn(tx, caller);
    });
  }

  private async viewIn(tx: Tx, { botId, keyId }: Caller): Promise<BotView> {
    const bot = await tx.manager.findOneBy(Bot, { id: botId });
    const key = await tx.manager.findOneBy(ApiKey, { botId, id: keyId });
    if (bot === null || key === null) throw notFound('Bot');
    return {
      id: bot.id,
      platform_bot_id: bot.platformBotId,
      name: bot.name,
      privacy_contact: bot.privacyContact,
      webhook_url: bot.webhookUrl,
      webhook_health: bot.webhookUrl === null ? null : ((await this.health?.of(tx, botId)) ?? null),
      api_key_prefix: key.prefix,
      created_at: bot.createdAt,
      updated_at: bot.updatedAt,
    };
  }
}
