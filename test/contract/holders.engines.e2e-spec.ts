import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { Clock } from '@app/kernel';
import openapi from '../../openapi.json';
import type { Bot } from '../support/bot';
import { type Answer, type Json, PREFIX } from '../support/client';
import { A_TIME, expectFailure, expectFaults, expectSuccess } from '../support/expected';
import { UNKNOWN_UUID } from '../support/inputs';
import { useServiceInProcess } from '../support/service';
import { BOT_WIDE, subject, type SubjectIds } from '../support/snowflakes';
import { passes } from '../support/time';

const service = useServiceInProcess();
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
let bot: Bot;
let who: SubjectIds;
beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
});
afterEach(() => jest.restoreAllMocks());

const HOLDER = {
  key: 'database',
  kind: 'pull',
  covers: ['levels'],
  label_de: 'Datenbank',
  label_en: 'Database',
};
const view = (given: Json = {}): Json => ({
  ...HOLDER,
  public_key: null,
  open_tasks: 0,
  oldest_open_at: null,
  created_at: A_TIME,
  updated_at: A_TIME,
  ...given,
});

interface Task {
  readonly task_id: string;
  readonly user_id: string;
  readonly created_at: string;
  readonly result: string | null;
  readonly answered_at: string | null;
}
interface Tasks {
  readonly tasks: Task[];
  readonly pagination: { readonly next: string | null };
}

const register = (given: Json = {}, by = bot) => by.post('/holders', { ...HOLDER, ...given });
const tasks = async (query = '', key = 'database'): Promise<Tasks> =>
  (await bot.get<Tasks>(`/holders/${key}/tasks${query}`)).data;
const acknowledge = (id: string, body: Json = { result: 'erased' }, key = 'database', by = bot) =>
  by.post(`/holders/${key}/tasks/${id}/acknowledge`, body);
const coverage = async (id: string): Promise<unknown> =>
  (await bot.get<{ coverage?: unknown }>(`/gdpr/forget-status/${id}`)).data.coverage;
const covered = (result: string, given: Json = {}): Json => ({
  key: 'database',
  label_de: 'Datenbank',
  label_en: 'Database',
  result,
  at: A_TIME,
  ...given,
});
const reasonOf = ({ error }: Answer): unknown => error?.details?.['reason'];

describe('POST /api/v1/holders', () => {
  it('answers 201 with the holder, which is listed, read, changed and deleted', async () => {
    expectSuccess(await register(), 201, view());
    expectSuccess(await bot.get('/holders/database'), 200, view());
    expect((await bot.get('/holders')).data).toMatchObject({ holders: [view()] });
    const changed = await bot.put('/holders/database', { label_en: 'Store', covers: ['a', 'b'] });
    expectSuccess(changed, 200, view({ label_en: 'Store', covers: ['a', 'b'] }));
    expectSuccess(await bot.delete('/holders/database'), 200, {
      key: 'database',
      deleted: true,
      abandoned: 0,
    });
    expectFailure(await bot.delete('/holders/database'), 404, 'not_found');
  });

  it('answers 409 holder_exists for a key that the bot has, and 201 for the key of another bot', async () => {
    await register();
    expect(reasonOf(await register())).toBe('holder_exists');
    expect((await register({}, await service.registerBot())).status).toBe(201);
  });

  it('answers 409 limit_reached for the 21st holder, also under simultaneous calls', async () => {
    const answers = await Promise.all(
      Array.from({ length: 23 }, (_, at) => register({ key: `store_${at}` })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 409).map(reasonOf)).toEqual(
      Array.from({ length: 3 }, () => 'limit_reached'),
    );
  });

  it.each([
    ['key', 'Data-Base'],
    ['kind', 'push'],
    ['covers', []],
    ['covers', Array.from({ length: 51 }, () => 'x')],
    ['covers', ['x'.repeat(65)]],
    ['label_de', ''],
    ['label_en', 'x'.repeat(201)],
    ['public_key', 'short'],
    ['public_key', `${'A'.repeat(42)}B`],
  ])('answers 400 that names %s for %j', async (field, value) => {
    expectFaults(await register({ [field]: value }), field);
  });

  it('needs a key of scope admin, and an answer needs write', async () => {
    const key = async (...scopes: string[]): Promise<string> =>
      (await bot.post<{ api_key: string }>(`/bots/${bot.id}/keys`, { scopes })).data.api_key;
    const writer = { authorization: `Bearer ${await key('write')}` };
    expectFailure(await bot.post('/holders', HOLDER, writer), 403, 'insufficient_scope');
    await register();
    const id = await bot.hasForgotten(who);
    const path = `/holders/database/tasks/${id}/acknowledge`;
    const reader = { authorization: `Bearer ${await key('read')}` };
    expectFailure(await bot.post(path, { result: 'erased' }, reader), 403, 'insufficient_scope');
    expect((await bot.post(path, { result: 'erased' }, writer)).status).toBe(200);
  });
});

