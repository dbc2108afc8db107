import { Acts } from '@app/acts';
import { databaseUnavailable, UnitOfWork } from '@app/database';
import { type Bot, field } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { expectFailure } from '../support/expected';
import { useServiceInProcess } from '../support/service';
import { snowflake, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess();
let bot: Bot;
let people: [SubjectIds, SubjectIds, SubjectIds];
let turn = 0;
let key: string;
beforeEach(async () => {
  bot = await service.registerBot();
  key = `key-${++turn}`;
  const guild_id = snowflake();
  const one = () => ({ user_id: snowflake(), guild_id });
  people = [one(), one(), one()];
  await bot.hasCategory('profile', [field('name'), field('age', 'number')]);
  for (const who of people) await bot.hasConsent(who);
});
afterEach(() => jest.restoreAllMocks());

interface Result {
  readonly ok: boolean;
  readonly data?: Json;
  readonly error?: { readonly code: string; readonly details?: Json };
}
const item = (who: SubjectIds, data: Json, more: Json = {}): Json => ({
  ...who,
  category: 'profile',
  data,
  ...more,
});
const batch = (items: readonly Json[]): Promise<Answer<{ results: Result[] }>> =>
  bot.post('/data/submit/batch', { items }, { 'idempotency-key': key });
const replayed = (answer: Answer<unknown>) => answer.header('idempotent-replayed') === 'true';
const stored = async (who: SubjectIds) => (await bot.export<{ data: Json }>(who)).data.data;
const submits = async (who: SubjectIds) =>
  (await bot.eventTypes(who)).filter((type) => type === 'data_submitted').length;

describe('the repeat of a batch with an Idempotency-Key', () => {
  it('replays every item, also merges: nothing is done again', async () => {
    const [a, b] = people;
    const items = [
      item(a, { name: 'a' }),
      item(b, { age: 1 }, { mode: 'merge' }),
      item(a, { age: 2 }, { mode: 'merge' }),
    ];
    const first = await batch(items);
    await bot.hasData(b, 'profile', { age: 7 });
    const second = await batch(items);
    expect([replayed(first), replayed(second)]).toStrictEqual([false, true]);
    expect(second.text).toBe(first.text);
    expect([await stored(a), await stored(b)]).toStrictEqual([
      { profile: { name: 'a', age: 2 } },
      { profile: { age: 7 } },
    ]);
    expect([await submits(a), await submits(b)]).toStrictEqual([2, 2]);
  });

  it('replays the items that were refused as refused, and a new key does them', async () => {
    const [a, b, c] = people;
    await bot.hasRevoked(b);
    const nowhere = { category: 'nowhere' };
    const items = [
      item(a, { name: 'a' }),
      item(b, { name: 'b' }),
      item(a, { name: 1 }),
      item(c, { name: 'c' }, nowhere),
      item({ ...c, user_id: snowflake() }, { name: 'd' }),
      item(c, { name: 'c' }, { mode: 'other' }),
    ];
    const first = await batch(items);
    expect(first.data.results.map(({ error }) => error?.code)).toStrictEqual([
      ...[undefined, 'consent_required', 'invalid_request'],
      ...['not_found', 'consent_required', 'invalid_request'],
    ]);
    await bot.hasConsent(b, '2.0');
    const second = await batch(items);
    expect([replayed(first), replayed(second), second.text]).toStrictEqual([false, true, first.text]);
    expect([await submits(a), await submits(b)]).toStrictEqual([1, 0]);
    key = 'new-key';
    expect((await batch(items)).data.results[1]?.ok).toBe(true);
  });

  it.each<[string, (who: SubjectIds) => Json]>([
    ['without a consent', (who) => item({ ...who, user_id: snowflake() }, { name: 'a' })],
    ['of a held user', (who) => item(who, { name: 1 })],
    ['malformed', (who) => item(who, { name: 'a' }, { mode: 'other' })],
  ])('binds the key to the body when every item was refused: %s', async (_, refused) => {
    const [a, b] = people;
    const items = [refused(a), refused(a)];
    const first = await batch(items);
    expect(first.data.results.map(({ ok }) => ok)).toStrictEqual([false, false]);
    expectFailure(await batch([item(b, { name: 'b' })]), 409, 'conflict', {
      reason: 'idempotency_key_reused',
    });
    const second = await batch(items);
    expect([replayed(second), second.text, await submits(b)]).toStrictEqual([true, first.text, 0]);
  });

  it('is 409 idempotency_answer_erased also when the item of the erased user was refused', async () => {
    const [a, b] = people;
    await bot.hasRevoked(a);
    const items = [item(a, { name: 'a' }), item({ ...b, user_id: snowflake() }, { name: 'b' })];
    await batch(items);
    await bot.hasForgotten(a);
    expectFailure(await batch(items), 409, 'conflict', { reason: 'idempotency_answer_erased' });
  });

  it('answers 503 for refusals that cannot be stored, and a repeat does them', async () => {
    const [a, b] = people;
    await bot.hasRevoked(b);
    const items = [item(a, { name: 'a' }), item(b, { name: 'b' })];
    const down = jest.spyOn(service.app.get(Acts), 'keep').mockRejectedValueOnce(databaseUnavailable());
    const first = await batch(items);
    down.mockRestore();
    expect(first.data.results.map(({ ok, error }) => (ok ? 'done' : error?.code))).toStrictEqual([
      ...['done', 'service_unavailable'],
    ]);
    await bot.hasConsent(b, '2.0');
    const second = await batch(items);
    expect(second.data.results.map(({ ok }) => ok)).toStrictEqual([true, true]);
    expect([replayed(second), await submits(a), await submits(b)]).toStrictEqual([false, 1, 1]);
  });

  it('answers what another process has stored for the same items meanwhile', async () => {
    const [a, b] = people;
    await bot.hasRevoked(b);
    const items = [item(b, { name: 'b' }), item(a, { name: 1 })];
    const acts = service.app.get(Acts);
    const keep = acts.keep.bind(acts);
    const other = jest
      .spyOn(acts, 'keep')
      .mockImplementationOnce((given) =>
        keep(
          given.map((each, at) =>
            at === 0 ? { ...each, view: { updated_at: '2026-11-20T00:00:00.000Z' } } : each,
          ),
        ).then(() => keep(given)),
      );
    const first = await batch(items);
    other.mockRestore();
    expect(first.data.results.map(({ ok }) => ok)).toStrictEqual([true, false]);
    expect((await batch(items)).text).toBe(first.text);
  });

  it('does no item that was not done before a stored one of the same user and category', async () => {
    const [a, b] = people;
    await bot.hasCategory('notes', [field('name'), field('note')]);
    const note = { note: 'y' };
    const items = [
      item(a, note, { category: 'notes', mode: 'merge' }),
      item(b, { name: 'b' }),
      item(a, { name: 'new' }, { category: 'notes' }),
      item(a, note, { category: 'nowhere' }),
    ];
    const unitOfWork = service.app.get(UnitOfWork);
    const share = unitOfWork.shareAll.bind(unitOfWork);
    const down = jest
      .spyOn(unitOfWork, 'shareAll')
      .mockImplementationOnce(async (work, [, ...others]) => [
        { status: 'rejected', reason: databaseUnavailable() },
        ...(await share(work, others)),
      ]);
    const codes = (results: readonly Result[]) =>
      results.map(({ ok, error }) => (ok ? 'done' : (error?.details?.['reason'] ?? error?.code)));
    expect(codes((await batch(items)).data.results)).toStrictEqual([
      ...['service_unavailable', 'done', 'done', 'not_found'],
    ]);
    down.mockRestore();
    const second = await batch(items);
    expect(codes(second.data.results)).toStrictEqual(['superseded', 'done', 'done', 'not_found']);
    expect(await stored(a)).toStrictEqual({ notes: { name: 'new' } });
    const third = await batch(items);
    expect([replayed(second), replayed(third), third.text]).toStrictEqual([false, true, second.text]);
  });

  it('ends with 503 for the rest when the database is unavailable, and a repeat does the rest', async () => {
    const [a] = people;
    const items = ['x', 'y', 'z', 'end'].map((name) => item(a, { name }));
    const unitOfWork = service.app.get(UnitOfWork);
    const share = unitOfWork.shareAll.bind(unitOfWork);
    const down = jest
      .spyOn(unitOfWork, 'shareAll')
      .mockImplementationOnce(share)
      .mockResolvedValueOnce([{ status: 'rejected', reason: databaseUnavailable() }]);
    const { data } = await batch(items);
    expect(down).toHaveBeenCalledTimes(2);
    down.mockRestore();
    expect(data.results.map(({ ok, error }) => (ok ? 'done' : error?.code))).toStrictEqual([
      ...['done', 'service_unavailable', 'service_unavailable', 'service_unavailable'],
    ]);
    expect((await batch(items)).data.results.map(({ ok }) => ok)).toStrictEqual([true, true, true, true]);
    expect([await stored(a), await submits(a)]).toStrictEqual([{ profile: { name: 'end' } }, 4]);
  });

  it('does what a crash in the middle has left undone, and each item once', async () => {
    const [a, b] = people;
    // Two items about one user are two units. The second one is never begun.
    const items = [item(a, { name: 'a' }), item(b, { name: 'b' }), item(a, { age: 1 }, { mode: 'merge' })];
    const unitOfWork = service.app.get(UnitOfWork);
    const share = unitOfWork.shareAll.bind(unitOfWork);
    let parts = 0;
    const crash = jest.spyOn(unitOfWork, 'shareAll').mockImplementation((act, inputs) => {
      if (++parts === 2) throw new Error('crashed');
      return share(act, inputs);
    });
    expect((await batch(items)).status).toBe(500);
    crash.mockRestore();
    expect([await submits(a), await submits(b)]).toStrictEqual([1, 1]);
    const second = await batch(items);
    expect(second.data.results.map(({ ok }) => ok)).toStrictEqual([true, true, true]);
    expect([replayed(second), replayed(await batch(items))]).toStrictEqual([false, true]);
    expect(await stored(a)).toStrictEqual({ profile: { name: 'a', age: 1 } });
    expect([await submits(a), await submits(b)]).toStrictEqual([2, 1]);
  });

  it('is 409 idempotency_answer_erased for the whole when one of its users was erased, and does nothing', async () => {
    const [a, b] = people;
    const items = [item(a, { name: 'a' }), item(b, { name: 'b' })];
    await batch(items);
    await bot.hasForgotten(a);
    await bot.hasConsent(a);
    const second = await batch(items);
    expectFailure(second, 409, 'conflict', { reason: 'idempotency_answer_erased' });
    expect(await stored(a)).toStrictEqual({});
    expect(await submits(b)).toBe(1);
  });

  it('with another body is 409 idempotency_key_reused for the whole, whichever item took effect', async () => {
    const [a, b, c] = people;
    await bot.hasRevoked(a);
    const items = [item(a, { name: 'a' }), item(b, { name: 'b' })];
    await batch(items);
    await bot.hasConsent(a, '2.0');
    const reused = { reason: 'idempotency_key_reused' };
    for (const other of [
      [item(c, { name: 'c' })],
      [items[0]!],
      [...items, items[0]!],
      [items[1]!, items[0]!],
    ])
      expectFailure(await batch(other), 409, 'conflict', reused);
    expect([await submits(a), await submits(b), await submits(c)]).toStrictEqual([0, 1, 0]);
  });

  it('is no repeat of a single request or of another bot’s batch with the same key', async () => {
    const [a] = people;
    const other = await service.registerBot();
    const single = item(a, { name: 'single' });
    await bot.post('/data/submit', single, { 'idempotency-key': key });
    const theirs = await other.post<{ results: Result[] }>(
      '/data/submit/batch',
      { items: [single] },
      { 'idempotency-key': key },
    );
    expect(theirs.data.results[0]?.error?.code).toBe('consent_required');
    const answer = await batch([single]);
    expect([answer.data.results[0]?.ok, replayed(answer), await submits(a)]).toStrictEqual([true, false, 2]);
  });

  it('sent many times at once does each item once', async () => {
    const items = people.map((who) => item(who, { name: 'x' }));
    const answers = await Promise.all(Array.from({ length: 10 }, () => batch(items)));
    for (const answer of answers)
      if (answer.status !== 200)
        expectFailure(answer, 409, 'conflict', { reason: 'idempotency_in_progress' });
    expect(await Promise.all(people.map(submits))).toStrictEqual([1, 1, 1]);
  });
});
