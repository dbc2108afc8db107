import { join } from 'node:path';
import { UnitOfWork } from '@app/database';
import { SystemClock } from '@app/kernel';
import { Bot, field, type RegisteredBot } from '../support/bot';
import { Client, type Json } from '../support/client';
import { keyIsRewritten } from '../support/key-rewrites';
import { withoutFurtherTypes } from '../support/further-modules';
import { type Line, recorded, Recorder } from '../support/recorder';
import { useReceiver } from '../support/receiver';
import { seal } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { beforeEachUnit } from '../support/units';
import { until } from '../support/until';

// A client that was written from the tables of the contract never notices what is added to Lethe: the answers to a life that uses
// nothing else are the recorded ones, byte for byte. CONTRIBUTING.md has the command that records them anew.

const FILE = join(__dirname, 'recorded-answers.json');

/** Each route of the tables. */
const ROUTES = [
  ...['POST /bots/register', 'GET /bots/{}', 'PUT /bots/{}', 'DELETE /bots/{}'],
  ...['POST /servers/register', 'POST /data/register', 'GET /data/categories'],
  ...['POST /consents/request', 'POST /consents/accept', 'POST /consents/revoke', 'GET /consents/status'],
  ...['POST /data/submit', 'GET /data/export/{}', 'POST /gdpr/forget-user', 'GET /gdpr/forget-status/{}'],
  ...['POST /audit/event', 'GET /audit/events'],
];
const STATUSES = [200, 201, 400, 401, 403, 404, 409, 413, 415, 429];

let atMs = Date.UTC(2027, 0, 4, 9);
/** One time for all that one request does, and a second later for the next one. */
function timeIsSet(): void {
  for (const name of ['nowMs', 'wallMs', 'confirmedMs'] as const)
    jest.spyOn(SystemClock.prototype, name).mockImplementation(() => atMs);
}
beforeAll(timeIsSet);
afterAll(() => jest.restoreAllMocks());

const service = useServiceInProcess();
const limited = useServiceInProcess({ RATE_LIMIT_TIERS: 'free=2', RATE_LIMIT_ANONYMOUS: '2' });
const receiver = useReceiver();

const GUILD = '200000000000000001';
const ANNA = { user_id: '100000000000000001', guild_id: GUILD };
const BEN = { user_id: '100000000000000002', guild_id: GUILD };
const CARL = { user_id: '100000000000000003', guild_id: '200000000000000002' };
const UNKNOWN = '018f2f00-0000-7000-8000-000000000000';
const V1 = { consent_version: '1.0' };
const query = (who: object): string => String(new URLSearchParams({ ...who }));

/** A life with one bot, in chapters that follow one another. */
class Life {
  readonly recorder = new Recorder(() => void (atMs += 1000));
  private bot: Bot;

  post = <T = Json>(path: string, body: unknown, headers = {}) =>
    this.recorder.ask<T>(this.bot, 'POST', path, { body, headers });
  get = <T = Json>(path: string) => this.recorder.ask<T>(this.bot, 'GET', path);
  put = (path: string, body: unknown) => this.recorder.ask(this.bot, 'PUT', path, { body });
  delete = (path: string) => this.recorder.ask(this.bot, 'DELETE', path);

  async register(platform_bot_id: string, given: Json = {}, of = service.anonymous): Promise<void> {
    const body = { platform_bot_id, name: 'Greeter', ...given };
    const answer = await this.recorder.ask<RegisteredBot>(of, 'POST', '/bots/register', { body });
    if (answer.status === 201) this.bot = new Bot(of.baseUrl, answer.data);
  }

  /** The bot, its keys and its settings. */
  async bots(): Promise<void> {
    const given = { privacy_contact: 'privacy@bot.example.org', webhook_url: receiver.url };
    await this.register('300000000000000001', given);
    const { id } = this.bot;
    await this.recorder.ask(service.anonymous, 'POST', '/bots/register', {
      body: { platform_bot_id: '300000000000000001', name: 'Again' },
    });
    for (const path of [`/bots/${id}`, '/bots/me', `/bots/${UNKNOWN}`, '/bots/none']) await this.get(path);
    await this.put(`/bots/${id}`, { name: 'Greeter of Berlin', privacy_contact: null });
    await this.put(`/bots/${UNKNOWN}`, { name: 'Greeter' });
    await this.put(`/bots/${id}`, { name: '', privacy_contact: 'none', webhook_url: 'ftp://x' });
    const made = await this.post<{ id: string; api_key: string }>(`/bots/${id}/keys`, {
      ...{ name: 'Reader', scopes: ['read'], expires_at: '2028-01-01T00:00:00.000Z' },
    });
    const reader = new Client(service.url, made.data.api_key);
    await this.recorder.ask(reader, 'POST', '/servers/register', { body: { guild_id: GUILD } });
    await this.get(`/bots/${id}/keys`);
    await this.delete(`/bots/${id}/keys/${made.data.id}`);
    await this.recorder.ask(reader, 'GET', '/servers');
    await this.post(`/bots/${id}/webhook-secret/rotate`, { overlap_seconds: 60 });
    await this.put(`/bots/${id}/notice-settings`, { controller_name: 'Bot Ltd' });
    await this.get(`/bots/${id}/notice-settings`);
  }