describe('an erasure of a bot', () => {
  it('without holders is answered as before, without coverage', async () => {
    const id = await bot.hasForgotten(who);
    expect(Object.keys((await bot.get(`/gdpr/forget-status/${id}`)).data)).toEqual([
      ...['request_id', 'status', 'user_id', 'guild_id', 'created_at', 'completed_at'],
      ...['unrecoverable_at', 'deleted_categories', 'webhook_sent'],
    ]);
  });

  it('makes a task with the ids for each holder, and none for a holder that is registered later', async () => {
    await register();
    await register({ key: 'cache' });
    const id = await bot.hasForgotten(who);
    await register({ key: 'late' });
    for (const key of ['database', 'cache'])
      expect((await tasks('', key)).tasks).toEqual([
        {
          task_id: id,
          act: 'erase',
          request_id: id,
          ...who,
          created_at: A_TIME,
          due_at: A_TIME,
          result: null,
          answered_at: null,
        },
      ]);
    expect((await tasks('', 'late')).tasks).toEqual([]);
    const { data } = await bot.get<{ open_tasks: number; oldest_open_at: string }>('/holders/cache');
    expect(data).toMatchObject({ open_tasks: 1, oldest_open_at: A_TIME });
    expect(await coverage(id)).toEqual({
      complete: false,
      holders: [covered('pending', { key: 'cache', at: null }), covered('pending', { at: null })],
    });
  });
});

describe('an erasure of a user in all guilds of a bot with holders', () => {
  interface Everywhere {
    readonly requests: { readonly request_id: string; readonly guild_id: string }[];
  }
  const everywhere = (idempotency: string = randomUUID()) =>
    bot.post<Everywhere>(
      '/gdpr/forget-user',
      { user_id: who.user_id, scope: 'all_guilds' },
      { 'idempotency-key': idempotency },
    );
  const guilds = async (): Promise<string[]> =>
    (await bot.get<{ tasks: SubjectIds[] }>('/holders/database/tasks')).data.tasks.map(
      ({ guild_id }) => guild_id,
    );
  beforeEach(async () => void (await register()));

  it('asks them for every guild by the bot-wide scope, although Lethe holds nothing about the user', async () => {
    const { data } = await everywhere('once');
    expect(data.requests).toMatchObject([
      { guild_id: BOT_WIDE, status: 'completed', deleted_categories: [] },
    ]);
    expect((await everywhere('once')).data).toEqual(data);
    const [{ request_id } = { request_id: '' }] = data.requests;
    expect((await tasks()).tasks).toMatchObject([
      { task_id: request_id, act: 'erase', user_id: who.user_id, guild_id: BOT_WIDE },
    ]);
    expect((await bot.get(`/gdpr/forget-status/${request_id}/certificate`)).status).toBe(200);
  });

  it.each([true, false])(
    'asks them so last, when no consent is left, and answers the guilds in order (bot-wide held: %s)',
    async (isHeld) => {
      await bot.hasConsent(who);
      if (isHeld) await bot.hasConsent({ ...who, guild_id: BOT_WIDE });
      const { data } = await everywhere();
      expect(data.requests.map(({ guild_id }) => guild_id)).toEqual([BOT_WIDE, who.guild_id]);
      expect(await guilds()).toEqual([who.guild_id, BOT_WIDE]);
    },
  );
});

