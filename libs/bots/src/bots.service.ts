import { Injectable } from '@nestjs/common';
import { Clock, conflict, EgressPolicy, invalidRequest, notFound, Random } from '@app/common';
import { type Tx, UnitOfWork } from '@app/database';
import { newApiKey, keyDigest, visiblePrefix } from './api-key';
import { ApiKey, Bot } from './bot.entity';
import type { BotDeletedView, BotRegisteredView, BotView, ChangeBot, RegisterBot } from './bots.dto';
import { KeyDirectory } from './key-directory';

const NOTICE =
  'Store api_key and webhook_secret now: neither is shown again. Only data stored through this service is covered by its exports and erasures.';

/** The tenants: registration, master data, deletion with everything they stored. */
@Injectable()
export class BotsService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly keys: KeyDirectory,
    private readonly egress: EgressPolicy,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** @throws ApiError 409 `bot_exists` for a platform id that is registered already. */
  async register(input: RegisterBot): Promise<BotRegisteredView> {
    this.requireAllowed(input.webhook_url);
    const id = this.random.uuid();
    const key = newApiKey(this.random);
    const secret = `whsec_${this.random.bytes(32).toString('base64')}`;
    const now = this.clock.nowIso();
    await this.unitOfWork.write(async (tx) => {
      const inserted = await tx.run(
        `INSERT INTO bots (id, platform_bot_id, name, privacy_contact, webhook_url, webhook_secret, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (platform_bot_id) DO NOTHING`,
        ...[
          id,
          input.platform_bot_id,
          input.name,
          input.privacy_contact ?? null,
          input.webhook_url ?? null,
          secret,
          now,
          now,
        ],
      );
      if (inserted === 0)
        throw conflict('bot_exists', 'A bot with this platform_bot_id is registered already');
      const prefix = visiblePrefix(key);
      await tx.manager.insert(ApiKey, {
        botId: id,
        id: this.random.uuid(),
        digest: keyDigest(key),
        prefix,
        createdAt: now,
      });
    });
    return {
      id,
      platform_bot_id: input.platform_bot_id,
      name: input.name,
      api_key: key,
      api_key_prefix: visiblePrefix(key),
      webhook_secret: secret,
      notice: NOTICE,
    };
  }

  view(botId: string): Promise<BotView> {
    return this.unitOfWork.read((tx) => this.viewIn(tx, botId));
  }

  /** Changes what is given; `null` removes a contact or URL. */
  change(botId: string, input: ChangeBot): Promise<BotView> {
    this.requireAllowed(input.webhook_url);
    return this.unitOfWork.write(async (tx) => {
      const changes: Partial<Bot> = {};
      if (input.name != null) changes.name = input.name;
      if (input.privacy_contact !== undefined) changes.privacyContact = input.privacy_contact;
      if (input.webhook_url !== undefined) changes.webhookUrl = input.webhook_url;
      if (Object.keys(changes).length > 0)
        await tx.manager.update(Bot, { id: botId }, { ...changes, updatedAt: this.clock.nowIso() });
      return this.viewIn(tx, botId);
    });
  }

  /** Deletes the bot and, by the foreign key of every table, each row it owns; its keys are void at the commit. */
  async delete(botId: string): Promise<BotDeletedView> {
    await this.unitOfWork.write(async (tx) => {
      const { affected } = await tx.manager.delete(Bot, { id: botId });
      if (affected === 0) throw notFound('Bot');
      tx.afterCommit(() => this.keys.forget(botId));
    });
    await this.unitOfWork.scrub();
    return { id: botId, deleted: true, deleted_at: this.clock.nowIso() };
  }

  private requireAllowed(webhookUrl: string | null | undefined): void {
    const refusal = webhookUrl == null ? undefined : this.egress.refusalOf(webhookUrl);
    if (refusal !== undefined) throw invalidRequest([{ field: 'webhook_url', message: refusal }]);
  }

  private async viewIn(tx: Tx, botId: string): Promise<BotView> {
    const bot = await tx.manager.findOneBy(Bot, { id: botId });
    const key = await tx.manager.findOneBy(ApiKey, { botId });
    if (bot === null || key === null) throw notFound('Bot');
    return {
      id: bot.id,
      platform_bot_id: bot.platformBotId,
      name: bot.name,
      privacy_contact: bot.privacyContact,
      webhook_url: bot.webhookUrl,
      api_key_prefix: key.prefix,
      created_at: bot.createdAt,
      updated_at: bot.updatedAt,
    };
  }
}
