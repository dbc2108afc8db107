import { SubjectDigests } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { type Bot, field } from '../support/bot';
import { type Answer, Client, type Json, PREFIX } from '../support/client';
import { expectFailure, expectFaults, expectSuccess, submitted } from '../support/expected';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess({ RATE_LIMIT_TIERS: 'free=100000' });
let bot: Bot;
let who: SubjectIds;
let people: SubjectIds[];
beforeAll(async () => {
  bot = await service.registerBot();
  await bot.hasCategory('profile', [field('name'), field('age', 'number'), field('extra', 'json')]);
  await bot.hasCategory('notes');
});
beforeEach(async () => {
  const guild_id = snowflake();
  people = Array.from({ length: 3 }, () => ({ user_id: snowflake(), guild_id }));
  [who] = people as [SubjectIds];
  for (const one of people) await bot.hasConsent(one);
});

interface Result {
  readonly ok: boolean;
  readonly data?: Json;
  readonly error?: { readonly code: string; readonly message: string; readonly details?: Json };
}
type Batch = Answer<{ results: Result[] }>;

const item = (whom: SubjectIds, name: string, more: Json = {}): Json => ({
  ...{ ...whom, category: 'profile', data: { name }, ...more },
});
const batch = (items: readonly unknown[], of: Client = bot): Promise<Batch> =>
  of.post('/data/submit/batch', { items });
const batchText = (items: string): Promise<Batch> =>
  bot.send('POST', `${PREFIX}/data/submit/batch`, {
    headers: { 'content-type': 'application/json' },
    raw: `{"items":${items}}`,
  });
const resultsOf = (answer: Batch): Result[] => {
  expect([answer.status, Object.keys(answer.data)]).toStrictEqual([200, ['results']]);
  return answer.data.results;
};
const stored = async (whom: SubjectIds) => (await bot.export<{ data: Json }>(whom)).data.data;
/** The results that the items have, sent alone one after the other. */
async function alone(items: readonly unknown[]): Promise<Result[]> {
  const results: Result[] = [];
  for (const one of items) {
    const raw = JSON.stringify(one);
    const answer = await bot.send('POST', `${PREFIX}/data/submit`, {
      headers: { 'content-type': 'application/json' },
      raw,
    });
    if (answer.status === 200) results.push({ ok: true, data: answer.data });
    else results.push({ ok: false, error: answer.error });
  }
  return results;
}