describe('GET /api/v1/holders/{key}/tasks', () => {
  beforeEach(async () => void (await register()));

  it('answers 404 for an unknown holder, and for one of another bot', async () => {
    expectFailure(await bot.get('/holders/unknown/tasks'), 404, 'not_found');
    const other = await service.registerBot();
    expectFailure(await other.get('/holders/database/tasks'), 404, 'not_found');
  });

  it('walks over tasks that come and are answered meanwhile, and misses none', async () => {
    const ids = [];
    for (let count = 0; count < 5; count++) ids.push(await bot.hasForgotten(subject()));
    const first = await tasks('?page_size=2');
    expect(first.tasks.map(({ task_id }) => task_id)).toEqual(ids.slice(0, 2));
    await acknowledge(ids[1]!);
    await acknowledge(ids[2]!);
    const late = await bot.hasForgotten(subject());
    const seen = [];
    for (let { next } = first.pagination; next !== null;) {
      const page = await tasks(`?page_size=2&after=${next}`);
      seen.push(...page.tasks.map(({ task_id }) => task_id));
      ({ next } = page.pagination);
    }
    expect(seen).toEqual([...ids.slice(3), late]);
  });

  it('with since lists the open tasks, then those that were answered since, for a restored store', async () => {
    const ids = [];
    for (let count = 0; count < 4; count++) ids.push(await bot.hasForgotten(subject()));
    await acknowledge(ids[0]!);
    const ahead = passes(service, HOUR_MS);
    await acknowledge(ids[2]!);
    const { answered_at } = (await acknowledge(ids[1]!, { result: 'nothing' })).data as unknown as Task;
    const since = new Date(Date.parse(answered_at ?? '') - HOUR_MS / 2).toISOString();
    const listed = [];
    for (let after = ''; ;) {
      const page = await tasks(`?page_size=1&since=${since}${after}`);
      listed.push(...page.tasks.map(({ task_id, result }) => [task_id, result]));
      if (page.pagination.next === null) break;
      after = `&after=${page.pagination.next}`;
    }
    ahead.mockRestore();
    expect(listed.slice(0, 1)).toEqual([[ids[3], null]]);
    expect(listed.slice(1).sort()).toEqual(
      [
        [ids[1], 'nothing'],
        [ids[2], 'erased'],
      ].sort(),
    );
  });

  it('answers 400 for a since that is no time, and for a cursor of another holder', async () => {
    for (const since of ['yesterday', '9999-12-31T23:59:59-01:00', '0000-01-01T00:00:00%2B01:00'])
      expectFaults(await bot.get(`/holders/database/tasks?since=${since}`), 'since');
    await register({ key: 'cache' });
    for (let count = 0; count < 2; count++) await bot.hasForgotten(subject());
    const { next } = (await tasks('?page_size=1')).pagination;
    expectFaults(await bot.get(`/holders/cache/tasks?page_size=1&after=${next}`), 'after');
  });
});

