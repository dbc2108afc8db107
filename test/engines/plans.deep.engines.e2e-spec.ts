import { KeyUses } from '@app/bots';
import { EvidenceRetentionJob, HolderAnswersRetention, KeyRewriteJob } from '@app/gdpr';
import { IdempotencyRetention } from '@app/acts';
import { Clock } from '@app/kernel';
import { PrivacyLinksRetention } from '@app/pages';
import { StatsRetention } from '@app/reports';
import { CategoryRetention, WithdrawnDataErasure } from '@app/user-data';
import openapi from '../../openapi.json';
import { ownPaths } from '../support/further-modules';
import { type Bot, field } from '../support/bot';
import { Client, PREFIX } from '../support/client';
import { engine } from '../support/database';
import { periodicJobs, runNow } from '../support/jobs';
import { Plans } from '../support/plans';
import { useReceiver } from '../support/receiver';
import { exported } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';
import { SqlLog } from '../support/sql-log';
import { ago } from '../support/time';

/** Queries of jobs over all bots, which find the bots with work; and those of links, which are few. */
const JOBS: readonly (readonly [string, RegExp])[] = [
  ['the link with a token, which names no bot', /FROM privacy_links WHERE token = /],
  [
    'the links of a user in every guild, among at most 10,000 of a bot',
    /^DELETE FROM privacy_links WHERE bot_id = \S+ AND user_id = /,
  ],
  ['which bots have calls that are due', /^WITH RECURSIVE waiting/],
  [
    'which bots have a changed URL whose calls are not moved yet',
    /^SELECT bot_id FROM webhook_url_changes ORDER BY/,
  ],
  ['how many calls wait, for the metrics', /looked_at/],
  ['how many erasures are under way, for the metrics', /AS processing/],
  ['the oldest erasure that is recoverable, for the metrics', /^SELECT completed_at FROM deletion_requests/],
  ['erasures that were left behind', /FROM "?deletion_requests"?.* WHERE \(*("\w+"\.)?"?status"? = [^A]*$/s],
  ['erasures that were left behind for long', /FROM deletion_requests WHERE status = .* LIMIT 1$/],
  ['how far nobody is left who writes events, for the seals', /audit_events_seq$|FROM pg_locks/],
  [
    'the rewrite of the tables of all keys',
    /keys\.(removed_keys|key_rewrite)|^WITH few|FROM keys.subject_keys_[ab] ORDER BY/,
  ],
  [
    'keys without a subject, of all bots',
    /^SELECT id FROM keys\.subject_keys WHERE id > |^SELECT key_id AS id FROM subjects WHERE key_id/,
  ],
  [
    'how many users there are, for the operator',
    /FROM subjects LIMIT 10000\) found$|FROM subjects WHERE \(bot_id, guild_id, user_id\) > \(/,
  ],
  ['which master keys are used, for the operator', / AS key_id FROM \S+\s+WHERE/],
  [
    'the ledger of all bots, for the operator',
    /FROM keys.erasure_ledger\s+WHERE \(bot_id, request_id\) > \(\S+, \S+\)\s+ORDER BY/,
  ],
  ['erasures that wait for their time', /^SELECT bot_id, id, key_id FROM deletion_requests/],
  ['the next bot whose calls expire', /^SELECT MIN\(bot_id\)/],
  ['the next bot with something that ages', /^SELECT bot_id FROM [\w.]+ WHERE bot_id > \S+ .*LIMIT 1$/],
];

const OPERATOR_TOKEN = 'o'.repeat(40);
const RATE_LIMIT_TIERS = 'free=1000000,high=2000000';
const service = useServiceInProcess({ WEBHOOK_RETRY_SCHEDULE: '1h', OPERATOR_TOKEN, RATE_LIMIT_TIERS });
const receiver = useReceiver();
const log = new SqlLog();
const answered = new Set<string>();
let plans: Plans;

beforeAll(async () => {
  plans = await new Plans(service.database).prepare();
});
beforeAll(async () => {
  log.open();
  receiver.status = 500;
  const bot = await service.registerBot({ webhook_url: receiver.url });
  answered.add('post /bots/register');
  const guild = snowflake();
  const people = Array.from({ length: 6 }, () => ({ user_id: snowflake(), guild_id: guild }));
  noted(bot);
  await declares(bot, guild);
  for (const who of people) await lives(bot, who);
  await atOnce(bot, people);
  await lists(bot, people[0]!);
  await states(bot);
  await calls(bot);
  await operates(bot);
  await forgets(bot, people[1]!);
  await ages(bot, people[2]!, people[3]!);
  await bot.delete(`/servers/${guild}`);
  for (const key of ['profile', 'stats']) await bot.delete(`/data/categories/${key}`);
  await bot.delete(`/bots/${bot.id}`);
  log.close();
});
afterAll(() => log.close());

/** From now on every success of the bot counts as a route that was called, and every second POST has an idempotency key. */
function noted(bot: Bot): void {
  const send = bot.send.bind(bot);
  const templates = Object.keys(openapi.paths).map((path) => path.slice(PREFIX.length));
  let posts = 0;
  bot.send = async <T>(...[method, path, options]: Parameters<Bot['send']>) => {
    const isKeyed = method === 'POST' && ++posts % 2 === 0;
    const headers = { ...options?.headers, ...(isKeyed && { 'idempotency-key': `${posts}` }) };
    const answer = await send<T>(method, path, { ...options, headers });
    const bare = path.slice(PREFIX.length).replace(/\?.*/, '');
    const matching = templates.filter((one) =>
      new RegExp(`^${one.replace(/\{\w+\}/g, '[^/]+')}$`).test(bare),
    );
    // The literal path before the one with a parameter.
    const [template] = matching.sort((a, b) => a.split('{').length - b.split('{').length);
    if (answer.status < 300) answered.add(`${method.toLowerCase()} ${template}`);
    return answer;
  };
}

async function declares(bot: Bot, guild: string): Promise<void> {
  await bot.put(`/bots/${bot.id}`, { name: 'Renamed' });
  for (const id of ['me', bot.id, `${bot.id}/keys`]) await bot.get(`/bots/${id}`);
  const made = await bot.post<{ id: string }>(`/bots/${bot.id}/keys`, {});
  await bot.post(`/bots/${bot.id}/keys/rotate`, {});
  await bot.delete(`/bots/${bot.id}/keys/${made.data.id}`);
  await service.app.get(KeyUses).write();
  await bot.post(`/bots/${bot.id}/webhook-secret/rotate`, {});
  await bot.post('/servers/register', { guild_id: guild });
  await bot.get('/servers');
  await bot.hasCategory('profile', [field('value'), field('extra', 'json')]);
  await bot.hasCategory('notes');
  await bot.hasCategory('stats', [field('value')], { legal_basis: 'public_task' });
  await bot.put('/data/categories/profile', { label_en: 'Other' });
  await bot.get('/data/categories/profile');
  await bot.get('/data/categories');
  const labels = { label_de: 'Datenbank', label_en: 'Database' };
  for (const key of ['db', 'cache', 'called'])
    await bot.post('/holders', {
      key,
      kind: key === 'called' ? 'webhook' : 'pull',
      covers: ['x'],
      ...labels,
    });
  await bot.put('/holders/db', { label_en: 'Store' });
  await bot.get('/holders/db');
  await bot.get('/holders');
  await bot.put(`/bots/${bot.id}/notice-settings`, { controller_name: 'Robin' });
  await bot.get(`/bots/${bot.id}/notice-settings`);
  await bot.get(`/bots/${bot.id}/processing-record`);
  await bot.get(`/bots/${bot.id}/review-dossier`);
  await bot.get('/audit/breach-scope?from=2026-01-01T00:00:00Z&to=2026-12-31T00:00:00Z');
  await bot.get('/stats?bucket=hour');
}

async function lives(bot: Bot, who: SubjectIds): Promise<void> {
  await isAsked(bot, who);
  await bot.hasConsent(who);
  await reads(bot, who);
  await bot.hasData(who, 'profile', { value: 'x' });
  await bot.hasData(who, 'notes', { value: 'x' });
  await bot.post('/data/submit', { ...who, category: 'profile', data: { extra: {} }, mode: 'merge' });
  await bot.post('/data/submit', { ...who, category: 'notes', data: { value: null } });
  await bot.post('/audit/event', { ...who, event_type: 'data_exported', details: { text: 'x' } });
  await bot.export(who);
  await bot.export(who, '&format=full');
  await bot.get(`/data/export/${who.user_id}?scope=all_guilds`);
  await values(bot, who);
  await refuses(bot, who);
}

/** Values read back, of a user and of a guild, and erased. */
async function values(bot: Bot, { user_id, guild_id }: SubjectIds): Promise<void> {
  await bot.get(`/data/values/${user_id}?guild_id=${guild_id}`);
  for (const page of [1, 2])
    await bot.get(`/data/values?guild_id=${guild_id}&category=profile&page_size=1&page=${page}`);
  const path = `/data/values/${user_id}?guild_id=${guild_id}&category=profile`;
  await bot.get(path);
  await bot.delete(path);
  await bot.hasData({ user_id, guild_id }, 'profile', { value: 'x' });
}

/** Objections to one category and to all, and restrictions; those of one category stay until it is deleted. */
async function refuses(bot: Bot, who: SubjectIds): Promise<void> {
  await bot.hasData(who, 'stats', { value: 'x' });
  for (const about of [{ category: 'stats' }, {}]) {
    await bot.post('/data/object', { ...who, ...about });
    await bot.post('/data/restrict', { ...who, ...about });
  }
  await bot.post('/data/submit', { ...who, category: 'stats', data: { value: 'y' } });
  await bot.get(`/data/refusals/${who.user_id}?guild_id=${who.guild_id}`);
  await bot.export(who, '&format=full');
  await bot.post('/data/unrestrict', who);
  await bot.post('/data/restrict', { ...who, category: 'stats' });
  await bot.post('/data/restrict', { ...who, category: 'notes' });
  await bot.post('/data/unrestrict', { ...who, category: 'notes' });
}

/** A user with a request with registered texts, and another one with other texts, in both shapes. */
async function isAsked(bot: Bot, who: SubjectIds): Promise<void> {
  const text = { consent_version: '1.0', title: 'x', body: 'x', jurisdiction: 'x' };
  for (const language of ['en', 'de']) await bot.post('/consents/texts', { ...text, language });
  const ask = (language: string) =>
    bot.post<{ id: string }>('/consents/request', { ...who, consent_version: '1.0', language });
  await ask('en');
  await bot.post('/consents/decline', { consent_id: (await ask('de')).data.id });
  const asked = { user_id: who.user_id, bot_id: bot.id, categories: ['profile'] };
  for (const consent_version of [undefined, '1.0'])
    await bot.post('/consents/request', { ...asked, consent_version });
  await bot.post('/consents/accept', { ...who, guild_id: '0'.repeat(17), consent_version: '1.0' });
}

/** The proofs of a consent. */
async function reads(bot: Bot, who: SubjectIds): Promise<void> {
  const query = `user_id=${who.user_id}&guild_id=${who.guild_id}`;
  for (const path of ['receipt', 'history', 'history&page=2&page_size=1'])
    await bot.get(`/consents/${path.replace(/&|$/, (rest) => `?${query}${rest}`)}`);
  await bot.get('/consents/texts');
  const shown = await service.database.rows<{ digest: string }>(
    `SELECT digest FROM consent_words WHERE bot_id = ? AND content LIKE '[%'`,
    bot.id,
  );
  await bot.get(`/consents/texts/${shown[0]?.digest}`);
  await bot.get('/consents/texts?consent_version=1.0&page_size=1&page=2');
}

/** Acts that share a statement or transaction with others of their kind. */
async function atOnce(bot: Bot, people: readonly SubjectIds[]): Promise<void> {
  const submit = (who: SubjectIds) =>
    bot.post('/data/submit', { ...who, category: 'profile', data: { value: 'y' } });
  for (let round = 0; round < 3; round++) {
    await Promise.all(people.map((who) => bot.status(who)));
    await Promise.all(people.map(submit));
  }
  for (const categories of [undefined, ['profile']]) {
    const asked = { consent_version: '3', categories };
    const requests = await Promise.all(
      people.map((who) => bot.post<{ id: string }>('/consents/request', { ...who, ...asked })),
    );
    await Promise.all(
      people.map((who, at) =>
        bot.post(
          '/consents/accept',
          at % 2 === 0 ? { ...who, categories } : { consent_id: requests[at]?.data.id, categories },
        ),
      ),
    );
  }
  const items = people.map((who) => ({ ...who, category: 'profile', data: { value: 'z' } }));
  for (let round = 0; round < 2; round++) await bot.post('/data/submit/batch', { items });
  await bot.post('/consents/status/batch', { items: people });
  await Promise.all([service.registerBot(), service.registerBot()]);
}

/** What a store has, for an export. */
async function states(bot: Bot): Promise<void> {
  const { tasks } = (await bot.get<{ tasks: { task_id: string }[] }>('/holders/db/tasks')).data;
  for (const [at, { task_id: id }] of tasks.entries())
    await bot.post(
      `/holders/db/tasks/${id}/acknowledge`,
      at === 0 ? { result: 'failed' } : { result: 'exported', data: {} },
    );
}

async function lists(bot: Bot, { user_id, guild_id }: SubjectIds): Promise<void> {
  for (const user of ['', `user_id=${user_id}&`])
    for (const guild of ['', `guild_id=${guild_id}&`])
      for (const type of ['', 'event_type=data_submitted&'])
        for (const page of [1, 2])
          await bot.get(`/audit/events?${user}${guild}${type}page_size=1&page=${page}`);
  const { events } = (await bot.get<{ events: { id: string }[] }>('/audit/events')).data;
  await users(bot, [`user_id=${user_id}&`, `guild_id=${guild_id}&`]);
  await bot.get(`/audit/proof/${events[0]?.id}`);
  await bot.get('/audit/checkpoints');
  await exported(bot);
  answered.add('get /audit/export');
}

/** The list of users, filtered in every way, in both orders, from the beginning and behind a page. */
async function users(bot: Bot, [user, guild]: readonly [string, string]): Promise<void> {
  for (const named of ['', user, guild, user + guild])
    for (const order of ['key', 'recent'])
      for (const filter of ['', '&status=accepted&category=profile']) {
        const path = `/users?${named}order=${order}${filter}&page_size=1`;
        const { pagination } = (await bot.get<{ pagination: { next: string | null } }>(path)).data;
        if (pagination.next !== null) await bot.get(`${path}&after=${pagination.next}`);
      }
}

async function calls(bot: Bot): Promise<void> {
  const who = subject();
  await bot.hasConsent(who);
  await bot.hasRevoked(who);
  await receiver.received(1);
  await bot.post('/webhooks/test', {});
  const since = ago(60_000);
  await bot.post('/webhooks/replay', { since });
  await bot.post('/webhooks/replay', { since, undelivered_only: true });
  const path = '/webhooks/deliveries';
  for (const filter of ['', `?user_id=${who.user_id}`, '?status=pending', '?event=ping&status=pending'])
    await bot.get(path + filter);
  const { deliveries } = (await bot.get<{ deliveries: { id: string }[] }>(path)).data;
  await bot.get(`${path}/${deliveries[0]?.id}`);
  await bot.post(`${path}/${deliveries[0]?.id}/redeliver`, {});
}

/** What the operator asks and does. */
async function operates({ id }: Bot): Promise<void> {
  const operator = new Client(service.url, OPERATOR_TOKEN);
  for (const path of ['status', 'findings', 'storage', 'bots']) {
    expect((await operator.get(`/operator/${path}`)).status).toBe(200);
    answered.add(`get /operator/${path}`);
  }
  for (const act of ['suspend', 'resume']) {
    expect((await operator.post(`/operator/bots/${id}/${act}`)).status).toBe(200);
    answered.add(`post /operator/bots/{id}/${act}`);
  }
  expect((await operator.put(`/operator/bots/${id}/tier`, { tier: 'high' })).status).toBe(200);
  answered.add('put /operator/bots/{id}/tier');
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const ledger = await fetch(`${service.url}${PREFIX}/operator/ledger`, { headers });
  expect(await ledger.text()).toContain('"entries":');
  answered.add('get /operator/ledger');
}

async function forgets(bot: Bot, who: SubjectIds): Promise<void> {
  await shows(bot, who);
  const id = await bot.hasForgotten(who);
  const path = `/gdpr/forget-status/${id}`;
  await bot.get(path);
  await bot.get('/holders/db/tasks');
  await bot.post(`/holders/db/tasks/${id}/acknowledge`, { result: 'erased' });
  await bot.get('/holders/db/tasks?since=2026-01-01T00:00:00Z');
  await bot.delete('/holders/cache?abandon=true');
  await bot.get(`${path}/certificate`);
  // The task of the deleted holder is abandoned, so only a later erasure has a final certificate.
  const later = await bot.hasForgotten(who);
  await bot.post(`/holders/db/tasks/${later}/acknowledge`, { result: 'erased' });
  await bot.post(`/holders/called/tasks/${later}/acknowledge`, { result: 'nothing' });
  await bot.get(`/gdpr/forget-status/${later}/final-certificate`);
  await bot.post('/gdpr/forget-user', { user_id: who.user_id, scope: 'all_guilds' });
}

/** Links of both kinds; each page is opened. */
async function shows(bot: Bot, who: SubjectIds): Promise<void> {
  const everywhere = { user_id: who.user_id, scope: 'all_guilds' };
  for (const about of [who, who, everywhere, everywhere]) {
    const { id, url } = (await bot.post<{ id: string; url: string }>('/privacy-links', about)).data;
    await fetch(url);
    if (about === everywhere) await bot.delete(`/privacy-links/${id}`);
  }
}

const AGING = [
  HolderAnswersRetention,
  WithdrawnDataErasure,
  CategoryRetention,
  EvidenceRetentionJob,
  KeyRewriteJob,
];

/** The work of the jobs. */
async function ages(bot: Bot, revoked: SubjectIds, narrowed: SubjectIds): Promise<void> {
  await bot.hasRevoked(revoked);
  await bot.status(revoked);
  await bot.post('/consents/revoke', { ...narrowed, categories: ['notes'] });
  await bot.put('/data/categories/profile', { retention_days: 40 });
  const path = `/servers/${revoked.guild_id}`;
  await bot.delete(`${path}?grace_days=1`);
  await bot.post(`${path}/cancel-deletion`, {});
  // On a slow machine every job comes of itself while the statements are seen: all are seen always.
  for (const job of periodicJobs(service)) await runNow(service, job);
  const clock = jest.spyOn(service.app.get(Clock), 'nowMs');
  for (const days of [35, 50, 1_200]) {
    clock.mockReturnValue(Date.now() + days * 86_400_000);
    for (const job of [...AGING, IdempotencyRetention, PrivacyLinksRetention, StatsRetention])
      await runNow(service, job);
  }
  clock.mockRestore();
}

async function faulty(statements: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const sql of statements) {
    if (JOBS.some(([, pattern]) => pattern.test(sql))) continue;
    const faults = await plans.faults(sql);
    if (faults.length > 0) found.push(`${sql.replace(/\s+/g, ' ')}\n  ${faults.join('\n  ')}`);
  }
  return found;
}

