import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import Ajv from 'ajv/dist/2020';
import schema from '../../docs/export-schema.json';
import { HolderAnswersRetention } from '@app/gdpr';
import type { LetheHttpAdapter } from '@app/http';
import { ApiError } from '@app/kernel';
import type { Bot } from '../support/bot';
import { type Answer, type Json, PREFIX } from '../support/client';
import { A_TIME, expectFailure, expectFaults, expectSuccess } from '../support/expected';
import { UNKNOWN_UUID } from '../support/inputs';
import { runNow } from '../support/jobs';
import { forgetInMemory } from '../support/opened-keys';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';
import { passes } from '../support/time';

const service = useServiceInProcess();
const ajv = new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true, allErrors: true });
const validate = ajv.compile(schema);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DATA = { messages: [{ text: 'stated-by-the-bot' }], profile: null };
const HOLDER = { kind: 'pull', covers: ['messages'], label_de: 'Datenbank', label_en: 'Database' };
let bot: Bot;
let who: SubjectIds;

interface Task {
  readonly task_id: string;
  readonly act: string;
}
interface Tasks {
  readonly tasks: Task[];
  readonly pagination: { readonly next: string | null };
}

beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
  await bot.hasCategory('profile');
  await bot.hasConsent(who);
});
afterEach(() => jest.restoreAllMocks());

const register = (given: Json = {}, by = bot) =>
  by.post('/holders', { key: 'database', ...HOLDER, ...given });
const full = (of = who, by = bot) => by.export<Json>(of, '&format=full');
/** The section of the holders. */
const stated = async (of = who): Promise<Json[]> => {
  const { data } = await full(of);
  validate(data);
  expect(validate.errors).toBeNull();
  return data['holders'] as Json[];
};
const tasks = async (query = '', key = 'database'): Promise<Tasks> =>
  (await bot.get<Tasks>(`/holders/${key}/tasks${query}`)).data;
/** Exports in full and answers the id of the task. */
const asked = async (of = who, key = 'database'): Promise<string> => {
  const before = new Set((await tasks('', key)).tasks.map(({ task_id }) => task_id));
  await full(of);
  const [made] = (await tasks('?page_size=100', key)).tasks.filter(({ task_id }) => !before.has(task_id));
  return made?.task_id ?? 'none';
};
const acknowledge = (id: string, body: Json = { result: 'exported', data: DATA }, by = bot) =>
  by.post(`/holders/database/tasks/${id}/acknowledge`, body);
const reasonOf = ({ error }: Answer): unknown => error?.details?.['reason'];
const item = (state: string, given: Json = {}): Json => ({
  key: 'database',
  label_de: 'Datenbank',
  label_en: 'Database',
  covers: ['messages'],
  state,
  asked_at: A_TIME,
  answered_at: null,
  data: null,
  ...given,
});
const view = (id: string, given: Json = {}): Json => ({
  task_id: id,
  act: 'export',
  request_id: id,
  ...who,
  created_at: A_TIME,
  due_at: A_TIME,
  result: null,
  answered_at: null,
  ...given,
});
const rows = () => service.database.rows<Json>(`SELECT * FROM holder_exports WHERE bot_id = '${bot.id}'`);

