import type { LetheCode } from '../errors';
import { webCrypto } from '../web-crypto';
import type { WebhookEvent } from '../webhook-event';
import { FakeBot, type Tools } from './fake-bot';
import type { Json } from './fake-consent';
import { type Ids, keyOf, placed, present } from './fake-ids';
import { type FakeKey, requireScope } from './fake-keys';
import { object, refusals, restrict, unrestrict } from './fake-processing';
import { FakeRefusal, invalid, isObject, isText, notFound, requireCleanTexts } from './fake-refusal';
import { submit, valuesOf } from './fake-values';
import { signedCall, type SignedCall } from './signed-call';

export interface FakeOptions {
  /** Receives each webhook call before the act is answered, for example `handler.handle` of `createWebhookHandler`. */
  readonly onWebhook?: (call: SignedCall) => unknown;
  readonly now?: () => Date;
}

type Act = (bot: FakeBot, given: Json, key: FakeKey) => unknown;

/** The routes of the fake. A name in braces is part of what the act is given. */
const ACTS: Readonly<Record<string, Act>> = {
  'GET /bots/me': (bot, _given, key) => shownTo(bot, key),
  'GET /bots/{bot_id}': (bot, { bot_id: id }, key) => (id === bot.record.id ? shownTo(bot, key) : undefined),
  'POST /bots/{bot_id}/keys': ({ keys, record }, { bot_id: id, ...given }, key) =>
    id === record.id ? keys.create(given, key) : undefined,
  'POST /servers/register': ({ servers }, given) => servers.register(given),
  'GET /servers': ({ pages, servers }, given) => pages.of('servers', servers.all, given),
  'DELETE /servers/{guild_id}': ({ servers }, given) => servers.delete(given),
  'POST /servers/{guild_id}/cancel-deletion': ({ servers }, given) => servers.cancelDeletion(given),
  'GET /users': (bot, given) => bot.pages.walk('users', bot.users(given), given),
  'POST /data/register': (bot, given) => bot.categories.register(given),
  'GET /data/categories': ({ pages, categories }, given) => pages.of('categories', categories.all, given),
  'GET /data/categories/{key}': ({ categories }, { key }) => categories.named(key),
  'POST /consents/request': (bot, given) => bot.requestConsent(placed(given)),
  'POST /consents/accept': (bot, given) => bot.acceptConsent(placed(given)),
  'POST /consents/decline': (bot, given) => bot.declineConsent(placed(given)),
  'POST /consents/revoke': (bot, given) => bot.revokeConsent(placed(given)),
  'GET /consents/status': (bot, given) => bot.consentStatus(given),
  'POST /consents/status/batch': (bot, given) => ({
    results: itemsOf(given).map((item) => bot.consentStatus(item)),
  }),
  'POST /data/submit': (bot, given) => submit(bot, given),
  'POST /data/submit/batch': (bot, given) => ({ results: itemsOf(given).map((item) => result(bot, item)) }),
  'GET /data/values': (bot, given) => bot.pages.of('values', bot.valuesOfGuild(given), given),
  'GET /data/values/{user_id}': valuesOf,
  'DELETE /data/values/{user_id}': (bot, given) => bot.eraseValues(given),
  'POST /data/object': object,
  'POST /data/restrict': restrict,
  'POST /data/unrestrict': unrestrict,
  'GET /data/refusals/{user_id}': refusals,
  'GET /data/export/{user_id}': (bot, given) => bot.export(given),
  'POST /gdpr/forget-user': (bot, given) => bot.forget(given),
  'GET /gdpr/forget-status/{id}': ({ erasures }, { id }) => erasures.get(String(id)),
  'POST /privacy-links': ({ links }, given, key) => links.create(given, key),
  'DELETE /privacy-links/{id}': ({ links }, given, key) => links.remove(given, key),
  'POST /audit/event': (bot, given) => bot.writeEvent(given),
  'GET /stats': (bot, given) => bot.stats(given),
  'GET /audit/events': ({ pages, events }, given) => pages.of('events', events.found(given), given),
};

const CREATED = /register|consents\/request|audit\/event|privacy-links|keys$/;

/**
 * The core routes of the service in memory, for the tests of a bot: give `url` and `fetch` to the client. It has no limits,
 * no consent texts and no signed evidence.
 */
export class FakeLethe {
  readonly url = 'http://lethe.test';
  /** Every webhook call that was sent, oldest first. */
  readonly webhooks: SignedCall[] = [];
  private readonly bots: FakeBot[] = [];
  private readonly answers = new Map<string, Answer>();
  private readonly planned: FakeRefusal[] = [];

  constructor(private readonly options: FakeOptions = {}) {}

