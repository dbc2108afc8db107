import { type Tx, UnitOfWork } from '@app/database';
import { type Caller, dtoOf } from '@app/http';
import { Clock, conflict, DomainEvents, EgressPolicy, type FieldFault, notFound, Random } from '@app/kernel';
import { Injectable, Optional } from '@nestjs/common';
import { ApiKeys } from './api-keys.service';
import { type BotFacts, lockBot } from './bot-queries';
import { ApiKey, Bot } from './bot.entity';
import {
  type BotRegisteredView,
  type BotView,
  ChangeBot,
  RegisterBot,
  type WebhookHealthView,
} from './bots.dto';
import { firstNotice, noticeSettingsOf, storeNotice, touchNotice } from './notice-settings.service';
import { WebhookSecrets } from './webhook-secrets.service';

/** The webhook URL of a bot has changed, or was removed (null). Published inside the changing unit. */
export class WebhookUrlChanged {
  constructor(
    readonly tx: Tx,
    readonly botId: string,
    readonly webhookUrl: string | null,
  ) {}
}

const NOTICE =
  'Store api_key and webhook_secret now: neither is shown again. Only data stored through this service is covered by its exports and erasures.';

/** The state of a bot's webhook calls; provided by the library that sends them. */
export abstract class WebhookHealth {
  abstract of(tx: Tx, botId: string): Promise<WebhookHealthView>;
}

/** The master data of the tenants. Registration alone shows an API key together with a webhook secret. */
@Injectable()
export class BotsService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly egress: EgressPolicy,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly events: DomainEvents,
    private readonly keys: ApiKeys,
    private readonly secrets: WebhookSecrets,
    /** Absent in an application without webhooks. */
    @Optional() private readonly health?: WebhookHealth,
  ) {}

  /** @throws ApiError 409 `bot_exists` for a platform id that is registered already; 400 for a notice that lacks something. */
  async register(body: unknown): Promise<BotRegisteredView> {
    const {
      platform_bot_id,
      name,
      privacy_contact = null,
      webhook_url = null,
      notice,
    } = dtoOf(RegisterBot, body, this.refusedTarget);
    const id = this.random.uuid();
    const { secret, encrypted } = this.secrets.issue(id);
    const now = this.clock.nowIso();
    const stored = firstNotice(notice, now);
    const key = await this.unitOfWork.write(async (tx) => {
      const inserted = await tx.run(
        `INSERT INTO bots (id, platform_bot_id, name, privacy_contact, webhook_url, webhook_secret, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (platform_bot_id) DO NOTHING`,
        ...[id, platform_bot_id, name, privacy_contact, webhook_url, encrypted, now, now],
      );
      if (inserted === 0)
        throw conflict('bot_exists', 'A bot with this platform_bot_id is registered already');
      await storeNotice(tx, id, stored);
      return this.keys.issue(tx, id);
    });
    return {
      id,
      platform_bot_id,
      name,
      api_key: key.api_key,
      api_key_prefix: key.api_key_prefix,
      webhook_secret: secret,
      notice: NOTICE,
    };
  }

  view(caller: Caller): Promise<BotView> {
    return this.unitOfWork.read((tx) => this.viewIn(tx, caller));
  }

  /** Changes the given fields; `null` removes a contact or URL. */
  change(caller: Caller, body: unknown): Promise<BotView> {
    const { botId } = caller;
    const input = dtoOf(ChangeBot, body ?? {}, this.refusedTarget);
    return this.unitOfWork.write(async (tx) => {
      // Locked before its deliveries. A unit that queues one does not wait: the URL is read when the delivery is sent.
      const before = await lockBot(tx, botId, 'NO KEY UPDATE');
      const changes: Partial<Bot> = {};
      if (input.name != null) changes.name = input.name;
      if (input.privacy_contact !== undefined) changes.privacyContact = input.privacy_contact;
      if (input.webhook_url !== undefined) changes.webhookUrl = input.webhook_url;
      const now = this.clock.nowIso();
      if (Object.keys(changes).length > 0)
        await tx.manager.update(Bot, { id: botId }, { ...changes, updatedAt: now });
      if (before !== undefined && (await saysOtherwise(tx, before, changes)))
        await touchNotice(tx, botId, now);
      const { webhookUrl } = changes;
      if (webhookUrl !== undefined && webhookUrl !== before?.webhook_url)
        await this.events.publish(new WebhookUrlChanged(tx, botId, webhookUrl));
      return this.viewIn(tx, caller);
    });
  }

  /** The fault of a target that could never be called. */
  private readonly refusedTarget = ({
    webhook_url: target,
  }: Pick<ChangeBot, 'webhook_url'>): FieldFault[] => {
    const refusal = target == null ? undefined : this.egress.refusalOf(target);
    return refusal === undefined ? [] : [{ field: 'webhook_url', message: refusal }];
  };

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
      ...(bot.suspendedAt !== null && { suspended_at: bot.suspendedAt }),
    };
  }
}

/** Whether changes of a bot change what its notice says. */
async function saysOtherwise(
  tx: Tx,
  before: BotFacts,
  { name, privacyContact }: Partial<Bot>,
): Promise<boolean> {
  if (name !== undefined && name !== before.name) return true;
  if (privacyContact === undefined || privacyContact === before.privacy_contact) return false;
  // The contact of the notice itself is shown instead.
  return (await noticeSettingsOf(tx, before.id)).settings.controller_email === undefined;
}