describe('POST /api/v1/holders/{key}/tasks/{task_id}/acknowledge', () => {
  let id: string;
  beforeEach(async () => {
    await register();
    id = await bot.hasForgotten(who);
  });

  it('answers 200 with the result, which the erasure shows as complete', async () => {
    const answer = await acknowledge(id.toUpperCase(), { result: 'erased', counts: { rows: 3 } });
    expect(answer.status).toBe(200);
    expect(answer.data).toMatchObject({ task_id: id, ...who, result: 'erased', answered_at: A_TIME });
    expect((await tasks()).tasks).toEqual([]);
    expect(await coverage(id)).toEqual({ complete: true, holders: [covered('erased')] });
  });

  it('answers 200 to the same final answer again, and 409 task_answered to another one', async () => {
    const first = await acknowledge(id, { result: 'erased', counts: { rows: 3 } });
    expect((await acknowledge(id, { result: 'erased', counts: { rows: 3 } })).data).toEqual(first.data);
    for (const body of [
      { result: 'nothing' },
      { result: 'erased', counts: { rows: 4 } },
      { result: 'failed' },
    ])
      expect(reasonOf(await acknowledge(id, body))).toBe('task_answered');
  });

  it('failed leaves the task open, and can be answered again', async () => {
    await acknowledge(id, { result: 'failed' });
    expect((await tasks()).tasks).toMatchObject([{ result: 'failed', answered_at: A_TIME }]);
    expect(await coverage(id)).toEqual({ complete: false, holders: [covered('failed')] });
    expect((await acknowledge(id, { result: 'nothing' })).status).toBe(200);
    expect(await coverage(id)).toEqual({ complete: true, holders: [covered('nothing')] });
  });

  it('kept can be followed by kept until a later time, with the time of that answer', async () => {
    const until = (year: number) => ({ basis: `of ${year}`, until: `${year}-01-01T00:00:00.000Z` });
    const kept = (year: number) => acknowledge(id, { result: 'kept', kept: until(year) });
    await kept(2030);
    passes(service, 60_000);
    const later = (await kept(2031)).data as unknown as Task;
    const at = later.answered_at;
    expect(Date.parse(at ?? '')).toBeGreaterThan(Date.parse(later.created_at) + 50_000);
    expect(await coverage(id)).toMatchObject({
      complete: true,
      holders: [{ result: 'kept', at, kept: until(2031) }],
    });
    expect(reasonOf(await kept(2030))).toBe('task_answered');
    passes(service, 0);
  });

  it('kept until a time that is over is refused, and one that ends later stays', async () => {
    const kept = (ms: number) => {
      const until = new Date(service.app.get(Clock, { strict: false }).nowMs() + ms).toISOString();
      return { result: 'kept', kept: { basis: 'x', until } };
    };
    for (const over of [kept(-1), { result: 'kept', kept: { basis: 'x', until: '1999-01-01T00:00:00Z' } }]) {
      const answer = await acknowledge(id, over);
      expectFaults(answer, 'kept');
      expect(answer.text).toContain('in the future: what is no longer kept has to be erased');
    }
    expect(await coverage(id)).toMatchObject({ complete: false });
    const answer = kept(60_000);
    expect((await acknowledge(id, answer)).status).toBe(200);
    passes(service, 120_000);
    expect((await acknowledge(id, answer)).status).toBe(200);
    expectFaults(await acknowledge(id, kept(-30_000)), 'kept');
    expect(await coverage(id)).toMatchObject({ complete: true, holders: [{ kept: answer.kept }] });
    expect((await acknowledge(id)).status).toBe(200);
    passes(service, 0);
  });

  it('kept names basis and end, and can be followed by erased', async () => {
    const kept = { basis: 'Tax law', until: '2030-01-01T00:00:00+01:00' };
    await acknowledge(id, { result: 'kept', kept });
    const shown = { basis: 'Tax law', until: '2029-12-31T23:00:00.000Z' };
    expect(await coverage(id)).toEqual({ complete: true, holders: [covered('kept', { kept: shown })] });
    for (const other of [{ basis: 'x' }, { until: '2029-12-31T22:59:59.999Z' }])
      expect(reasonOf(await acknowledge(id, { result: 'kept', kept: { ...kept, ...other } }))).toBe(
        'task_answered',
      );
    expect((await acknowledge(id)).status).toBe(200);
    expect(await coverage(id)).toEqual({ complete: true, holders: [covered('erased')] });
    expect(reasonOf(await acknowledge(id, { result: 'nothing' }))).toBe('task_answered');
  });

  it.each([
    ['result', { result: 'pending' }],
    ['kept', { result: 'kept' }],
    ['kept', { result: 'erased', kept: { basis: 'x', until: '2030-01-01T00:00:00Z' } }],
    ['kept', { result: 'kept', kept: { basis: '', until: '2030-01-01T00:00:00Z' } }],
    ['kept', { result: 'kept', kept: { basis: 'x', until: '2030' } }],
    ['kept', { result: 'kept', kept: { basis: 'x', until: '9999-12-31T23:59:59-14:00' } }],
    ['counts', { result: 'erased', counts: { rows: -1 } }],
    ['counts', { result: 'erased', counts: { rows: 0.5 } }],
    ['counts', { result: 'erased', counts: [1] }],
    ['counts', { result: 'erased', counts: Object.fromEntries([...'x'.repeat(51)].map((_, at) => [at, 1])) }],
    ['statement', { result: 'erased', statement: 'a.b.c' }],
  ])('answers 400 that names %s for %j', async (field, body) => {
    expectFaults(await acknowledge(id, body), field);
    expect((await tasks()).tasks).toMatchObject([{ result: null }]);
  });

  it('answers 400 that names counts for -0, which would be stored as another number', async () => {
    const path = `${PREFIX}/holders/database/tasks/${id}/acknowledge`;
    const raw = '{"result":"erased","counts":{"rows":-0}}';
    const headers = { 'content-type': 'application/json' };
    expectFaults(await bot.send('POST', path, { raw, headers }), 'counts');
  });

  it('answers 404 for a task of another holder or bot, and for an unknown one', async () => {
    await register({ key: 'late' });
    const other = await service.registerBot();
    await register({}, other);
    expectFailure(await acknowledge(id, undefined, 'late'), 404, 'not_found');
    expectFailure(await acknowledge(id, undefined, 'database', other), 404, 'not_found');
    expectFailure(await acknowledge(UNKNOWN_UUID), 404, 'not_found');
    expectFailure(await acknowledge(id, undefined, 'unknown'), 404, 'not_found');
    expect((await tasks()).tasks).toMatchObject([{ result: null }]);
  });

  it('has one final answer of several at once', async () => {
    const results = ['erased', 'nothing', 'erased', 'nothing', 'erased', 'nothing'];
    const answers = await Promise.all(results.map((result) => acknowledge(id, { result })));
    const won = results.filter((_, at) => answers[at]?.status === 200);
    expect(new Set(won).size).toBe(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(3);
    expect(await coverage(id)).toMatchObject({ holders: [{ result: won[0] }] });
  });

  it('answers a repeat by its Idempotency-Key without a copy of the ids in the stored answer', async () => {
    const send = () =>
      bot.post(`/holders/database/tasks/${id}/acknowledge`, { result: 'erased' }, { 'idempotency-key': 'k' });
    const first = await send();
    expect((await send()).data).toEqual(first.data);
  });
});

describe('a task without an answer', () => {
  it('is overdue from the 14th day on, and not before', async () => {
    await register();
    const id = await bot.hasForgotten(who);
    const result = async () => ((await coverage(id)) as { holders: { result: string }[] }).holders[0]?.result;
    passes(service, 14 * DAY_MS - HOUR_MS);
    expect(await result()).toBe('pending');
    passes(service, 14 * DAY_MS);
    expect(await result()).toBe('overdue');
    passes(service, 0);
  });
});

describe('DELETE /api/v1/holders/{key}', () => {
  it('answers 409 while a task is open; with abandon the erasures say that it never answered', async () => {
    await register();
    const [first, second] = [await bot.hasForgotten(who), await bot.hasForgotten(subject())];
    await acknowledge(first);
    expect(reasonOf(await bot.delete('/holders/database'))).toBe('holder_has_open_tasks');
    const deleted = await bot.delete('/holders/database?abandon=true');
    expectSuccess(deleted, 200, { key: 'database', deleted: true, abandoned: 1 });
    expect(await coverage(first)).toEqual({ complete: true, holders: [covered('erased')] });
    expect(await coverage(second)).toEqual({ complete: false, holders: [covered('abandoned')] });
    await register();
    const shown = (await tasks('?since=2026-01-01T00:00:00Z')).tasks.map(({ result }) => result);
    expect(shown).toEqual(['erased', 'abandoned']);
    expect(openapi.components.schemas.TaskView.properties.result.enum).toEqual(expect.arrayContaining(shown));
  });

  it('leaves what was answered as it was declared, also when the key is registered anew', async () => {
    await register();
    const id = await bot.hasForgotten(who);
    await acknowledge(id);
    await bot.delete('/holders/database');
    await register({ label_en: 'Another store' });
    expect(await coverage(id)).toEqual({ complete: true, holders: [covered('erased')] });
    expect((await tasks()).tasks).toEqual([]);
  });
});

describe('the statement of a holder with a public key', () => {
  let id: string;
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const header = { alg: 'EdDSA', typ: 'lethe-holder-answer+jwt' };

  beforeEach(async () => {
    await register({ public_key: publicKey.export({ format: 'jwk' }).x });
    id = await bot.hasForgotten(who);
  });

  const payload = (given: Json = {}): Json => ({
    bot_id: bot.id,
    holder: 'database',
    task_id: id,
    result: 'erased',
    counts: { rows: 2 },
    kept: null,
    at: '2026-01-01T00:00:00Z',
    ...given,
  });
  const signed = (content: unknown, head: unknown = header, key?: KeyObject): string =>
    signedAs(
      [head, content].map((part) => JSON.stringify(part)),
      key,
    );
  function signedAs(texts: readonly string[], key: KeyObject = privateKey): string {
    const text = texts.map((part) => Buffer.from(part).toString('base64url')).join('.');
    return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
  }
  const texts = (): string[] => [header, payload()].map((part) => JSON.stringify(part, null, 2));
  const answered = (statement: unknown, counts: Json = { rows: 2 }) =>
    acknowledge(id, { result: 'erased', counts, statement });

  it('is required, and accepted when it says what the answer says', async () => {
    expectFaults(await answered(undefined), 'statement');
    expect((await answered(signed(payload()))).status).toBe(200);
    expect(await coverage(id)).toMatchObject({ complete: true });
  });

  it('may have spaces, and names that look like others', async () => {
    const counts = { rows: 2, '"rows":': 1, 'rows\\': 0, result: 1 };
    const text = [header, payload({ counts })].map((part) => JSON.stringify(part, null, 2));
    expect((await answered(signedAs(text), counts)).status).toBe(200);
  });

  it.each([
    ['three parts', () => 'a.b', 'compact JWS'],
    ['the header', () => signed(payload(), { ...header, alg: 'none' }), 'header'],
    ['the type', () => signed(payload(), { ...header, typ: 'JWT' }), 'header'],
    ['an object as payload', () => signed([1]), 'JSON object'],
    [
      'each name once',
      () => signedAs(texts().map((text) => text.replace('"result"', '"result" : "nothing", "result"'))),
      'each name once',
    ],
    [
      'each name once in the counts',
      () => signedAs(texts().map((text) => text.replace('"rows"', '"rows":3, "ro\\u0077s"'))),
      'each name once',
    ],
    ['no further name', () => signed(payload({ more: 1 })), 'exactly'],
    ['every name', () => signed(payload({ kept: undefined })), 'exactly'],
    ['the bot', () => signed(payload({ bot_id: UNKNOWN_UUID })), 'bot_id'],
    ['the holder', () => signed(payload({ holder: 'cache' })), 'the holder of this answer'],
    ['the task', () => signed(payload({ task_id: UNKNOWN_UUID })), 'task_id'],
    ['the result', () => signed(payload({ result: 'nothing' })), 'the result'],
    ['the counts', () => signed(payload({ counts: { rows: 3 } })), 'the counts'],
    ['what is kept', () => signed(payload({ kept: { basis: 'x', until: 'y' } })), 'the kept'],
    ['a time', () => signed(payload({ at: 'now' })), 'must have at'],
    [
      'the signature of its key',
      () => signed(payload(), header, generateKeyPairSync('ed25519').privateKey),
      'signature',
    ],
    ['an unchanged text', () => `${signed(payload()).slice(0, -86)}${'A'.repeat(86)}`, 'signature'],
  ])('answers 400 that says so without %s', async (_, statement, said) => {
    const answer = await answered(statement());
    expectFaults(answer, 'statement');
    expect(answer.text).toContain(said);
    expect((await tasks()).tasks).toMatchObject([{ result: null }]);
  });
});
