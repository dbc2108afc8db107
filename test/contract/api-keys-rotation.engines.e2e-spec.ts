import { ApiKeyDirectory } from '@app/bots';
import { Clock } from '@app/kernel';
import { createdKey, type Key, keysOf, later, type Listed } from '../support/api-keys';
import type { Bot } from '../support/bot';
import { type Answer, Client, type Json } from '../support/client';
import { A_TIME, expectFailure, expectFaults, expectSameRefusal, expectSuccess } from '../support/expected';
import { UNKNOWN_UUID } from '../support/inputs';
import { useServiceInProcess } from '../support/service';
import { until } from '../support/until';

const service = useServiceInProcess();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot();
});
afterEach(() => jest.restoreAllMocks());

const make = (given: Json = {}, caller: Client = bot) => caller.post<Key>(keysOf(bot), given);
const withKey = ({ data }: Answer<Key>) => new Client(service.url, data.api_key);
const list = async () => (await bot.get<Listed>(keysOf(bot))).data.keys;

/** Moves the time that the service acts by, from now on. */
function passes(ms: number): void {
  const clock = service.app.get(Clock);
  const nowMs = clock.nowMs.bind(clock);
  jest.spyOn(clock, 'nowMs').mockImplementation(() => nowMs() + ms);
}

describe('POST /api/v1/bots/{bot_id}/keys/rotate', () => {
  const rotate = (given: Json = {}, caller: Client = bot) =>
    caller.post<Key & { overlap_until: string }>(`${keysOf(bot)}/rotate`, given);

  it('answers a new key beside the old one, which is void at the end of the overlap', async () => {
    const before = Date.now();
    const answer = await rotate();
    const after = Date.now();
    expectSuccess(answer, 201, createdKey({ overlap_until: A_TIME }));
    const begun = Date.parse(answer.data.overlap_until) - 86_400_000;
    expect([before <= begun, begun <= after]).toEqual([true, true]);
    const renewed = withKey(answer);
    for (const caller of [bot, renewed]) expect((await caller.get('/bots/me')).status).toBe(200);
    passes(86_400_000 + 60_000);
    expectFailure(await bot.get('/bots/me'), 401, 'unauthorized');
    expect((await renewed.get('/bots/me')).status).toBe(200);
  });

  it('voids the old key at once with overlap_seconds 0', async () => {
    const answer = await rotate({ overlap_seconds: 0 });
    expectFailure(await bot.get('/bots/me'), 401, 'unauthorized');
    expect((await withKey(answer).get('/bots/me')).status).toBe(200);
  });

  it('replaces the calling key and keeps its scopes and its expiry', async () => {
    const at = later(3_600_000);
    const caller = withKey(await make({ scopes: ['erase', 'admin'], expires_at: at }));
    const given = { scopes: ['erase', 'admin'], expires_at: at, overlap_until: at };
    expectSuccess(await rotate({}, caller), 201, createdKey(given));
    expect((await bot.get('/bots/me')).status).toBe(200);
  });

  it('keeps the name of the calling key', async () => {
    const name = 'Worker';
    const caller = withKey(await make({ name }));
    expectSuccess(await rotate({}, caller), 201, { ...createdKey({ overlap_until: A_TIME }), name });
  });

  it('answers 409 rotation_in_progress to a key that was rotated before', async () => {
    await rotate({ overlap_seconds: 60 });
    for (const given of [{}, { overlap_seconds: 0 }])
      expectFailure(await rotate(given), 409, 'conflict', { reason: 'rotation_in_progress' });
    expect((await make()).status).toBe(201);
  });

  it('answers 409 limit_reached where five keys are valid, unless the old one ends at once', async () => {
    for (let count = 0; count < 4; count++) await make();
    expectFailure(await rotate(), 409, 'conflict', { reason: 'limit_reached', limit: 5 });
    expect((await rotate({ overlap_seconds: 0 })).status).toBe(201);
  });

  it.each([-1, 0.5, 2_592_001, '60'])('answers 400 to the overlap %j', async (seconds) =>
    expectFaults(await rotate({ overlap_seconds: seconds }), 'overlap_seconds'),
  );
});

it.each(['', '/rotate'])('a repeat of POST keys%s by another key answers that one nothing', async (path) => {
  const other = withKey(await make({ scopes: ['admin'] }));
  const send = (caller: Client) =>
    caller.post<{ api_key: string; scopes: string[] }>(
      keysOf(bot) + path,
      path === '' ? { scopes: ['admin'] } : {},
      { 'idempotency-key': 'new-key-2026' },
    );
  const first = await send(bot);
  expect((await send(bot)).text).toBe(first.text);
  const second = await send(other);
  expect([second.status, second.data.scopes]).toStrictEqual([201, ['admin']]);
  expect(second.data.api_key).not.toBe(first.data.api_key);
});

describe('DELETE /api/v1/bots/{bot_id}/keys/{key_id}', () => {
  const remove = (id: string, caller: Client = bot) => caller.delete(`${keysOf(bot)}/${id}`);

  it('voids the key at once, on connections that have used it too', async () => {
    const made = await make();
    const caller = withKey(made);
    expect((await caller.get('/bots/me')).status).toBe(200);
    expectSuccess(await remove(made.data.id.toUpperCase()), 200, {
      ...{ id: made.data.id, deleted: true, deleted_at: A_TIME },
    });
    expectFailure(await caller.get('/bots/me'), 401, 'unauthorized');
    expectFailure(await remove(made.data.id), 404, 'not_found');
  });

  it('is answered once no other process trusts the key', async () => {
    const { data } = await make();
    const directory = service.app.get(ApiKeyDirectory, { strict: false });
    const steps: string[] = [];
    let pass: () => void = () => undefined;
    const passed = new Promise<void>((resolve) => (pass = resolve));
    const forgotten = jest.spyOn(directory, 'forgottenEverywhere').mockReturnValue(passed);
    const answering = remove(data.id).then(() => steps.push('answered'));
    await until(() => forgotten.mock.calls.length > 0 || steps.length > 0);
    // A later request of the same bot is answered meanwhile.
    await bot.get('/bots/me');
    steps.push('trusted no more');
    pass();
    await answering;
    forgotten.mockRestore();
    expect(steps).toStrictEqual(['trusted no more', 'answered']);
  });

  it('refuses the last key of scope admin that lasts: 409 last_admin_key', async () => {
    const [own] = await list();
    await make({ scopes: ['read', 'write', 'erase'] });
    const expiring = withKey(await make({ expires_at: later(3_600_000) }));
    for (const caller of [bot, expiring])
      expectFailure(await remove(own!.id, caller), 409, 'conflict', { reason: 'last_admin_key' });
    const other = withKey(await make({ scopes: ['admin'] }));
    expect((await remove(own!.id)).status).toBe(200);
    expect((await other.get('/bots/me')).status).toBe(200);
  });

  it('answers 404 for an expired key and for one of another bot, like for one that does not exist', async () => {
    const theirs = await service.registerBot();
    const foreign = (await theirs.get<Listed>(keysOf(theirs))).data.keys[0]!.id;
    const refusal = await remove(UNKNOWN_UUID);
    expectFailure(refusal, 404, 'not_found');
    expectSameRefusal(await remove(foreign), refusal);
    const { data } = await make({ expires_at: later(60_000) });
    passes(61_000);
    expectSameRefusal(await remove(data.id), refusal);
    expect((await theirs.get('/bots/me')).status).toBe(200);
  });
});