  async declarations(): Promise<void> {
    await this.post('/servers/register', { guild_id: GUILD, name: 'Home' });
    await this.post('/servers/register', { guild_id: CARL.guild_id });
    await this.post('/servers/register', { guild_id: Number('123') });
    await this.get('/servers');
    const profile = { key: 'profile', label_de: 'Profil', label_en: 'Profile' };
    const fields = [field('nickname'), field('level', 'number'), field('birthday', 'date')];
    await this.post('/data/register', { ...profile, fields });
    await this.post('/data/register', { ...profile, fields });
    const more = { description_en: 'To greet', retention_days: 30, legal_basis: 'contract' };
    await this.post('/data/register', {
      ...{ key: 'extra', label_de: 'Mehr', label_en: 'More', fields: [field('x', 'json')], ...more },
    });
    await this.post('/data/register', { key: 'Wrong Key', label_de: '', fields: [] });
    await this.get('/data/categories');
    await this.get('/data/categories?page=1&page_size=1');
    await this.get('/data/categories?page=0&page_size=101');
    await this.get('/data/categories/profile');
    await this.get('/data/categories/unknown');
    await this.put('/data/categories/extra', { label_en: 'Further' });
  }

  async consents(): Promise<void> {
    const status = (who: object) => this.get(`/consents/status?${query(who)}`);
    await status(ANNA);
    await this.post('/consents/accept', { ...ANNA, ...V1 });
    await this.post('/consents/request', { ...ANNA, ...V1 });
    await status(ANNA);
    await this.post('/consents/accept', { ...ANNA, consent_version: '2.0' });
    await this.post('/consents/accept', { ...ANNA, ...V1 });
    await this.post('/consents/accept', { ...ANNA, ...V1 });
    await status(ANNA);
    for (const who of [BEN, CARL]) await this.post('/consents/request', { ...who, ...V1 });
    await this.post('/consents/decline', BEN);
    await status(BEN);
    await this.post('/consents/accept', { ...CARL, ...V1 });
    await this.post('/consents/revoke', CARL);
    await this.delivered(1);
    await status(CARL);
    await this.post('/consents/revoke', { ...CARL, guild_id: GUILD });
    await this.post('/consents/request', { user_id: 100000000000000001, guild_id: '1' });
    await this.get('/consents/status');
    await this.post('/consents/status/batch', { items: [ANNA, BEN, CARL] });
    await this.get(`/consents/history?${query(ANNA)}`);
    await this.get(`/consents/history?${query(CARL)}`);
    await this.get(`/consents/receipt?${query(ANNA)}`);
    await this.get(`/users?user_id=${ANNA.user_id}`);
  }