describe('a full export', () => {
  it('of a bot without holders has no section of holders', async () => {
    expect(Object.keys((await full()).data)).not.toContain('holders');
  });

  it('asks each holder by one task with the ids, and names it as asked', async () => {
    await register();
    await register({ key: 'cache' });
    expect(await stated()).toEqual([item('asked', { key: 'cache' }), item('asked')]);
    for (const key of ['database', 'cache']) {
      const [task] = (await tasks('', key)).tasks;
      expect(task).toEqual(view(task?.task_id ?? ''));
    }
  });

  it('of which a caller wants the headers alone asks nobody', async () => {
    await register();
    for (const where of [`guild_id=${who.guild_id}`, 'scope=all_guilds']) {
      const path = `${PREFIX}/data/export/${who.user_id}?${where}&format=full`;
      expect((await bot.send('HEAD', path)).status).toBe(200);
    }
    expect(await rows()).toEqual([]);
  });

  it('that is the record of the contract asks nobody and has no section', async () => {
    await register();
    expect(Object.keys((await bot.export(who)).data)).toEqual([
      ...['userId', 'guildId', 'exportedAt', 'bot', 'consent', 'data'],
    ]);
    expect(await rows()).toEqual([]);
  });

  it('of nothing is answered 404 and asks nobody', async () => {
    await register();
    expectFailure(await full(subject()), 404, 'not_found');
    expect(await rows()).toEqual([]);
  });

  it('reuses the open task, also of several at once', async () => {
    await register();
    await Promise.all([full(), full(), full()]);
    const [{ task_id: id } = { task_id: '' }] = (await tasks()).tasks;
    await full();
    expect((await tasks()).tasks).toEqual([view(id)]);
  });

  it('asks anew by one task where the key of the open one is lost', async () => {
    await register();
    const lost = await asked();
    const [key] = await service.database.rows<{ id: string }>(
      'SELECT key_id AS id FROM subjects WHERE bot_id = ?',
      bot.id,
    );
    await service.database.run('DELETE FROM keys.subject_keys WHERE id = ?', key!.id);
    forgetInMemory(service, key!.id);
    await bot.hasData(who, 'profile', { value: 'after' });
    const id = await asked();
    expect(id).not.toBe(lost);
    expect((await tasks()).tasks).toEqual([view(id)]);
    expect(await asked()).toBe('none');
    expect((await acknowledge(id)).status).toBe(200);
    expect(await stated()).toEqual([item('stated', { answered_at: A_TIME, data: DATA })]);
  });

  it('has what the holder states, under its name', async () => {
    await register();
    expectSuccess(
      await acknowledge(await asked()),
      200,
      view(expect.any(String), {
        request_id: expect.any(String) as unknown,
        result: 'exported',
        answered_at: A_TIME,
      }),
    );
    expect(await stated()).toEqual([item('stated', { answered_at: A_TIME, data: DATA })]);
  });

  it('names a holder that has nothing', async () => {
    await register();
    await acknowledge(await asked(), { result: 'nothing' });
    expect(await stated()).toEqual([item('nothing', { answered_at: A_TIME })]);
  });

  it('uses an answer of less than 24 hours, and asks again after them, with the earlier answer until the next', async () => {
    await register();
    await acknowledge(await asked());
    passes(service, DAY_MS - HOUR_MS);
    expect(await asked()).toBe('none');
    passes(service, DAY_MS + 60_000);
    expect(await stated()).toEqual([item('asked', { answered_at: A_TIME, data: DATA })]);
    const [{ task_id: id } = { task_id: '' }] = (await tasks()).tasks;
    await acknowledge(id, { result: 'exported', data: { later: 1 } });
    expect(await stated()).toEqual([item('stated', { answered_at: A_TIME, data: { later: 1 } })]);
  });

  it('names a silent holder as overdue from the 14th day on, and not before', async () => {
    await register();
    await full();
    passes(service, 14 * DAY_MS - HOUR_MS);
    expect(await stated()).toEqual([item('asked')]);
    passes(service, 14 * DAY_MS + 60_000);
    expect(await stated()).toEqual([item('overdue')]);
  });

  it('of all guilds asks for each guild, up to 100 of them, and names the holders of the others as not asked', async () => {
    await register();
    const userId = snowflake();
    for (let at = 0; at < 102; at++) await bot.hasRequest({ user_id: userId, guild_id: snowflake() });
    const { data } = await bot.get<{ guilds: { holders: Json[] }[] }>(
      `/data/export/${userId}?scope=all_guilds&format=full`,
    );
    validate(data);
    expect(validate.errors).toBeNull();
    const states = data.guilds.map(({ holders }) => holders[0]?.['state']);
    expect(states).toEqual([...Array.from({ length: 100 }, () => 'asked'), 'not_asked', 'not_asked']);
    expect(data.guilds.at(-1)?.holders).toEqual([item('not_asked', { asked_at: null })]);
    expect(await rows()).toHaveLength(100);
  });

  it('that is large is streamed with what the holder states', async () => {
    await register();
    const data = { store: 'x'.repeat(200_000), more: 'y'.repeat(20_000) };
    await acknowledge(await asked(), { result: 'exported', data });
    await bot.hasData(who, 'profile', { value: 'z'.repeat(60_000) });
    expect(await stated()).toEqual([item('stated', { answered_at: A_TIME, data })]);
  });

  it('that is large asks when it is recorded, and not where its stream is refused', async () => {
    await register();
    const event = { ...who, event_type: 'data_submitted', details: { text: 'x'.repeat(8_000) } };
    await Promise.all(Array.from({ length: 40 }, () => bot.post('/audit/event', event)));
    const { slots } = service.app.getHttpAdapter() as unknown as LetheHttpAdapter;
    jest.spyOn(slots, 'take').mockRejectedValueOnce(new ApiError('service_unavailable', 'No place'));
    expectFailure(await full(), 503, 'service_unavailable');
    expect(await rows()).toEqual([]);
    expect(await stated()).toEqual([item('asked')]);
    expect(await rows()).toHaveLength(1);
  });
});

