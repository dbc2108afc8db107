import { Webhook } from 'standardwebhooks';
import { Tx } from '@app/database';
import type { Bot } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { A_TIME, expectFailure, expectFaults, expectSuccess } from '../support/expected';
import { type Call, useReceiver } from '../support/receiver';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

const service = useServiceInProcess({ WEBHOOK_RETRY_SCHEDULE: '1s,1s' });
const receiver = useReceiver();
let bot: Bot;
let who: SubjectIds;
beforeEach(async () => {
  receiver.reset();
  bot = await service.registerBot({ webhook_url: receiver.url });
  who = subject();
});
afterEach(() => jest.restoreAllMocks());

const HOLDER = { covers: ['levels'], label_de: 'Datenbank', label_en: 'Database' };
const register = (given: Json = {}, by = bot) =>
  by.post('/holders', { key: 'database', kind: 'webhook', ...HOLDER, ...given });
const acknowledge = (id: unknown, result = 'erased', key = 'database') =>
  bot.post(`/holders/${key}/tasks/${String(id)}/acknowledge`, { result });
const tasks = async (key = 'database'): Promise<Json[]> =>
  (await bot.get<{ tasks: Json[] }>(`/holders/${key}/tasks`)).data.tasks;
const reasonOf = ({ error }: Answer): unknown => error?.details?.['reason'];

interface Listed {
  readonly id: string;
  readonly status: string;
  readonly request_id: string | null;
}
const deliveries = async (query = '?event=holder_task'): Promise<Listed[]> =>
  (await bot.get<{ deliveries: Listed[] }>(`/webhooks/deliveries${query}`)).data.deliveries;
/** Once no call waits any more. */
async function ended(): Promise<void> {
  const waiting = `SELECT id FROM webhook_deliveries WHERE bot_id = ? AND status = 'pending'`;
  await until(async () => (await service.database.rows(waiting, bot.id)).length === 0);
}
const about = (event: string): Call[] => receiver.calls.filter(({ body }) => body['event'] === event);

