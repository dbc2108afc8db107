import { type Bot, field } from '../support/bot';
import { type Json, PREFIX } from '../support/client';
import { expectFailure, expectFaults, expectSuccess, submitted } from '../support/expected';
import { ABSENT, BAD_SNOWFLAKES, type Case, itRefuses, PECULIAR_KEYS } from '../support/inputs';
import { useService } from '../support/shared-service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useService();
let bot: Bot;
let who: SubjectIds;
beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
  await bot.hasCategory('profile', [
    field('name'),
    field('age', 'number'),
    field('member', 'boolean'),
    field('born', 'date'),
    field('extra', 'json'),
  ]);
  await bot.hasConsent(who);
});

const submit = (data: unknown, more: Json = {}) =>
  bot.post('/data/submit', { ...who, category: 'profile', data, ...more });
/** Valid JSON in forms that JSON.stringify does not write. */
const submitText = (data: string) =>
  bot.send('POST', `${PREFIX}/data/submit`, {
    headers: { 'content-type': 'application/json' },
    raw: JSON.stringify({ ...who, category: 'profile', data: 0 }).replace('"data":0', `"data":${data}`),
  });
const stored = async () => (await bot.export<{ data: Json }>(who)).data.data;

describe('POST /api/v1/data/submit', () => {
  const ada = { name: 'Ada', age: 36, member: true, born: '1815-12-10', extra: { likes: ['maths', null] } };

  it('answers 200 with what was stored where, and never the values', async () => {
    const answer = await submit(ada);
    expectSuccess(answer, 200, submitted(who, 'profile'));
    expect(answer.text).not.toContain('Ada');
    expect(await stored()).toStrictEqual({ profile: ada });
  });

  it('answers 200 to some of the fields alone', async () => {
    await submit({ name: 'Ada' });
    expect(await stored()).toStrictEqual({ profile: { name: 'Ada' } });
  });

  it('replaces what was stored', async () => {
    await submit(ada);
    await submit({ age: 37 });
    expect(await stored()).toStrictEqual({ profile: { age: 37 } });
  });

  it('takes null as "no value", whatever the type', async () => {
    await submit({ name: null, age: null, member: null, born: null, extra: null });
    expect(await stored()).toStrictEqual({});
    await submit({ name: 'Ada', age: null });
    expect(await stored()).toStrictEqual({ profile: { name: 'Ada' } });
  });

  it('removes the category from the export with its last value', async () => {
    await submit(ada);
    await submit({});
    expect(await stored()).toStrictEqual({});
  });

  it('keeps categories, guilds and users apart', async () => {
    const elsewhere = { ...who, guild_id: subject().guild_id };
    await bot.hasCategory('other');
    await bot.hasConsent(elsewhere);
    await submit({ name: 'here' });
    await bot.hasData(elsewhere, 'profile', { name: 'elsewhere' });
    await bot.hasData(who, 'other', { value: 'x' });
    expect(await stored()).toStrictEqual({ profile: { name: 'here' }, other: { value: 'x' } });
    expect((await bot.export(elsewhere)).data['data']).toStrictEqual({ profile: { name: 'elsewhere' } });
  });

  it('keeps the order of keys, and keys that look like numbers inside json', async () => {
    await submitText('{"extra":{"b":1,"a":2},"name":"x","age":1}');
    expect((await bot.export(who)).text).toContain('{"extra":{"b":1,"a":2},"name":"x","age":1}');
  });

  it('writes -0 as 0', async () => {
    await submitText('{"age":-0}');
    expect((await bot.export(who)).text).toContain('"age":0');
  });

  it('ignores unknown fields of the body', async () => {
    expect((await submit({ name: 'x' }, { stored: false, updated_at: 'x', id: 1 })).status).toBe(200);
  });

  describe('without consent', () => {
    it('answers 403 consent_required when the user was never asked', async () => {
      expectFailure(await submit({ name: 'x' }, subject() as unknown as Json), 403, 'consent_required');
    });

    it('answers 403 consent_required when the user has not accepted', async () => {
      const pending = subject();
      await bot.hasRequest(pending);
      expectFailure(await submit({ name: 'x' }, { ...pending }), 403, 'consent_required');
    });

    it('answers 403 consent_required after a revocation, and keeps what was stored', async () => {
      await submit({ name: 'before' });
      await bot.hasRevoked(who);
      expectFailure(await submit({ name: 'after' }), 403, 'consent_required');
      expect(await stored()).toStrictEqual({ profile: { name: 'before' } });
    });

    it('answers 403 consent_required while a new request waits after a revocation', async () => {
      await bot.hasRevoked(who);
      await bot.hasRequest(who);
      expectFailure(await submit({ name: 'x' }), 403, 'consent_required');
    });

    it('answers 403 consent_required after an erasure', async () => {
      await bot.hasForgotten(who);
      expectFailure(await submit({ name: 'x' }), 403, 'consent_required');
    });

    it('answers 403 consent_required for a consent to another guild, user or bot', async () => {
      const other = await service.registerBot();
      await other.hasCategory('profile');
      const body = { ...who, category: 'profile', data: {} };
      expectFailure(await other.post('/data/submit', body), 403, 'consent_required');
      for (const name of ['user_id', 'guild_id'])
        expectFailure(await submit({}, { [name]: subject().user_id }), 403, 'consent_required');
    });

    it('answers 200 again after a new consent', async () => {
      await bot.hasRevoked(who);
      await bot.hasConsent(who, '2.0');
      expect((await submit({ name: 'x' })).status).toBe(200);
    });
  });

  it('answers 404 not_found for a category that is not registered', async () => {
    expectFailure(await submit({}, { category: 'unknown' }), 404, 'not_found');
  });

  it.each(['__proto__', 'constructor', 'Profile', 'no such key!'])(
    'answers 404 for the category %j',
    async (category) => {
      expectFailure(await submit({}, { category }), 404, 'not_found');
    },
  );

  it('answers 404 for a category of another bot', async () => {
    await (await service.registerBot()).hasCategory('theirs');
    expectFailure(await submit({ value: 'x' }, { category: 'theirs' }), 404, 'not_found');
  });

  it('checks the body before the consent, the consent before the category, the category before the values', async () => {
    const stranger = { ...subject() };
    expectFaults(await submit('x', { ...stranger, category: 'unknown' }), 'data');
    expectFailure(await submit({ bad: 1 }, { ...stranger, category: 'unknown' }), 403, 'consent_required');
    expectFailure(await submit({ bad: 1 }, { category: 'unknown' }), 404, 'not_found');
    expectFaults(await submit({ bad: 1 }), 'data.bad');
  });

  it('says beside the missing consent that the category is not found, in every call that names one', async () => {
    const stranger = subject();
    const item = { ...stranger, category: 'unknown', data: { bad: 1 } };
    const { data } = await bot.post<{ results: { error: Json }[] }>('/data/submit/batch', { items: [item] });
    const query = `guild_id=${stranger.guild_id}&category=`;
    const values = (category: string) => bot.get(`/data/values/${stranger.user_id}?${query}${category}`);
    const answers = [await bot.post('/data/submit', item), await values('unknown')];
    for (const error of [...answers.map((answer) => answer.error), data?.results[0]?.error])
      expect(error).toMatchObject({
        code: 'consent_required',
        message: expect.stringContaining('the category is not found'),
      });
    expect((await values('profile')).error?.message).not.toContain('category');
  });

  it('answers 401 without a key', async () => {
    expectFailure(
      await service.anonymous.post('/data/submit', { ...who, category: 'profile', data: {} }),
      401,
      'unauthorized',
    );
  });

  it('names every missing field at once', async () => {
    expectFaults(await bot.post('/data/submit', {}), 'user_id', 'guild_id', 'category', 'data');
  });

  const send = (body: Json) => bot.post('/data/submit', body);
  const valid = (): Json => ({ ...who, category: 'profile', data: { name: 'x' } });
  itRefuses('user_id', BAD_SNOWFLAKES, send, valid);
  itRefuses('guild_id', BAD_SNOWFLAKES, send, valid);
  itRefuses(
    'category',
    [
      ...ABSENT,
      ['empty', ''],
      ['a number', 1],
      ['an array', ['profile']],
      ['an object', {}],
      ['a boolean', true],
      ['with a NUL', 'profile\0'],
    ],
    send,
    valid,
  );
  itRefuses(
    'data',
    [...ABSENT, ['an array', [{ name: 'x' }]], ['a text', 'x'], ['a number', 1], ['a boolean', true]],
    send,
    valid,
  );
  itRefuses(
    'mode',
    [
      ['unknown', 'append'],
      ['upper case', 'MERGE'],
      ['empty', ''],
      ['a number', 1],
      ['an object', {}],
    ],
    send,
    valid,
  );

  it('takes data of 64 KiB as JSON and answers 413 one byte above', async () => {
    const data = (bytes: number) => ({ name: 'x'.repeat(bytes - '{"name":""}'.length) });
    expect((await submit(data(65_536))).status).toBe(200);
    expectFailure(await submit(data(65_537)), 413, 'payload_too_large');
    expect(await stored()).toStrictEqual({ profile: data(65_536) });
  });
});