describe('GET /api/v1/holders/{key}/tasks', () => {
  it('lists tasks to export behind those to erase, and walks over both', async () => {
    await register();
    const others = [subject(), subject(), subject()];
    for (const other of others) await bot.hasConsent(other);
    const exports = [];
    for (const other of others) exports.push(await asked(other));
    const erasures = [await bot.hasForgotten(subject()), await bot.hasForgotten(subject())];
    const seen: string[] = [];
    for (let next: string | null = ''; next !== null;) {
      const page: Tasks = await tasks(`?page_size=2${next && `&after=${next}`}`);
      seen.push(...page.tasks.map(({ task_id }) => task_id));
      next = page.pagination.next;
    }
    expect(seen).toEqual([...erasures, ...exports]);
  });

  it('with since lists erasures that were answered behind the open tasks, and no answered export', async () => {
    await register();
    const [first, erased] = [await asked(), await bot.hasForgotten(subject())];
    await bot.post(`/holders/database/tasks/${erased}/acknowledge`, { result: 'erased' });
    const listed = async () => (await tasks('?since=2026-01-01T00:00:00Z')).tasks.map(({ act }) => act);
    expect(await listed()).toEqual(['export', 'erase']);
    await acknowledge(first);
    expect(await listed()).toEqual(['erase']);
  });
});