describe('a holder of the kind webhook', () => {
  it('is registered by 201, listed, and changed from and to pull', async () => {
    expect((await register()).data).toMatchObject({ key: 'database', kind: 'webhook', public_key: null });
    expect((await bot.put('/holders/database', { kind: 'pull' })).data).toMatchObject({ kind: 'pull' });
    await bot.hasForgotten(who);
    expect((await bot.put('/holders/database', { kind: 'webhook' })).data).toMatchObject({ kind: 'webhook' });
    expect((await bot.put('/holders/database', { label_en: 'Store' })).data).toMatchObject({
      kind: 'webhook',
    });
    await ended();
    expect(about('holder_task')).toEqual([]);
    expectFaults(await bot.put('/holders/database', { kind: 'push' }), 'kind');
  });

  it('is called with exactly the fields of its task, which its list has too', async () => {
    await register();
    const id = await bot.hasForgotten(who);
    await ended();
    const [task] = await tasks();
    const call = about('holder_task')[0];
    expect(call?.headers['x-gdpr-event']).toBe('holder_task');
    expect(Object.entries(call?.body ?? {})).toEqual(
      Object.entries({
        event: 'holder_task',
        holder: 'database',
        task_id: id,
        act: 'erase',
        request_id: id,
        ...who,
        created_at: task?.['created_at'],
        due_at: task?.['due_at'],
      }),
    );
    expect(task).toMatchObject({ task_id: id, ...who, result: null });
    const verified = new Webhook(bot.webhookSecret).verify(
      call?.rawBody ?? '',
      call?.headers as Record<string, string>,
    );
    expect(verified).toEqual(call?.body);
    expect((await bot.get(`/gdpr/forget-status/${id}`)).data['completed_at']).toBe(task?.['created_at']);
  });

  it('is called once for each task, beside user_forgotten, and a pull holder is not', async () => {
    for (const key of ['a', 'b']) await register({ key });
    await register({ key: 'quiet', kind: 'pull' });
    const people = [subject(), subject(), subject()];
    const ids = await Promise.all(people.map((each) => bot.hasForgotten(each)));
    await ended();
    const called = about('holder_task').map(
      ({ body }) => `${String(body['holder'])} ${String(body['task_id'])}`,
    );
    expect(called.sort()).toEqual(ids.flatMap((id) => [`a ${id}`, `b ${id}`]).sort());
    expect(about('user_forgotten')).toHaveLength(3);
    expect(new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(9);
    expect(await tasks('quiet')).toHaveLength(3);
  });

  it('is called once for each user of a guild that is erased', async () => {
    await register();
    const people = Array.from({ length: 4 }, () => ({ ...subject(), guild_id: who.guild_id }));
    await bot.post('/servers/register', { guild_id: who.guild_id });
    for (const each of people) await bot.hasConsent(each);
    expect((await bot.delete(`/servers/${who.guild_id}`)).status).toBe(200);
    await ended();
    const called = about('holder_task').map(({ body }) => body['user_id']);
    expect(called.sort()).toEqual(people.map(({ user_id }) => user_id).sort());
  });

  it('is not called again by an erasure that is sent again with its Idempotency-Key', async () => {
    await register();
    const send = () => bot.post('/gdpr/forget-user', who, { 'idempotency-key': 'once' });
    const [first, second] = [await send(), await send()];
    expect(second.data).toEqual(first.data);
    await ended();
    expect(about('holder_task')).toHaveLength(1);
  });

  it('is answered by acknowledge alone: a confirmed call leaves the task open', async () => {
    await register();
    const id = await bot.hasForgotten(who);
    await ended();
    expect(await deliveries()).toMatchObject([{ status: 'delivered', ...who, request_id: id }]);
    expect(await tasks()).toHaveLength(1);
    expect((await acknowledge(about('holder_task')[0]?.body['task_id'])).status).toBe(200);
    expect(await tasks()).toEqual([]);
    expect((await bot.get(`/gdpr/forget-status/${id}`)).data['coverage']).toMatchObject({ complete: true });
  });

  it.each([400, 404])('is called again when its receiver answers %i, and its task stays', async (status) => {
    await register();
    receiver.status = status;
    const id = await bot.hasForgotten(who);
    await ended();
    expect((await deliveries()).map(({ status: end }) => end)).toEqual(['exhausted']);
    const calls = about('holder_task');
    expect(new Set(calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(calls.length).toBe(3);
    expect(await tasks()).toMatchObject([{ task_id: id, result: null }]);
  });

  it('whose receiver answers 410 is called no more, and finds its task in the list', async () => {
    await register();
    receiver.status = 410;
    await bot.hasForgotten(who);
    await ended();
    expect((await deliveries()).map(({ status }) => status)).toEqual(['gone']);
    expect(about('holder_task')).toHaveLength(1);
    expect(await tasks()).toHaveLength(1);
  });
});

describe('the webhook of the bot', () => {
  it('is needed: without one the answer is 409 no_webhook_url, which says how to mend it', async () => {
    const other = await service.registerBot();
    const refused = await register({}, other);
    expectFailure(refused, 409, 'conflict');
    expect([reasonOf(refused), refused.text]).toEqual([
      'no_webhook_url',
      expect.stringContaining('PUT /bots/{bot_id}'),
    ]);
    expect((await register({ kind: 'pull' }, other)).status).toBe(201);
    expect(reasonOf(await other.put('/holders/database', { kind: 'webhook' }))).toBe('no_webhook_url');
    expect((await other.get('/holders/database')).data).toMatchObject({ kind: 'pull' });
    await other.put(`/bots/${other.id}`, { webhook_url: receiver.url });
    expect((await other.put('/holders/database', { kind: 'webhook' })).status).toBe(200);
  });

  it('can be removed later: the task waits in the list, and a new URL gets its call', async () => {
    await register();
    await bot.put(`/bots/${bot.id}`, { webhook_url: null });
    const id = await bot.hasForgotten(who);
    await ended();
    expect((await deliveries()).map(({ status }) => status)).toEqual(['cancelled']);
    expect(await tasks()).toMatchObject([{ task_id: id }]);
    expect(receiver.calls).toEqual([]);
    await bot.put(`/bots/${bot.id}`, { webhook_url: receiver.url });
    await ended();
    expect(about('holder_task')).toHaveLength(1);
  });

  it('can be removed meanwhile: a new URL gets the call about each erasure of a user who came back', async () => {
    await register();
    await bot.put(`/bots/${bot.id}`, { webhook_url: null });
    const ids = [await bot.hasForgotten(who)];
    await ended();
    await bot.hasConsent(who);
    ids.push(await bot.hasForgotten(who));
    await ended();
    const { certificate } = (await bot.get(`/gdpr/forget-status/${ids[1]}/certificate`)).data;
    const [, payload = ''] = String(certificate).split('.');
    const { erased_rows: rows } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Json;
    expect(rows).toMatchObject({ consents: 1, webhook_deliveries: 0 });
    await bot.put(`/bots/${bot.id}`, { webhook_url: receiver.url });
    await ended();
    for (const event of ['holder_task', 'user_forgotten'])
      expect(about(event).map(({ body }) => body['request_id'])).toEqual(expect.arrayContaining(ids));
  });

  it('of another bot is not called, also with a holder of the same key', async () => {
    const other = await service.registerBot({ webhook_url: receiver.url.replace('hook', 'other-hook') });
    await register({}, other);
    await other.hasForgotten(who);
    const listed = async () =>
      (await other.get<{ deliveries: Listed[] }>('/webhooks/deliveries?event=holder_task')).data.deliveries;
    await until(async () => (await listed())[0]?.status === 'delivered');
    expect([receiver.calls, await deliveries('')]).toEqual([[], []]);
    expectFailure(await acknowledge((await listed())[0]?.request_id), 404, 'not_found');
  });

  it('gets the same call by a replay, with the same id, also after its confirmation', async () => {
    await register();
    await bot.hasForgotten(who);
    await ended();
    const first = about('holder_task')[0];
    expect((await bot.post('/webhooks/replay', { since: '2026-01-01T00:00:00Z' })).data).toEqual({
      queued: 2,
    });
    await ended();
    const again = about('holder_task')[1];
    expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(again?.rawBody).toBe(first?.rawBody);
  });

  it('gets the call about an erasure though the user comes back and is erased again meanwhile', async () => {
    await register();
    receiver.status = 500;
    const first = await bot.hasForgotten(who);
    await until(() => about('holder_task').length > 0);
    await bot.hasConsent(who);
    const second = await bot.hasForgotten(who);
    const waiting = (await deliveries()).map(({ request_id }) => request_id);
    expect(waiting.sort()).toEqual([first, second].sort());
  });
});

describe('a bot whose holders all pull', () => {
  it('has the same statements as before for an erasure, and no call', async () => {
    await register({ kind: 'pull' });
    const statements: string[] = [];
    for (const name of ['run', 'all', 'get'] as const) {
      const real = Tx.prototype[name] as (...given: unknown[]) => unknown;
      if (typeof real !== 'function') continue;
      jest.spyOn(Tx.prototype, name).mockImplementation(function (this: Tx, ...given: unknown[]) {
        statements.push(String(given[0]));
        return real.apply(this, given) as never;
      });
    }
    await bot.hasForgotten(who);
    jest.restoreAllMocks();
    await ended();
    const about = (table: string) => statements.filter((sql) => sql.includes(table));
    expect(about('INSERT INTO holder_tasks').length).toBe(about('bot_holders').length);
    expect(about('INSERT INTO webhook_deliveries')).toHaveLength(1);
    expect(await deliveries()).toEqual([]);
  });
});

describe('the public_key of a holder', () => {
  const text = (bytes: Buffer): string => bytes.toString('base64url');
  const hex = (digits: string): Buffer => Buffer.from(digits, 'hex');
  const ones = 'ff'.repeat(30);

  it.each([
    ['a y that is on no point', `02${'00'.repeat(31)}`],
    ['a y above the prime', `ee${ones}7f`],
    ['the neutral point', `01${'00'.repeat(31)}`],
    ['the neutral point with a sign', `01${'00'.repeat(30)}80`],
    ['the point of order 2', `ec${ones}7f`],
    ['a point of order 4', '00'.repeat(32)],
    ['a point of order 4 with a sign', `${'00'.repeat(31)}80`],
    ['a point of order 8', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'],
    ['a point of order 8 with a sign', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85'],
    ['another point of order 8', 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'],
  ])('is refused with 400 that names it for %s', async (_, digits) => {
    const answer = await register({ kind: 'pull', public_key: text(hex(digits)) });
    expectFaults(answer, 'public_key');
    expect(answer.text).toContain('can verify a signature');
    await register({ kind: 'pull' });
    expectFaults(await bot.put('/holders/database', { public_key: text(hex(digits)) }), 'public_key');
  });

  it('is taken if it is a public key, as those of RFC 8032', async () => {
    const keys = [
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
      '278117fc144c72340f67d0f2316e8386ceffbf2b2428c9c51fef7c597f1d426e',
      'ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf',
    ];
    for (const [at, digits] of keys.entries())
      expectSuccess(
        await register({ key: `store_${at}`, kind: 'pull', public_key: text(hex(digits)) }),
        201,
        expect.objectContaining({ public_key: text(hex(digits)), created_at: A_TIME }),
      );
  });
});