  async data(): Promise<void> {
    const submit = (who: object, category: string, data: unknown) =>
      this.post('/data/submit', { ...who, category, data });
    await submit(ANNA, 'profile', { nickname: 'Anna', level: 3, birthday: '2000-02-29' });
    await submit(ANNA, 'profile', { nickname: 'Änna' });
    await submit(ANNA, 'extra', { x: { b: 1, a: [null, true] } });
    await submit(BEN, 'profile', { nickname: 'Ben' });
    await submit(CARL, 'profile', { nickname: 'Carl' });
    await submit(ANNA, 'unknown', {});
    await submit(ANNA, 'profile', { level: 'three', other: 1 });
    await submit(ANNA, 'profile', 'none');
    const item = (who: object, nickname: string) => ({ ...who, category: 'profile', data: { nickname } });
    await this.post('/data/submit/batch', { items: [item(ANNA, 'Anna B'), item(BEN, 'Ben')] });
    await this.post('/data/submit/batch', { items: [] });
    const once = { 'idempotency-key': 'once' };
    await this.post('/data/submit', item(ANNA, 'Anna C'), once);
    await this.post('/data/submit', item(ANNA, 'Anna C'), once);
    await this.post('/data/submit', item(ANNA, 'Anna D'), once);
    await this.get(`/data/values?guild_id=${GUILD}&category=profile`);
    await this.get(`/data/values/${ANNA.user_id}?guild_id=${GUILD}`);
    const exported = (who: typeof ANNA, more = '') =>
      this.get(`/data/export/${who.user_id}?guild_id=${who.guild_id}${more}`);
    await exported(ANNA);
    await exported(ANNA, '&format=full');
    await this.get(`/data/export/${ANNA.user_id}?scope=all_guilds`);
    await exported({ ...ANNA, user_id: '100000000000000009' });
    await this.get(`/data/export/${ANNA.user_id}`);
    await this.get('/data/export/1?guild_id=x');
    await this.delete(`/data/values/${ANNA.user_id}?guild_id=${GUILD}&category=extra`);
    await this.delete('/data/categories/extra');
  }

  async events(): Promise<void> {
    await this.post('/audit/event', { ...ANNA, event_type: 'data_deleted', details: { rows: 2 } });
    await this.post('/audit/event', { ...ANNA, event_type: 'unknown' });
    await this.get('/audit/events?page_size=2');
    await this.get('/audit/events?page_size=100');
    await this.get(`/audit/events?${query(CARL)}&event_type=consent_revoked`);
    await this.get('/audit/events?event_type=unknown&page_size=0');
    await this.get('/stats');
  }

  async erasures(): Promise<void> {
    const forget = await this.post<{ request_id: string }>('/gdpr/forget-user', ANNA);
    const request = `/gdpr/forget-status/${forget.data.request_id}`;
    await this.delivered(2);
    await keyIsRewritten(service, forget.data.request_id);
    await this.get(request);
    await seal(service, this.bot);
    await this.get(`${request}/certificate`);
    await this.get(`/gdpr/forget-status/${UNKNOWN}`);
    await this.get('/gdpr/forget-status/none');
    await this.get(`/data/export/${ANNA.user_id}?guild_id=${GUILD}`);
    await this.post('/gdpr/forget-user', { user_id: BEN.user_id, scope: 'all_guilds' });
    await this.delivered(3);
    await this.post('/gdpr/forget-user', { guild_id: GUILD });
    await this.delete(`/servers/${CARL.guild_id}?grace_days=30`);
    await this.post(`/servers/${CARL.guild_id}/cancel-deletion`, undefined);
    await this.delete('/servers/200000000000000009');
  }

  /** Until this many webhooks are confirmed, each in the second of its act. */
  private async delivered(count: number): Promise<void> {
    await receiver.received(count);
    const of = `SELECT id FROM webhook_deliveries WHERE bot_id = ? AND status <> 'delivered'`;
    await until(async () => (await service.database.rows(of, this.bot.id)).length === 0);
  }

  async webhooks(): Promise<void> {
    await this.get('/webhooks/deliveries');
    const all = await this.get<{ deliveries: { id: string }[] }>('/webhooks/deliveries?event=user_forgotten');
    await this.get(`/webhooks/deliveries/${all.data.deliveries[0]?.id}`);
    await this.get(`/webhooks/deliveries/${UNKNOWN}`);
    await this.post('/webhooks/test', undefined);
    await this.delivered(4);
    await this.get(`/bots/${this.bot.id}`);
  }

  /** Every audit event of the bot, newest first, after the erasures. */
  async log(): Promise<void> {
    await this.get('/audit/events?page_size=100');
  }

  async calls(): Promise<void> {
    for (const { headers, rawBody } of [...receiver.calls].sort((one, other) =>
      String(one.headers['webhook-id']) < String(other.headers['webhook-id']) ? -1 : 1,
    )) {
      const names = Object.keys(headers).filter((name) => !['connection', 'host'].includes(name));
      this.recorder.line({
        event: headers['x-gdpr-event'],
        headers: names.sort(),
        body: JSON.parse(rawBody) as unknown,
        isCompact: JSON.stringify(JSON.parse(rawBody)) === rawBody,
      });
    }
  }