describe('the values of POST /api/v1/data/submit', () => {
  const texts = ['', 'x', ' spaced ', 'null', '😀', 'a"b\\c/d', '{"a":1}', '<b>', 'x'.repeat(10_000)];
  const good: Record<string, readonly unknown[]> = {
    name: texts,
    age: [0, -1, 1.5, 1e-7, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0.1 + 0.2, Number.MIN_VALUE],
    member: [true, false],
    born: [
      '2024-02-29',
      '0001-01-01',
      '9999-12-31',
      '2026-01-31T23:59',
      '2026-01-31T23:59:59',
      '2026-01-31T23:59:59.123',
      '2026-01-31T23:59:59Z',
      '2026-01-31T23:59:59.123456+05:30',
    ],
    extra: [0, '', false, [], {}, [1, 'a', null, { b: [] }], { a: { b: { c: null } } }, texts],
  };
  it.each(Object.entries(good).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
    'come back as they were sent: %s %j',
    async (name, value) => {
      expectSuccess(await submit({ [name]: value }), 200, submitted(who, 'profile'));
      expect(await stored()).toStrictEqual({ profile: { [name]: value } });
    },
  );

  const bad: Record<string, readonly unknown[]> = {
    name: [1, true, [], {}, ['x'], { a: 'x' }],
    age: ['1', true, [], {}, [1]],
    member: [0, 1, 'true', 'false', [], {}],
    born: [
      '',
      'now',
      'today',
      '2026-02-30',
      '2025-02-29',
      '2026-13-01',
      '2026-00-10',
      '2026-01-00',
      '2026-1-1',
      '20260131',
      '31.01.2026',
      '2026-01-31T24:01',
      '2026-01-31T10:60',
      '2026-01-31T10:00+25:00',
      '2026-01-31 10:00',
      '2026-01-31T',
      '2026-01-31\n',
      ' 2026-01-31',
      '２０２６-01-31',
      1769817600,
      true,
      [],
      {},
    ],
  };
  it.each(Object.entries(bad).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
    'are refused with 400 naming the field: %s %j',
    async (name, value) => {
      expectFaults(await submit({ [name]: value }), `data.${name}`);
      expect((await bot.export(who)).data).toMatchObject({ data: {} });
    },
  );

  it.each(['1e400', '-1e400'])('are refused when they are no finite number: %s', async (number) => {
    expectFaults(await submitText(`{"age":${number}}`), 'data.age');
    expectFaults(await submitText(`{"extra":{"deep":[${number}]}}`), 'data.extra.deep[0]');
  });

  it.each([
    ...['9007199254740993', '12345678901234567890', '-9007199254740992'],
    ...['1234567890123456789012', '-1234567890123456789012', '1234567890123456789012.0'],
  ])('are refused when they are whole numbers that lose digits: %s', async (number) => {
    expectFaults(await submitText(`{"age":${number}}`), 'data.age');
    expectFaults(await submitText(`{"extra":{"deep":[${number}]}}`), 'data.extra.deep[0]');
  });

  it.each(['1.7976931348623157e+308', '-1e+21', '9007199254740991', '5e-324', '0.12345678901234568'])(
    'are taken and come back when they are finite and exact: %s',
    async (number) => {
      expect((await submitText(`{"age":${number}}`)).status).toBe(200);
      expect((await bot.export(who)).text).toContain(`"age":${number}`);
    },
  );

  it('are all checked: every fault is listed, and nothing is stored', async () => {
    const answer = await submit({ name: 1, age: 'x', member: 2, born: 'x', extra: 'good', unknown: 1 });
    expectFaults(answer, 'data.name', 'data.age', 'data.member', 'data.born', 'data.unknown');
    expect(await stored()).toStrictEqual({});
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'Name', ' name', ''])(
    'are refused under a key that is not declared, never dropped: %j',
    async (key) => {
      expectFaults(await submitText(`{"name":"x",${JSON.stringify(key)}:"y"}`), `data.${key}`);
      expect(await stored()).toStrictEqual({});
    },
  );

  it.each(PECULIAR_KEYS)('survive the round trip under the key %s, of category and field', async (key) => {
    await bot.hasCategory(key, [field(key)]);
    const raw = JSON.stringify({ ...who, category: key, data: 0 }).replace(
      '"data":0',
      `"data":{"${key}":"kept"}`,
    );
    const headers = { 'content-type': 'application/json' };
    expect((await bot.send('POST', `${PREFIX}/data/submit`, { headers, raw })).status).toBe(200);
    expect((await bot.export(who)).text).toContain(`"data":{"${key}":{"${key}":"kept"}}`);
    expect(
      (await bot.post<{ deleted_categories: string[] }>('/gdpr/forget-user', who)).data.deleted_categories,
    ).toStrictEqual([key]);
  });
});

