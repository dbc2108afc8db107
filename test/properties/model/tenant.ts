import { Bot, field } from '../../support/bot';
import type { Answer, Json } from '../../support/client';
import { BOT_WIDE, snowflake } from '../../support/snowflakes';
import { UNKNOWN_UUID } from '../../support/inputs';
import { type Act, GUILDS, OPEN, USERS, WIDE, type Whom } from './acts';

type SubjectAct = Extract<Act, { whom: Whom }>;
type GuideAct = Extract<Act, { do: `guide-${string}` }>;
type TenantAct = Exclude<Act, SubjectAct | GuideAct>;

const isGuide = (act: GuideAct | TenantAct): act is GuideAct => act.do.startsWith('guide-');

/** The names that one run uses in every service. */
export class Cast {
  readonly platformBotId = snowflake();
  readonly users = Array.from({ length: USERS }, () => snowflake());
  readonly guilds = Array.from({ length: GUILDS }, (_, at) => (at === WIDE ? BOT_WIDE : snowflake()));

  ids({ user, guild }: Whom): { user_id: string; guild_id: string } {
    return { user_id: this.users[user] as string, guild_id: this.guilds[guild] as string };
  }
}

/** A bot that plays the acts of a run and keeps the ids in its answers. */
export class Tenant {
  private readonly requests: string[] = [];
  private readonly deletions: string[] = [];

  private constructor(
    readonly bot: Bot,
    private readonly cast: Cast,
  ) {}

  static async of(url: string, cast: Cast): Promise<Tenant> {
    return new Tenant(await Bot.register(url, { platform_bot_id: cast.platformBotId }), cast);
  }

  async perform(act: Act): Promise<Answer> {
    const answer = await this.send(act);
    if (answer.status === 201 && /request$/.test(act.do)) this.requests.push(String(answer.data['id']));
    if (answer.status === 200 && act.do === 'forget') this.deletions.push(String(answer.data['request_id']));
    return answer;
  }

  private send(act: Act): Promise<Answer> {
    if ('whom' in act) return this.aboutSubject(act, this.cast.ids(act.whom));
    if (isGuide(act)) return this.inGuideShape(act);
    return this.aboutTenant(act);
  }

  private aboutSubject(act: SubjectAct, who: ReturnType<Cast['ids']>): Promise<Answer> {
    const { bot } = this;
    switch (act.do) {
      case 'request':
      case 'accept': {
        const { version, categories } = act;
        return bot.post(`/consents/${act.do}`, { ...who, consent_version: version, categories });
      }
      case 'revoke':
        return bot.post('/consents/revoke', { ...who, categories: act.categories });
      case 'submit': {
        const { category, data, merge } = act;
        return bot.post('/data/submit', { ...who, category, data, ...(merge && { mode: 'merge' }) });
      }
      case 'forget':
        return bot.post('/gdpr/forget-user', who);
      case 'export':
        return bot.export(who, act.full ? '&format=full' : '');
      case 'status':
        return bot.status(who);
      case 'event':
        return bot.post('/audit/event', { ...who, event_type: act.type, details: act.details });
    }
  }

  private inGuideShape(act: GuideAct): Promise<Answer> {
    const { bot } = this;
    const bot_id = bot.id;
    const ids = 'user' in act ? { bot_id, user_id: this.cast.users[act.user] } : { bot_id };
    switch (act.do) {
      case 'guide-request':
        return bot.post('/consents/request', { ...ids, categories: act.categories, language: act.language });
      case 'guide-accept':
        return bot.post('/consents/accept', {
          consent_id: this.requests[act.nth] ?? UNKNOWN_UUID,
          categories: act.categories,
        });
      case 'guide-revoke':
        return bot.post('/consents/revoke', { ...ids, categories: act.categories });
      case 'guide-status':
        return bot.get(`/consents/status?bot_id=${bot_id}&user_id=${this.cast.users[act.user]}`);
      case 'guide-submit':
        return bot.post('/data/submit', { ...ids, category: act.category, data: act.data });
      case 'guide-declare':
        return bot.post('/data/register', { ...ids, categories: act.categories.map((name) => ({ name })) });
    }
  }

  private aboutTenant(act: TenantAct): Promise<Answer> {
    const { bot, cast } = this;
    switch (act.do) {
      case 'declare':
        return bot.post('/data/register', declaration(act.category));
      case 'withdraw':
        return bot.delete(`/data/categories/${act.category}`);
      case 'view':
        return bot.get(`/data/categories/${act.category}`);
      case 'change':
        return bot.put(`/data/categories/${act.category}`, { retention_days: act.retention });
      case 'categories':
        return bot.get(`/data/categories?page=${act.pages.page}&page_size=${act.pages.page_size}`);
      case 'servers':
        return bot.get(`/servers?page=${act.pages.page}&page_size=${act.pages.page_size}`);
      case 'server':
        return bot.post('/servers/register', { guild_id: cast.guilds[act.guild], name: act.name });
      case 'erase-guild':
        return bot.delete(`/servers/${cast.guilds[act.guild]}`);
      case 'forget-status':
        return bot.get(`/gdpr/forget-status/${this.deletions[act.nth] ?? UNKNOWN_UUID}`);
      case 'events':
        return bot.get(`/audit/events?${this.filter(act)}`);
      case 'rename':
        return bot.put(`/bots/${bot.id}`, { name: act.name });
    }
  }

  private filter({ user, guild, type, pages }: Extract<Act, { do: 'events' }>): string {
    const query = new URLSearchParams({ page: String(pages.page), page_size: String(pages.page_size) });
    if (user !== null) query.set('user_id', this.cast.users[user] as string);
    if (guild !== null) query.set('guild_id', this.cast.guilds[guild] as string);
    if (type !== null) query.set('event_type', type);
    return query.toString();
  }
}

function declaration(key: string): Json {
  const fields = [field('text'), field('number', 'number'), field('json', 'json')];
  const reasons = { requires_consent: false, reason_de: 'a', reason_en: 'b' };
  const basis = key === OPEN && { legal_basis: 'contract', ...reasons };
  return { key, label_de: 'a', label_en: 'b', fields, ...basis };
}