  /** The requests of the guide. */
  async guide(): Promise<void> {
    const bot_id = '300000000000000005';
    const { user_id } = ANNA;
    const body = { bot_id, name: 'Greeter', description: 'Greets' };
    const answer = await this.recorder.ask<RegisteredBot>(service.anonymous, 'POST', '/bots/register', {
      body,
    });
    this.bot = new Bot(service.url, answer.data);
    const levels = { name: 'levels', description: 'Experience', retention_days: 90, legal_basis: 'consent' };
    await this.post('/data/register', { bot_id, categories: [levels] });
    const categories = ['levels'];
    const asked = { bot_id, user_id, categories, language: 'en' };
    const { consent_id } = (await this.post<{ consent_id: string }>('/consents/request', asked)).data;
    await this.post('/consents/accept', { consent_id, categories });
    await this.get(`/consents/status?${query({ bot_id, user_id })}`);
    await this.post('/data/submit', { bot_id, user_id, category: 'levels', data: { xp: 1 } });
    await this.post('/consents/revoke', { bot_id, user_id, categories });
  }

  async refusals(): Promise<void> {
    const { url } = service;
    const json = { 'content-type': 'application/json' };
    const raw = (text: string, headers: Record<string, string> = json, shown?: string) =>
      this.recorder.ask(this.bot, 'POST', '/data/submit', { raw: text, headers, ...(shown && { shown }) });
    await this.recorder.ask(service.anonymous, 'GET', '/servers');
    await this.recorder.ask(new Client(url, 'sk_live_wrong'), 'GET', '/servers');
    await raw('{"user_id":');
    await raw('[]');
    await raw('{}', { 'content-type': 'text/plain' });
    await raw(' '.repeat(300_000), json, '<300 KB>');
    await this.get('/unknown');
    await this.put('/servers/register', {});
    await this.delete('/bots/none');
    await this.register('none', { name: 'x'.repeat(101), webhook_url: 'none', privacy_contact: 'none' });
    await this.register('300000000000000002');
    await this.post('/consents/request', { ...BEN, ...V1 });
    await this.runningErasure();
    await this.delete(`/bots/${this.bot.id}`);
    await this.get('/bots/me');
  }

  /** The database fails after the request is recorded, as in a crash between the two steps. */
  private async runningErasure(): Promise<void> {
    const requests = 'SELECT id FROM deletion_requests WHERE bot_id = ?';
    const isOnRecord = async () => (await service.database.rows(requests, this.bot.id)).length > 0;
    beforeEachUnit(service.app.get(UnitOfWork), async () => {
      if (await isOnRecord()) throw new Error('the disk is gone');
    });
    await this.post('/gdpr/forget-user', BEN);
    jest.restoreAllMocks();
    timeIsSet();
    await this.post('/gdpr/forget-user', BEN);
  }

  async limits(): Promise<void> {
    await this.register('300000000000000003', {}, limited.anonymous);
    for (let count = 0; count < 3; count++) await this.get('/servers');
    await this.register('300000000000000003', {}, limited.anonymous);
    await this.register('300000000000000004', {}, limited.anonymous);
  }
}

const CHAPTERS = [
  ...['bots', 'declarations', 'consents', 'data', 'events', 'erasures', 'webhooks', 'calls', 'log'],
  ...['guide', 'refusals', 'limits'],
] as const;

const lived: Record<string, readonly Line[]> = {};
let expected: Readonly<Record<string, readonly Line[]>>;

beforeAll(async () => {
  const life = new Life();
  for (const chapter of CHAPTERS) {
    const before = life.recorder.lines.length;
    await life[chapter]();
    lived[chapter] = life.recorder.lines.slice(before).map(withoutFurtherTypes);
  }
  expected = recorded(FILE, lived);
});

describe('a client that is written from the contract', () => {
  it.each(CHAPTERS)('is answered as recorded, byte for byte: %s', (chapter) => {
    expect(lived[chapter]).toEqual(expected[chapter]);
  });

  it('uses each route of the contract, and meets each status', () => {
    const lines = Object.values(expected)
      .flat()
      .map((line) => JSON.parse(line) as { ask?: string; status?: number });
    const used = lines.flatMap(({ ask }) => (ask === undefined ? [] : [ask.split('?')[0] ?? '']));
    const forms = used.map((ask) => ask.replace(/\/(<uuid \d+>|\d{18})/g, '/{}'));
    expect(forms).toEqual(expect.arrayContaining(ROUTES));
    expect(lines.map(({ status }) => status)).toEqual(expect.arrayContaining(STATUSES));
    expect(Object.keys(expected)).toEqual([...CHAPTERS]);
  });
});
