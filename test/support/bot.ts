import { Answer, Client, Json } from './client';
import { type SubjectIds, snowflake, subject } from './snowflakes';

export interface RegisteredBot {
  readonly id: string;
  readonly platform_bot_id: string;
  readonly name: string;
  readonly api_key: string;
  readonly api_key_prefix: string;
  readonly webhook_secret: string;
}

export interface Field {
  readonly key: string;
  readonly type: string;
  readonly label_de: string;
  readonly label_en: string;
  readonly description?: string | null;
}

export function field(key: string, type = 'string', more: { readonly editable?: boolean } = {}): Field {
  return { key, type, label_de: `Feld ${key}`, label_en: `Field ${key}`, ...more };
}

/** A registered bot with its API key: the tenant of one test, created through the interface. */
export class Bot extends Client {
  readonly id: string;
  readonly platformBotId: string;
  readonly name: string;
  override readonly key: string;
  readonly webhookSecret: string;

  constructor(baseUrl: string, registered: RegisteredBot) {
    super(baseUrl, registered.api_key);
    this.id = registered.id;
    this.platformBotId = registered.platform_bot_id;
    this.name = registered.name;
    this.key = registered.api_key;
    this.webhookSecret = registered.webhook_secret;
  }

  static async register(baseUrl: string, given: Json = {}): Promise<Bot> {
    const body = { platform_bot_id: snowflake(), name: 'Test bot', ...given };
    const answer = await new Client(baseUrl).post<RegisteredBot>('/bots/register', body);
    return new Bot(baseUrl, arranged(answer, 201));
  }

  /** The same bot with another process. */
  at({ url }: { readonly url: string }): Bot {
    const { id, name, key, platformBotId, webhookSecret } = this;
    return new Bot(url, {
      ...{ id, name, platform_bot_id: platformBotId, webhook_secret: webhookSecret },
      ...{ api_key: key, api_key_prefix: '' },
    });
  }

  /** Declares a category; its fields default to one text called `value`. */
  async hasCategory(
    key: string,
    fields: readonly Field[] = [field('value')],
    given: Json = {},
  ): Promise<void> {
    const labels = { label_de: `Kategorie ${key}`, label_en: `Category ${key}` };
    arranged(await this.post('/data/register', { key, ...labels, fields, ...given }), 201);
  }

  async hasRequest(who: SubjectIds, version = '1.0'): Promise<string> {
    const answer = await this.post<{ id: string }>('/consents/request', { ...who, consent_version: version });
    return arranged(answer, 201).id;
  }

  async hasConsent(who: SubjectIds, version = '1.0'): Promise<void> {
    await this.hasRequest(who, version);
    arranged(await this.post('/consents/accept', { ...who, consent_version: version }), 200);
  }

  async hasRevoked(who: SubjectIds): Promise<void> {
    arranged(await this.post('/consents/revoke', who), 200);
  }

  /** Stores values; needs a consent and a category. */
  async hasData(who: SubjectIds, category: string, data: Json): Promise<void> {
    arranged(await this.post('/data/submit', { ...who, category, data }), 200);
  }

  /** A new user who has consented, with a value in the category. */
  async hasUser(value?: string, category = 'profile'): Promise<SubjectIds> {
    const who = subject();
    await this.hasConsent(who);
    await this.hasData(who, category, { value: value ?? who.user_id });
    return who;
  }

  /** Erases a subject and answers the id of the request. */
  async hasForgotten(who: SubjectIds): Promise<string> {
    return arranged(await this.post<{ request_id: string }>('/gdpr/forget-user', who), 200).request_id;
  }

  status(who: SubjectIds): Promise<Answer> {
    return this.get(`/consents/status?user_id=${who.user_id}&guild_id=${who.guild_id}`);
  }

  export<T = Json>(who: SubjectIds, more = ''): Promise<Answer<T>> {
    return this.get(`/data/export/${who.user_id}?guild_id=${who.guild_id}${more}`);
  }

  /** The types of the subject's audit events, oldest first. */
  async eventTypes(who: SubjectIds): Promise<string[]> {
    const query = `user_id=${who.user_id}&guild_id=${who.guild_id}&page_size=100`;
    const { events } = (await this.get<{ events: { event_type: string }[] }>(`/audit/events?${query}`)).data;
    return events.map((event) => event.event_type).reverse();
  }
}

/** The data of a step that prepares a test. */
function arranged<T>(answer: Answer<T>, status: number): T {
  if (answer.status !== status) throw new Error(`could not be arranged: ${answer.status} ${answer.text}`);
  return answer.data;
}