describe('POST /api/v1/holders/{key}/tasks/{task_id}/acknowledge of an export', () => {
  let id: string;
  beforeEach(async () => {
    await register();
    id = await asked();
  });

  it('answers 200 to the same answer again, and 409 task_answered to another one', async () => {
    const first = await acknowledge(id);
    expect(await acknowledge(id)).toMatchObject({ status: 200, data: first.data });
    for (const other of [{ result: 'nothing' }, { result: 'failed' }, { result: 'exported', data: {} }])
      expect(reasonOf(await acknowledge(id, other))).toBe('task_answered');
    expect(await stated()).toMatchObject([{ state: 'stated', data: DATA }]);
  });

  it('failed leaves the task open, and can be answered again', async () => {
    const failed = await acknowledge(id, { result: 'failed' });
    expectSuccess(failed, 200, view(id, { result: 'failed', answered_at: A_TIME }));
    expect((await tasks()).tasks).toEqual([view(id, { result: 'failed', answered_at: A_TIME })]);
    expect(await stated()).toEqual([item('asked')]);
    expect((await acknowledge(id)).status).toBe(200);
  });

  it.each([
    ['data', { result: 'exported' }],
    ['data', { result: 'nothing', data: {} }],
    ['data', { result: 'failed', data: DATA }],
    ['data', { result: 'exported', data: [] }],
    ['data', { result: 'exported', data: { '': 1 } }],
    ['data', { result: 'exported', data: { ['x'.repeat(65)]: 1 } }],
    [
      'data',
      { result: 'exported', data: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [at, 1])) },
    ],
    ['data.store.rows[0]', { result: 'exported', data: { store: { rows: [2 ** 60] } } }],
    ['counts', { result: 'exported', data: {}, counts: { rows: 1 } }],
    ['kept', { result: 'exported', data: {}, kept: { basis: 'x', until: '2030-01-01T00:00:00Z' } }],
    ['result', { result: 'erased' }],
    ['result', { result: 'kept', kept: { basis: 'x', until: '2030-01-01T00:00:00Z' } }],
    ['result', { result: 'abandoned' }],
    ['statement', { result: 'nothing', statement: 'a.b.c' }],
  ])('answers 400 that names %s for %j', async (field, body) => {
    expectFaults(await acknowledge(id, body), field);
    expect(await stated()).toEqual([item('asked')]);
  });

  it('answers 400 that names result for exported as the answer of an erasure', async () => {
    const erased = await bot.hasForgotten(subject());
    expectFaults(await acknowledge(erased), 'result');
    expectFaults(await acknowledge(erased, { result: 'erased', data: {} }), 'data');
  });

  it('answers 413 for data of more than 229376 bytes, and 200 for data of that size', async () => {
    const data = (bytes: number) => ({ s: 'x'.repeat(bytes - '{"s":""}'.length) });
    const refused = await acknowledge(id, { result: 'exported', data: data(229_377) });
    expectFailure(refused, 413, 'payload_too_large');
    expect(refused.error?.details).toEqual({ limit_bytes: 229_376 });
    expect((await acknowledge(id, { result: 'exported', data: data(229_376) })).status).toBe(200);
  });

  it('answers 404 for a task of another holder or bot, and for an unknown one', async () => {
    const other = await service.registerBot();
    await register({}, other);
    await register({ key: 'cache' });
    expectFailure(await acknowledge(id, undefined, other), 404, 'not_found');
    expectFailure(await acknowledge(UNKNOWN_UUID), 404, 'not_found');
    const wrong = await bot.post(`/holders/cache/tasks/${id}/acknowledge`, { result: 'nothing' });
    expectFailure(wrong, 404, 'not_found');
    expect(await stated()).toEqual([item('asked', { key: 'cache' }), item('asked')]);
  });

  it('has one final answer of several at once', async () => {
    const answers = await Promise.all(
      [1, 2, 3].map((value) => acknowledge(id, { result: 'exported', data: { value } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const won = answers.findIndex(({ status }) => status === 200) + 1;
    expect(await stated()).toMatchObject([{ data: { value: won } }]);
  });

  it('answers a repeat by its Idempotency-Key, and stores no copy of what was stated', async () => {
    const send = () =>
      bot.post(
        `/holders/database/tasks/${id}/acknowledge`,
        { result: 'exported', data: DATA },
        { 'idempotency-key': 'k' },
      );
    const first = await send();
    expect((await send()).data).toEqual(first.data);
    await bot.hasForgotten(who);
    expectFailure(await send(), 404, 'not_found');
  });

  it('keeps names and texts as they are, __proto__ too', async () => {
    const text =
      '{"result":"exported","data":{"__proto__":{"a":"<b>&amp;"},"constructor":[0.5,null,"\\u2028"]}}';
    await acknowledge(id, JSON.parse(text) as Json);
    const shown = JSON.stringify((await stated())[0]?.['data']);
    expect(shown).toBe(JSON.stringify((JSON.parse(text) as Json)['data']));
  });
});

describe('the statement of an export', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const signed = (content: Json): string => {
    const header = { alg: 'EdDSA', typ: 'lethe-holder-answer+jwt' };
    const text = [header, content]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`;
  };
  let id: string;
  beforeEach(async () => {
    await register({ public_key: publicKey.export({ format: 'jwk' }).x });
    id = await asked();
  });
  const payload = (result: string, given: Json = {}): Json => ({
    bot_id: bot.id,
    holder: 'database',
    task_id: id,
    result,
    counts: null,
    kept: null,
    at: '2026-01-01T00:00:00Z',
    ...given,
  });
  const digest = (value: unknown): string =>
    createHash('sha256').update(JSON.stringify(value)).digest('base64url');

  it('is required, and accepted with the digest of the data', async () => {
    expectFaults(await acknowledge(id), 'statement');
    const statement = signed(payload('exported', { data_digest: digest(DATA) }));
    expect((await acknowledge(id, { result: 'exported', data: DATA, statement })).status).toBe(200);
  });

  it('is accepted without a digest where there is no data', async () => {
    const statement = signed(payload('nothing'));
    expect((await acknowledge(id, { result: 'nothing', statement })).status).toBe(200);
  });

  it.each([
    ['of other data', () => payload('exported', { data_digest: digest({}) }), 'data_digest'],
    ['without a digest', () => payload('exported'), 'exactly'],
  ])('answers 400 for a statement %s', async (_, content, said) => {
    const answer = await acknowledge(id, { result: 'exported', data: DATA, statement: signed(content()) });
    expectFaults(answer, 'statement');
    expect(answer.text).toContain(said);
  });

  it('answers 400 for a digest where there is no data', async () => {
    const statement = signed(payload('nothing', { data_digest: digest({}) }));
    expectFaults(await acknowledge(id, { result: 'nothing', statement }), 'statement');
  });
});

describe('what a holder is asked and states', () => {
  it('is removed by an erasure: task and answer, and a later answer is 404 and stores nothing', async () => {
    await register();
    await register({ key: 'cache' });
    const id = await asked();
    await full();
    await acknowledge(id);
    expect(await rows()).toHaveLength(2);
    const open = (await tasks('', 'cache')).tasks[0]?.task_id ?? '';
    await bot.hasForgotten(who);
    expect(await rows()).toEqual([]);
    const late = await bot.post(`/holders/cache/tasks/${open}/acknowledge`, {
      result: 'exported',
      data: DATA,
    });
    expectFailure(late, 404, 'not_found');
    expectFailure(await acknowledge(id), 404, 'not_found');
    expect(await rows()).toEqual([]);
    expect((await tasks('', 'cache')).tasks.map(({ act }) => act)).toEqual(['erase']);
  });

  it('of a user who comes back after an erasure is asked anew', async () => {
    await register();
    await acknowledge(await asked());
    await bot.hasForgotten(who);
    await bot.hasConsent(who);
    expect(await stated()).toEqual([item('asked')]);
  });

  it('is stored in no plain text', async () => {
    await register();
    await acknowledge(await asked());
    const stored = JSON.stringify(await rows());
    for (const text of ['stated-by-the-bot', who.user_id, who.guild_id]) expect(stored).not.toContain(text);
  });

  it('is removed 30 days after the answer, and not before; an open task stays without the earlier answer', async () => {
    await register();
    const other = subject();
    await bot.hasConsent(other);
    await acknowledge(await asked());
    await acknowledge(await asked(other));
    passes(service, 29 * DAY_MS);
    await full();
    await runNow(service, HolderAnswersRetention);
    expect(await rows()).toMatchObject([{ result: 'exported' }, { result: 'exported' }]);
    passes(service, 30 * DAY_MS + 60_000);
    await runNow(service, HolderAnswersRetention);
    expect(await rows()).toMatchObject([{ open: 1, result: null, answer: null, answered_at: null }]);
    expect((await tasks()).tasks).toHaveLength(1);
  });

  it('is removed with its holder, whose open tasks to export do not keep it', async () => {
    await register();
    const other = subject();
    await bot.hasConsent(other);
    await acknowledge(await asked());
    await full(other);
    const deleted = await bot.delete('/holders/database');
    expectSuccess(deleted, 200, { key: 'database', deleted: true, abandoned: 0 });
    expect(await rows()).toEqual([]);
    await register();
    expect((await tasks()).tasks).toEqual([]);
  });
});