describe('the statements that all routes run', () => {
  it('were all seen: every route of the interface has succeeded once', () => {
    const routes = Object.entries(ownPaths(openapi.paths)).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path.slice(PREFIX.length)}`),
    );
    expect(routes.filter((route) => !answered.has(route))).toStrictEqual([]);
    expect(log.statements().length).toBeGreaterThan(80);
  });

  it("reach no other bot's rows, and never look at rows of others to find a user's: an index finds them", async () => {
    expect(await faulty(log.statements())).toStrictEqual([]);
  });
});

describe('the list of the tasks of a holder', () => {
  it.each([
    ['tasks to erase', 'holder_tasks', 'created_at, request_id'],
    ['tasks to export', 'holder_exports', 'held.created_at, held.task_id'],
    ['answered tasks', 'holder_tasks', 'answered_at, request_id'],
  ])('has the order of an index for %s, so that none are sorted', async (_, table, order) => {
    const found = log
      .statements()
      .filter(
        (sql) => sql.includes(`FROM ${table}`) && new RegExp(`ORDER BY ${order} LIMIT \\d+$`).test(sql),
      );
    expect(found.length).toBeGreaterThan(0);
    for (const sql of found) expect(await plans.sorts(sql)).toBe(false);
  });
});

describe('the search of a sweep for bots with certain rows', () => {
  it('reads an index that has only those', async () => {
    const searches = log
      .statements()
      .filter((sql) => /^SELECT MIN\(bot_id\) AS bot_id FROM \w+ WHERE bot_id > \S+ AND (?!TRUE$)/.test(sql));
    expect(searches.length).toBeGreaterThanOrEqual(2);
    for (const sql of searches) expect(await plans.indexes(sql)).toEqual([expect.stringMatching(/ WHERE /)]);
  });
});

describe('the list of users', () => {
  /** What names the users to look at; what is read of them names their places. */
  const places = () =>
    log
      .statements()
      .filter((sql) =>
        /^SELECT guild_id, user_id(, seq\b[^]*)?\s+FROM (subjects|audit_events)/.test(sql.trim()),
      );

  it('looks at a bounded number of users for a page, whatever the filters are', () => {
    expect(places()).toHaveLength(8);
    for (const sql of places()) expect(sql).toMatch(/LIMIT \S+$/);
    const recent = places().filter((sql) => sql.includes('audit_events'));
    expect(recent).toHaveLength(4);
    for (const sql of recent) expect(sql).toMatch(/ORDER BY seq DESC LIMIT 500$/);
  });

  it('has the order of an index, so that no users are sorted', async () => {
    for (const sql of places().filter((text) => !text.includes('audit_events')))
      expect(await plans.sorts(sql)).toBe(false);
  });

  it('reads no event twice on a walk with order=recent: a page begins where the one before has ended', async () => {
    const bot = await service.registerBot();
    const people = [subject(), subject(), subject()];
    for (const who of people) await bot.hasConsent(who);
    const [last, , busy] = people;
    for (const [at, who] of [busy!, last!].entries()) {
      const { guild_id, user_id } = service.stored(bot, who);
      await service.database.run(
        `INSERT INTO audit_events (bot_id, seq, id, guild_id, user_id, event_type, source, details, created_at)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
         SELECT ?, (SELECT MAX(seq) FROM audit_events) + i, '${bot.id.slice(-12)}-${at}-' || i, ?, ?, 'data_exported', 'bot', 'null', '2026-01-01T00:00:00.000Z' FROM n`,
        ...[bot.id, guild_id, user_id],
      );
    }
    const counts: number[] = [];
    const listed: unknown[] = [];
    for (let next: string | null = ''; next !== null;) {
      const counting = new SqlLog().open();
      const after: string = next === '' ? '' : `&after=${next}`;
      const { data }: { data: Walked } = await bot.get<Walked>(`/users?order=recent&page_size=1${after}`);
      counting.close();
      counts.push(counting.runsOf(/^SELECT guild_id, user_id, seq/));
      listed.push(data.users[0]?.user_id);
      ({ next } = data.pagination);
    }
    expect(listed).toEqual([last!.user_id, busy!.user_id, people[1]!.user_id]);
    // 1,206 events are three portions, and 605 behind the first one of the other user are two.
    expect(counts).toEqual([3, 3, 2]);
  });
});

describe('this test', () => {
  it.each([
    ['crosses tenants', 'SELECT user_id FROM consents'],
    ['crosses tenants by an index', "SELECT bot_id FROM webhook_deliveries WHERE status = 'pending'"],
    ['counts the events of all bots', 'SELECT COUNT(*) AS total FROM audit_events'],
    ['finds a bot by a sequence', 'SELECT id FROM audit_events WHERE seq = 1'],
    ['looks at all keys', 'SELECT sealed FROM keys.subject_keys'],
    ['finds a key by its text', 'DELETE FROM keys.subject_keys WHERE sealed = ?'],
    ['looks at all users to find one', `DELETE FROM user_data WHERE bot_id = ? AND user_id = ?`],
  ])('tells of a statement that %s', async (_, text) => {
    let count = 0;
    const sql = engine === 'sqlite' ? text : text.replace(/\?/g, () => `$${++count}`);
    expect(await faulty([sql])).toHaveLength(1);
  });
});

interface Walked {
  readonly users: readonly SubjectIds[];
  readonly pagination: { readonly next: string | null };
}