describe('POST /api/v1/data/submit/batch', () => {
  it('answers 200 with a result for each item in their order, and stores what is accepted', async () => {
    const answer = await batch(people.map((one, at) => item(one, `n${at}`)));
    expectSuccess(answer, 200, {
      results: people.map((one) => ({ ok: true, data: submitted(one, 'profile') })),
    });
    for (const [at, one] of people.entries())
      expect(await stored(one)).toStrictEqual({ profile: { name: `n${at}` } });
  });

  it('answers each item with the data or the error of the single request', async () => {
    await bot.hasRevoked(people[1]!);
    const items = [
      item(who, 'a'),
      item(subject(), 'b'),
      item(people[1]!, 'c'),
      item(who, 'd', { category: 'unknown' }),
      item(who, 'e', { data: { name: 1, other: 2 } }),
      item(who, 'f', { user_id: 1, guild_id: undefined, mode: 'append' }),
      item(who, 'g', { data: { name: 'x'.repeat(65_536) } }),
      item(who, 'h', { data: { extra: 2 ** 60 } }),
      {},
      item(people[2]!, 'i', { mode: 'merge' }),
    ];
    const results = resultsOf(await batch(items));
    const data = { updated_at: expect.any(String) as unknown };
    const expected = (await alone(items)).map((one) =>
      one.ok ? { ...one, data: { ...one.data, ...data } } : one,
    );
    expect(results).toStrictEqual(expected);
    expect(results.map(({ error }) => error?.code)).toStrictEqual([
      ...[undefined, 'consent_required', 'consent_required', 'not_found', 'invalid_request'],
      ...['invalid_request', 'payload_too_large', 'invalid_request', 'invalid_request', undefined],
    ]);
  });

  it('answers 200 also when every item is refused, and nothing is stored', async () => {
    const results = resultsOf(await batch([item(subject(), 'a'), 1, item(who, 'b', { category: 'x' })]));
    expect(results.map(({ ok }) => ok)).toStrictEqual([false, false, false]);
    expect(await stored(who)).toStrictEqual({});
    expect(await bot.eventTypes(who)).not.toContain('data_submitted');
  });

  it.each([
    ['a number', '1'],
    ['null', 'null'],
    ['a list', '[]'],
    ['a text', '"x"'],
  ])('answers an item that is %s with its own 400 that names body', async (_, text) => {
    const [good, bad] = resultsOf(await batchText(`[${JSON.stringify(item(who, 'a'))},${text}]`));
    expect([good?.ok, bad?.error?.code]).toStrictEqual([true, 'invalid_request']);
    expect(bad?.error?.details).toStrictEqual({
      fields: [{ field: 'body', message: 'must be a JSON object' }],
    });
  });

  it('answers an item with a NUL, one that is too deep and one that is too long with its own error', async () => {
    const bad = [
      item(who, 'a\0'),
      item(who, 'b', { data: { extra: JSON.parse('['.repeat(15) + ']'.repeat(15)) as unknown } }),
      item(who, 'c', { extra: 'x'.repeat(262_144) }),
    ];
    const results = resultsOf(await batch([...bad, item(who, 'd')]));
    expect(results.slice(0, 3)).toStrictEqual(await alone(bad));
    expect(results.map(({ error }) => error?.code)).toStrictEqual([
      ...['invalid_request', 'invalid_request', 'payload_too_large', undefined],
    ]);
  });

  it('takes an item as deep as a single request may be', async () => {
    const deep = JSON.parse('['.repeat(14) + ']'.repeat(14)) as unknown;
    const [one] = resultsOf(await batch([item(who, 'a', { data: { extra: deep } })]));
    expect(one?.ok).toBe(true);
    expect(await stored(who)).toStrictEqual({ profile: { extra: deep } });
  });

  it.each([
    ['no list', undefined, 'items'],
    ['null', null, 'items'],
    ['an empty list', [], 'items'],
    ['an object', {}, 'items'],
    ['a text', 'x', 'items'],
    ['101 items', Array.from({ length: 101 }, () => ({})), 'items'],
  ])('answers 400 for the whole to %s, and does nothing', async (_, items, name) => {
    expectFaults(await bot.post('/data/submit/batch', { items }), name);
  });

  it.each([
    '[{]',
    '[{},]',
    '[,{}]',
    '[{}{}]',
    '[{},NaN]',
    '[{"a":}]',
    '[{}',
    '{}]',
    '[{}}',
    '[\u00001]',
    '[ , ]',
  ])('answers 400 for the whole to malformed JSON in the list: %s', async (items) => {
    const answer = await batchText(items.replace('{}', JSON.stringify(item(who, 'a'))));
    expectFaults(answer, 'body');
    expect(await stored(who)).toStrictEqual({});
  });

  it('takes 100 items, and the guide’s shape as no item', async () => {
    const items = Array.from({ length: 99 }, (_, at) => item(people[at % 3]!, `n${at}`));
    const results = resultsOf(
      await batch([...items, { ...item(who, 'x'), guild_id: undefined, bot_id: bot.id }]),
    );
    expect(results.map(({ ok }) => ok)).toStrictEqual([...items.map(() => true), false]);
    expect(await stored(people[2]!)).toStrictEqual({ profile: { name: 'n98' } });
  });

  it('takes white space, escapes and repeated names as JSON takes them; the last list counts', async () => {
    const one = (name: string) => JSON.stringify(item(who, name)).replaceAll('","', '" ,\n "');
    const raw = `{ "a": "items", "b": [[1, {"items": [2]}], "]"], "items": [7], "\\u0069tems" :\t[ ${one('x')} , ${one('a,"]}[{')} ] }`;
    const answer: Batch = await bot.send('POST', `${PREFIX}/data/submit/batch`, {
      headers: { 'content-type': 'application/json' },
      raw,
    });
    expect(resultsOf(answer).map(({ ok }) => ok)).toStrictEqual([true, true]);
    expect(await stored(who)).toStrictEqual({ profile: { name: 'a,"]}[{' } });
  });

  it('answers 401 without a key', async () => {
    expectFailure(await batch([item(who, 'a')], service.anonymous), 401, 'unauthorized');
  });

  it('answers 413 for the whole to a body of more than 1 MiB, and takes one of 1 MiB', async () => {
    const sized = (bytes: number) => {
      const items = people.map((one) => item(one, 'x', { pad: 'x'.repeat(200_000) }));
      const rest = bytes - JSON.stringify({ items }).length;
      const pads = Array.from({ length: 2 }, (_, at) =>
        item(who, 'y', { pad: 'x'.repeat(at === 0 ? 200_000 : 0) }),
      );
      const more = rest - JSON.stringify(pads).length + 1;
      return JSON.stringify({ items: [...items, pads[0], { ...pads[1], pad: 'x'.repeat(more) }] });
    };
    const send = (raw: string): Promise<Batch> =>
      bot.send('POST', `${PREFIX}/data/submit/batch`, {
        headers: { 'content-type': 'application/json' },
        raw,
      });
    expect(sized(1_048_576)).toHaveLength(1_048_576);
    expect(resultsOf(await send(sized(1_048_576))).map(({ ok }) => ok)).toStrictEqual(Array(5).fill(true));
    expectFailure(await send(sized(1_048_577)), 413, 'payload_too_large', { limit_bytes: 1_048_576 });
  });

  it('does items about one user in their order: replace, merge, other categories, removal', async () => {
    const items = [
      item(who, 'first', { data: { name: 'first', age: 1 } }),
      item(who, 'second', { mode: 'merge' }),
      item(who, '', { category: 'notes', data: { value: 'a' } }),
      item(who, '', { data: { age: null, extra: [1] }, mode: 'merge' }),
      item(who, '', { category: 'notes', data: {} }),
      item(people[1]!, 'other'),
      item(who, '', { category: 'notes', data: { value: 'b' } }),
    ];
    expect(resultsOf(await batch(items)).map(({ ok }) => ok)).toStrictEqual(items.map(() => true));
    expect(await stored(who)).toStrictEqual({
      profile: { name: 'second', extra: [1] },
      notes: { value: 'b' },
    });
    expect((await bot.eventTypes(who)).slice(2)).toStrictEqual([
      ...['data_submitted', 'data_submitted', 'data_submitted', 'data_submitted', 'data_deleted'],
      ...['data_submitted', 'data_exported'],
    ]);
  });

  it('does a merge before the replacement that follows it', async () => {
    await batch([
      ...people.map((one) => item(one, '', { data: { age: 9 }, mode: 'merge' })),
      ...people.map((one) => item(one, 'last')),
    ]);
    for (const one of people) expect(await stored(one)).toStrictEqual({ profile: { name: 'last' } });
  });

  it('does 100 items about one user in their order', async () => {
    const items = Array.from({ length: 100 }, (_, at) =>
      item(who, '', { data: { extra: { [`k${at}`]: at, last: at } }, mode: at === 0 ? 'replace' : 'merge' }),
    );
    await batch(items);
    const all = Object.fromEntries(items.map((_, at) => [`k${at}`, at]));
    expect(await stored(who)).toStrictEqual({ profile: { extra: { ...all, last: 99 } } });
  });

  it('answers an item about a user under erasure with the single request’s refusal, and does the others', async () => {
    const { userId } = service.app.get(SubjectDigests).named(bot.id, people[1]!);
    const close = 'UPDATE consents SET erasing = 1 WHERE bot_id = ? AND user_id = ?';
    await service.app.get(UnitOfWork).write((tx) => tx.run(close, bot.id, userId));
    const items = people.map((one) => item(one, 'a'));
    const results = resultsOf(await batch(items));
    expect(results.map(({ ok }) => ok)).toStrictEqual([true, false, true]);
    expect(results[1]).toStrictEqual((await alone(items))[1]);
  });

  it('leaves what another bot has stored about the same users untouched', async () => {
    const other = await service.registerBot();
    await other.hasCategory('profile', [field('name')]);
    await other.hasConsent(who);
    await other.hasData(who, 'profile', { name: 'theirs' });
    const [mine, theirs] = [await batch([item(who, 'mine')]), await batch([item(people[1]!, 'x')], other)];
    expect(resultsOf(mine)[0]?.ok).toBe(true);
    expect(resultsOf(theirs)[0]?.error?.code).toBe('consent_required');
    expect((await other.export<{ data: Json }>(who)).data.data).toStrictEqual({
      profile: { name: 'theirs' },
    });
    expect(await stored(people[1]!)).toStrictEqual({});
  });

  it('writes one audit event for each item that took effect', async () => {
    await batch([item(who, 'a'), item(who, 'b', { category: 'x' }), item(people[1]!, 'c'), item(who, 'd')]);
    expect((await bot.eventTypes(who)).slice(2)).toStrictEqual(['data_submitted', 'data_submitted']);
    expect((await bot.eventTypes(people[1]!)).slice(2)).toStrictEqual(['data_submitted']);
    const path = `/audit/events?guild_id=${who.guild_id}&event_type=data_submitted`;
    const { pagination } = (await bot.get<{ pagination: Json }>(path)).data;
    expect(pagination['total_count']).toBe(3);
  });
});