describe('POST /api/v1/data/submit with mode merge (RFC 7396)', () => {
  const merge = (data: Json) => submit(data, { mode: 'merge' });
  const cases: readonly [string, Json, Json, Json][] = [
    ['adds a key', { name: 'a' }, { age: 1 }, { name: 'a', age: 1 }],
    ['replaces a value', { name: 'a', age: 1 }, { name: 'b' }, { name: 'b', age: 1 }],
    ['removes a key with null', { name: 'a', age: 1 }, { age: null }, { name: 'a' }],
    ['leaves everything with an empty object', { name: 'a' }, {}, { name: 'a' }],
    ['stores where nothing was', {}, { name: 'a' }, { name: 'a' }],
    [
      'merges inside json',
      { extra: { a: 1, b: { c: 2, d: 3 } } },
      { extra: { b: { c: null, e: 4 } } },
      { extra: { a: 1, b: { d: 3, e: 4 } } },
    ],
    ['replaces arrays whole', { extra: [1, 2, 3] }, { extra: [4] }, { extra: [4] }],
    ['replaces a value by an object', { extra: 'x' }, { extra: { a: 1 } }, { extra: { a: 1 } }],
    ['replaces an object by a value', { extra: { a: 1 } }, { extra: 'x' }, { extra: 'x' }],
    [
      'drops nulls of a new object',
      { name: 'a' },
      { extra: { a: null, b: 1 } },
      { name: 'a', extra: { b: 1 } },
    ],
  ];
  it.each(cases)('%s', async (_, before, patch, after) => {
    await submit(before);
    expectSuccess(await merge(patch), 200, submitted(who, 'profile'));
    expect(await stored()).toStrictEqual({ profile: after });
  });

  it('removes the category from the export with its last value', async () => {
    await submit({ name: 'a' });
    await merge({ name: null });
    expect(await stored()).toStrictEqual({});
  });

  it('answers 400 for a bad value and changes nothing', async () => {
    await submit({ name: 'a' });
    expectFaults(await merge({ age: 'x' }), 'data.age');
    expect(await stored()).toStrictEqual({ profile: { name: 'a' } });
  });

  it('answers 413 when the merged object is too large, and changes nothing', async () => {
    await submit({ name: 'x'.repeat(40_000) });
    expectFailure(await merge({ extra: 'y'.repeat(40_000) }), 413, 'payload_too_large');
    expect(Object.keys((await stored())['profile'] as Json)).toStrictEqual(['name']);
  });

  it.each<Case>([
    ['null', null],
    ['replace', 'replace'],
    ['missing', undefined],
  ])('is not what happens when mode is %s', async (_, mode) => {
    await submit({ name: 'a', age: 1 });
    await submit({ age: 2 }, { mode });
    expect(await stored()).toStrictEqual({ profile: { age: 2 } });
  });

  it('answers 403 without consent', async () => {
    await bot.hasRevoked(who);
    expectFailure(await merge({ name: 'x' }), 403, 'consent_required');
  });
});