  /** In place of the global `fetch`. */
  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    try {
      const planned = this.planned.shift();
      if (planned !== undefined) throw planned;
      const { status, data } = await this.answered(request);
      return envelope(status, { success: true, data });
    } catch (error) {
      if (!(error instanceof FakeRefusal)) throw error;
      return envelope(error.status, { success: false, error: error.error });
    }
  };

  /** Refuses the next request, to test what the bot then does. */
  refuseNext(code: LetheCode, details?: Json): void {
    this.planned.push(new FakeRefusal(code, `The fake refuses: ${code}`, details));
  }

  private async answered(request: Request): Promise<{ status: number; data: unknown }> {
    const { method, headers } = request;
    const { pathname, searchParams } = new URL(request.url);
    const path = pathname.replace(/^\/api\/v1/, '');
    const body = await request.text();
    const given = present({ ...Object.fromEntries(searchParams), ...(body && (JSON.parse(body) as Json)) });
    requireCleanTexts(given);
    if (method === 'POST' && path === '/bots/register')
      return { status: 201, data: await this.register(given) };
    const text = headers.get('authorization')?.replace(/^Bearer /i, '') ?? '';
    const bot = this.bots.find(({ keys }) => keys.find(text));
    const key = bot?.keys.find(text);
    if (bot === undefined || key === undefined)
      throw new FakeRefusal('unauthorized', 'The API key is missing or unknown');
    const place = `${bot.record.id} ${method} ${path} ${headers.get('idempotency-key')}`;
    await bot.servers.endDue();
    const isKeyed = method === 'POST' && headers.has('idempotency-key');
    const before = isKeyed ? this.answers.get(place) : undefined;
    if (before !== undefined) return repeated(before, body, bot);
    const data = await acted({ bot, key, method, path }, given);
    const status = method === 'POST' && CREATED.test(path) ? 201 : 200;
    if (isKeyed) this.answers.set(place, { body, status, data, ...aboutOf(bot, path, given, data) });
    return { status, data };
  }

  private async register({ platform_bot_id, name, ...given }: Json): Promise<Json> {
    if (typeof platform_bot_id !== 'string' || !/^\d{17,20}$/.test(platform_bot_id))
      throw invalid('platform_bot_id', 'must be a string of 17 to 20 digits');
    if (!isText(name, 100)) throw invalid('name', 'must be a text of 1 to 100 characters');
    if (this.bots.some(({ record }) => record['platform_bot_id'] === platform_bot_id))
      throw new FakeRefusal('conflict', 'This bot is registered', { reason: 'bot_exists' });
    const crypto = await webCrypto();
    const tools: Tools = {
      newId: () => crypto.randomUUID(),
      nowIso: () => (this.options.now?.() ?? new Date()).toISOString(),
      send: async (bot, event) => {
        await this.send(bot, event);
        bot.calls.push(tools.nowIso());
      },
    };
    const { privacy_contact = null, webhook_url = null } = given;
    const webhook_secret = `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`;
    const named = { id: tools.newId(), platform_bot_id, name };
    const times = { created_at: tools.nowIso(), updated_at: tools.nowIso() };
    const record = { ...named, privacy_contact, webhook_url, webhook_health: null, ...times };
    const bot = new FakeBot(record, webhook_secret, tools);
    this.bots.push(bot);
    const { text: api_key } = bot.keys.issue();
    const shown = { api_key, api_key_prefix: api_key.slice(0, 16), webhook_secret };
    return { ...named, ...shown, notice: 'Keep the key and the secret.' };
  }

  private async send({ secret }: FakeBot, event: WebhookEvent): Promise<void> {
    const call = await signedCall({ event, secret });
    this.webhooks.push(call);
    await this.options.onWebhook?.(call);
  }
}

const shownTo = ({ record }: FakeBot, { text }: FakeKey): Json => ({
  ...record,
  api_key_prefix: text.slice(0, 16),
});

interface Answer {
  readonly body: string;
  readonly status: number;
  readonly data: unknown;
  /** The users in their guilds, as {@link FakeBot.erased} names them. */
  readonly about: readonly string[];
  /** The number of erasures before it. */
  readonly erasures: number;
}

/** What an answer is about. That of an erasure outlives it. */
function aboutOf(bot: FakeBot, path: string, given: Json, data: unknown): Pick<Answer, 'about' | 'erasures'> {
  const { items } = given;
  const all = [given, data, ...(Array.isArray(items) ? (items as unknown[]) : [])];
  const ids = all.filter(isObject).filter((one) => isId(one['user_id']) && isId(one['guild_id']));
  const about = path === '/gdpr/forget-user' ? [] : ids.map((one) => keyOf(one as unknown as Ids));
  return { about, erasures: bot.erased.length };
}

const isId = (value: unknown): value is string => typeof value === 'string';

/** @throws FakeRefusal 409 for another body, and for what was erased since */
function repeated(answer: Answer, body: string, { erased }: FakeBot): Answer {
  if (answer.body !== body)
    throw new FakeRefusal('conflict', 'This key was used', { reason: 'idempotency_key_reused' });
  if (!erased.slice(answer.erasures).some((key) => answer.about.includes(key))) return answer;
  throw new FakeRefusal('conflict', 'The answer was erased with its user', {
    reason: 'idempotency_answer_erased',
  });
}

interface Called {
  readonly bot: FakeBot;
  readonly key: FakeKey;
  readonly method: string;
  readonly path: string;
}

async function acted({ bot, key, method, path }: Called, given: Json): Promise<unknown> {
  for (const [route, act] of Object.entries(ACTS)) {
    const [ofMethod, template = ''] = route.split(' ');
    const pattern = new RegExp(`^${template.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
    const found = ofMethod === method ? pattern.exec(path) : null;
    if (found === null) continue;
    requireScope(key, route);
    const data = await act(bot, { ...given, ...found.groups }, key);
    if (data === undefined) throw notFound('This');
    return data;
  }
  throw notFound(`${method} ${path} is no route of the fake; test it with the service. It was`);
}

function result(bot: FakeBot, item: Json): Json {
  try {
    return { ok: true, data: submit(bot, item) };
  } catch (error) {
    if (!(error instanceof FakeRefusal)) throw error;
    return { ok: false, error: error.error };
  }
}

function itemsOf({ items }: Json): readonly Json[] {
  if (Array.isArray(items) && items.length > 0 && items.length <= 100) return (items as Json[]).map(present);
  throw invalid('items', 'must be a list of 1 to 100');
}

const envelope = (status: number, body: object): Response =>
  Response.json(body, { status, headers: { 'x-request-id': 'fake' } });
