import { Bot, field, type RegisteredBot } from '../../support/bot';
import type { Service } from '../../support/service';
import { BOT_WIDE, snowflake } from '../../support/snowflakes';
import { dumpOf } from '../../support/tenant-dump';
import { CATEGORIES, FIELDS, GUILDS, MARKER, USERS } from './grammar';

export const OPERATOR_TOKEN = 'operator-'.repeat(4);

/** Tables that a job changes at any time. */
const BACKGROUND = /^audit_(batches|heads) /;

/** A bot with a subject, and what it has learned from answers. */
export class Tenant {
  private readonly known: Record<string, string>;

  private constructor(
    private readonly service: Service,
    readonly bot: Bot,
  ) {
    this.known = { BOT: bot.id, PLATFORM: bot.platformBotId, KEY: bot.key, OPERATOR: OPERATOR_TOKEN };
  }

  static async begin(service: Service): Promise<Tenant> {
    const bot = await service.registerBot({ name: MARKER, webhook_url: 'https://receiver.invalid/' });
    const tenant = new Tenant(service, bot);
    const [category] = CATEGORIES;
    const who = { user_id: USERS[0], guild_id: GUILDS[0] };
    await bot.hasCategory(
      category,
      Object.entries(FIELDS).map(([key, type]) => field(key, type)),
    );
    await bot.hasConsent(who, '1');
    tenant.learn('CONSENT', await bot.hasRequest({ ...who, guild_id: GUILDS[1] }, '1'));
    await bot.hasData(who, category, { word: MARKER });
    await bot.hasConsent({ ...who, guild_id: BOT_WIDE }, '1');
    await bot.post('/servers/register', { guild_id: GUILDS[0], name: MARKER });
    const { data: delivery } = await bot.post('/webhooks/test');
    tenant.learn('DELIVERY', delivery['id'] ?? delivery['delivery_id']);
    const { data: event } = await bot.post('/audit/event', { ...who, event_type: 'data_deleted' });
    tenant.learn('EVENT', event['id']);
    const { data: link } = await bot.post('/privacy-links', who);
    tenant.learn('LINK', link['id']);
    const { data: reader } = await bot.post(`/bots/${bot.id}/keys`, { scopes: ['read'] });
    tenant.learn('READER', reader['id']);
    const words = { consent_version: '1', language: 'en', title: MARKER, body: MARKER };
    const { data: text } = await bot.post('/consents/texts', words);
    tenant.learn('TEXT', text['digest']);
    const labels = { label_de: MARKER, label_en: MARKER };
    await bot.post('/holders', { key: category, kind: 'pull', covers: [category], ...labels });
    tenant.learn('DELETION', await bot.hasForgotten({ ...who, user_id: USERS[1] }));
    return tenant;
  }

  /** Keeps an id for later requests, if it is one. */
  learn(name: string, id: unknown): void {
    if (typeof id === 'string') this.known[name] = id;
  }

  /** Replaces the placeholders of a text. */
  fill = (text: string): string =>
    text.replace(/zz([A-Z]+)zz/g, (_, name: string) =>
      name === 'NEW' ? snowflake() : (this.known[name] ?? '018f2f00-0000-7000-8000-00000000dead'),
    );

  /** What must not be in the log. */
  get secrets(): string[] {
    const { key, webhookSecret } = this.bot;
    return [OPERATOR_TOKEN, key.slice(16), webhookSecret.slice(6), MARKER, ...USERS, ...GUILDS.slice(0, 2)];
  }

  /** The rows of the tenant, and the number of all bots: a job removes other rows of deleted bots later. */
  async state(): Promise<string[]> {
    const { database } = this.service;
    const lines = await dumpOf(database, this.bot.id);
    const bots = await database.rows('SELECT COUNT(*) AS bots FROM api_keys');
    return [...lines.filter((line) => !BACKGROUND.test(line)).map(settled), JSON.stringify(bots)];
  }

  /** Whether the bot is not deleted. */
  async isServed(): Promise<boolean> {
    return (await this.bot.get(`/bots/${this.bot.id}`)).status === 200;
  }

  /** Another bot that the tenant has registered. */
  other(registered: RegisteredBot): Bot {
    return new Bot(this.service.url, registered);
  }
}

/** On PostgreSQL a job sets the time after the completion. */
const settled = (line: string): string => line.replace(/"unrecoverable_at":[^,}]+/, '');
