import { type Bot, field } from '../support/bot';
import type { Json } from '../support/client';
import {
  category,
  expectFailure,
  expectFaults,
  expectSameRefusal,
  expectSuccess,
  pagination,
} from '../support/expected';
import {
  ABSENT,
  BAD_KEYS,
  BAD_PAGE_SIZES,
  BAD_PAGES,
  badTexts,
  type Case,
  goodTexts,
  itRefuses,
  itTakes,
  PECULIAR_KEYS,
} from '../support/inputs';
import { useService } from '../support/shared-service';
import { subject } from '../support/snowflakes';

const service = useService();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot();
});

const register = (body: unknown) => bot.post('/data/register', body);
const labels = { label_de: 'Profil', label_en: 'Profile' };
const valid = (): Json => ({ key: 'profile', ...labels, fields: [field('name')] });
/** A field in an answer. */
const declared = (key: string, type = 'string') => ({ ...field(key, type), description: null });

/** The contract limits no text, so that only other types are refused. */
const BAD_LABELS = [...ABSENT, ...badTexts(10)].filter(([label]) => !/^of |^full/.test(label));

const BAD_LEGAL_BASES: readonly Case[] = [
  ['unknown', 'because'],
  ['upper case', 'CONSENT'],
  ['empty', ''],
  ['a number', 1],
  ['an array', ['consent']],
];
const BAD_RETENTIONS: readonly Case[] = [
  ['zero', 0],
  ['negative', -1],
  ['3651', 3651],
  ['a fraction', 1.5],
  ['a text', '30'],
  ['an array', [30]],
  ['a boolean', true],
];

describe('POST /api/v1/data/register', () => {
  it('answers 201 with the category', async () => {
    expectSuccess(
      await register(valid()),
      201,
      category({ key: 'profile', ...labels, fields: [declared('name')] }),
    );
  });

  it('answers 201 with everything that can be declared', async () => {
    const purpose = { description: 'Who you are', retention_days: 3650, legal_basis: 'contract' };
    const fields = ['string', 'number', 'boolean', 'date', 'json'].map((type) => ({
      ...field(type, type),
      description: `A ${type}`,
    }));
    const body = { key: 'everything', ...labels, fields, ...purpose };
    const warnings = [expect.stringContaining('requires_consent') as string];
    expectSuccess(await register(body), 201, { ...category(body), warnings });
    expectSuccess(await bot.get('/data/categories/everything'), 200, category(body));
  });

  it('answers 409 conflict category_exists to a second registration of a key, and keeps the first', async () => {
    const first = await register(valid());
    const answer = await register({ ...valid(), label_en: 'Other' });
    expectFailure(answer, 409, 'conflict', { reason: 'category_exists' });
    expectSuccess(await bot.get('/data/categories/profile'), 200, first.data);
  });

  it('answers 201 to the key of another bot', async () => {
    const other = await service.registerBot();
    expect((await register(valid())).status).toBe(201);
    expect((await other.post('/data/register', valid())).status).toBe(201);
  });

  it('answers 401 without a key', async () => {
    expectFailure(await service.anonymous.post('/data/register', valid()), 401, 'unauthorized');
  });

  it('ignores unknown fields, in the elements of fields too', async () => {
    const body = {
      ...valid(),
      id: bot.id,
      colour: 'blue',
      fields: [{ ...field('name'), id: 1, colour: 'red' }],
    };
    expectSuccess(
      await register(body),
      201,
      category({ key: 'profile', ...labels, fields: [declared('name')] }),
    );
  });

  it('takes 50 fields', async () => {
    const fields = Array.from({ length: 50 }, (_, index) => declared(`f${index}`));
    const answer = await register({ ...valid(), fields });
    expectSuccess(answer, 201, category({ key: 'profile', ...labels, fields }));
  });

  it('names every bad field at once, nested ones by path', async () => {
    const fields = [field('good'), { key: 'Bad', type: 'text', label_de: '' }];
    const answer = await register({ key: '1', label_de: '', fields });
    expectFaults(
      answer,
      'key',
      'label_de',
      'label_en',
      'fields[1].key',
      'fields[1].type',
      'fields[1].label_de',
      'fields[1].label_en',
    );
  });

  it('names a missing reason beside two fields of one key', async () => {
    const more = { requires_consent: false, legal_basis: 'contract' };
    const answer = await register({ ...valid(), ...more, fields: [field('a'), field('a')] });
    expectFaults(answer, 'fields[1].key', 'reason_de', 'reason_en');
  });

  it('answers 400 naming the second of two fields of one key', async () => {
    expectFaults(
      await register({ ...valid(), fields: [field('a'), field('b'), field('a')] }),
      'fields[2].key',
    );
  });

  it.each(PECULIAR_KEYS)('takes %s as a key of category and field, and reads it back', async (key) => {
    const answer = await register({ ...valid(), key, fields: [field(key)] });
    expectSuccess(answer, 201, category({ key, ...labels, fields: [declared(key)] }));
    expectSuccess(await bot.get(`/data/categories/${key}`), 200, answer.data);
  });

  itRefuses('key', [...BAD_KEYS, ['of 101 characters', 'k'.repeat(101)]], register, valid);
  itTakes('key', [['of 100 characters', 'k'.repeat(100)]], register, valid, 201);
  itRefuses('label_de', BAD_LABELS, register, valid);
  itRefuses('label_en', BAD_LABELS, register, valid);
  itTakes('label_de', goodTexts(200), register, valid, 201);
  itTakes('label_en', goodTexts(200), register, valid, 201);
  itRefuses('retention_days', BAD_RETENTIONS, register, valid);
  itTakes('retention_days', [...ABSENT, ['1', 1], ['3650', 3650]], register, valid, 201);
  itRefuses('legal_basis', BAD_LEGAL_BASES, register, valid);
  itTakes(
    'legal_basis',
    ['consent', 'contract', 'legal_obligation', 'vital_interests', 'public_task', 'legitimate_interests'].map(
      (basis) => [basis, basis] as const,
    ),
    register,
    valid,
    201,
  );
  itRefuses(
    'fields',
    [
      ...ABSENT,
      ['empty', []],
      ['of 51 items', Array.from({ length: 51 }, (_, index) => field(`f${index}`))],
      ['of 5,000 items', Array.from({ length: 5000 }, () => ({}))],
      ['an object', {}],
      ['an object with a length', { length: 1, 0: field('name') }],
      ['a text', 'name'],
      ['a number', 1],
      ['a boolean', true],
    ],
    register,
    valid,
  );

  it.each<Case>([
    ['an array', []],
    ['null', null],
    ['a text', 'name'],
    ['a number', 1],
  ])('answers 400 naming the element of fields that is no object (%s)', async (_, element) => {
    expectFaults(await register({ ...valid(), fields: [field('a'), element] }), 'fields[1]');
  });

  const refusesInField = (name: string, cases: readonly Case[]) =>
    it.each(cases)(`answers 400 invalid_request naming fields[1].${name} (%s)`, async (_, value) => {
      const fields = [field('a'), { ...field('b'), [name]: value }];
      expectFaults(await register({ ...valid(), fields }), `fields[1].${name}`);
    });
  refusesInField('key', BAD_KEYS);
  refusesInField('type', [
    ...ABSENT,
    ['unknown', 'text'],
    ['upper case', 'String'],
    ['empty', ''],
    ['a number', 1],
    ['an array', ['string']],
    ['a name of Object.prototype', 'constructor'],
  ]);
  refusesInField('label_de', BAD_LABELS);
  refusesInField('label_en', BAD_LABELS);
  refusesInField('description', [
    ['a number', 1],
    ['an object', {}],
  ]);

  it.each(['', ' \u200b', null])('takes the description %j, and answers it', async (description) => {
    const body = { ...valid(), description, fields: [{ ...field('a'), description }] };
    const { data } = await register(body);
    expect(data).toMatchObject({ description, fields: [{ description }] });
    const read = (await bot.get(`/data/categories/${String(data['key'])}`)).data;
    expect(read).toMatchObject({ description, fields: [{ description }] });
  });
});

describe('GET /api/v1/data/categories', () => {
  it('answers 200 with an empty list and no pages before the first registration', async () => {
    expectSuccess(await bot.get('/data/categories'), 200, {
      categories: [],
      pagination: pagination(1, 20, 0),
    });
  });

  it('answers 200 with 20 on a page by default, every one once', async () => {
    for (let count = 0; count < 23; count++) await bot.hasCategory(`c${count}`);
    const first = await bot.get<{ categories: { key: string }[] }>('/data/categories');
    const second = await bot.get<{ categories: { key: string }[] }>('/data/categories?page=2&page_size=20');
    expect(first.data).toMatchObject({ pagination: pagination(1, 20, 23) });
    expect(second.data).toMatchObject({ pagination: pagination(2, 20, 23) });
    expect([first.data.categories.length, second.data.categories.length]).toStrictEqual([20, 3]);
    const keys = [...first.data.categories, ...second.data.categories].map(({ key }) => key);
    expect(new Set(keys).size).toBe(23);
  });

  it('answers 200 with each category as its registration answered it', async () => {
    const { data } = await register(valid());
    expectSuccess(await bot.get('/data/categories'), 200, {
      categories: [data],
      pagination: pagination(1, 20, 1),
    });
  });

  it('answers 200 with an empty list and the true totals past the end', async () => {
    await register(valid());
    const answer = await bot.get('/data/categories?page=3&page_size=1');
    expectSuccess(answer, 200, { categories: [], pagination: pagination(3, 1, 1) });
  });

  it('shows no category of another bot', async () => {
    await (await service.registerBot()).hasCategory('theirs');
    expectSuccess(await bot.get('/data/categories'), 200, {
      categories: [],
      pagination: pagination(1, 20, 0),
    });
  });

  it.each(BAD_PAGES)('answers 400 naming page (%s)', async (_, page) => {
    expectFaults(await bot.get(`/data/categories?page=${String(page)}`), 'page');
  });

  it.each(BAD_PAGE_SIZES)('answers 400 naming page_size (%s)', async (_, size) => {
    expectFaults(await bot.get(`/data/categories?page_size=${String(size)}`), 'page_size');
  });

  it.each([1, 100])('answers 200 with page_size %i', async (size) => {
    expect((await bot.get(`/data/categories?page_size=${size}`)).data).toMatchObject({
      pagination: { page_size: size },
    });
  });

  it('answers 401 without a key', async () => {
    expectFailure(await service.anonymous.get('/data/categories'), 401, 'unauthorized');
  });
});

describe.each(['GET', 'PUT', 'DELETE'] as const)('%s /api/v1/data/categories/{key}', (method) => {
  const call = (caller: Pick<Bot, 'get' | 'put' | 'delete'>, key: string) =>
    method === 'GET'
      ? caller.get(`/data/categories/${key}`)
      : method === 'PUT'
        ? caller.put(`/data/categories/${key}`, { label_en: 'Changed' })
        : caller.delete(`/data/categories/${key}`);

  it('answers 200 for a category of the bot', async () => {
    await register(valid());
    expect((await call(bot, 'profile')).status).toBe(200);
  });

  it('answers the identical 404 for a category of another bot and for none, and leaves the other', async () => {
    const other = await service.registerBot();
    await other.hasCategory('theirs');
    const before = await other.get('/data/categories');
    const refused = await call(bot, 'theirs');
    expectFailure(refused, 404, 'not_found');
    expectSameRefusal(refused, await call(bot, 'nobodys'));
    expectSuccess(await other.get('/data/categories'), 200, before.data);
  });

  it('answers 401 without a key', async () => {
    expectFailure(await call(service.anonymous, 'profile'), 401, 'unauthorized');
  });

  it('answers 400 or 404 for a key that no category can have', async () => {
    for (const key of ['Profile', '1', 'a-b', '%00', 'a'.repeat(5000)])
      expect([400, 404]).toContain((await call(bot, key)).status);
  });
});

describe('PUT /api/v1/data/categories/{key}', () => {
  it('answers 200 with the changed category, and GET answers the same', async () => {
    const { data } = await register(valid());
    const given = {
      label_de: 'Neu',
      label_en: 'New',
      description: 'Why',
      retention_days: 7,
      legal_basis: 'contract',
    };
    const answer = await bot.put('/data/categories/profile', given);
    expectSuccess(answer, 200, { ...data, ...given });
    expectSuccess(await bot.get('/data/categories/profile'), 200, answer.data);
  });

  it('takes back what null is given for', async () => {
    const { data } = await register({ ...valid(), description: 'Why', retention_days: 7 });
    const none = { description: null, retention_days: null };
    expectSuccess(await bot.put('/data/categories/profile', none), 200, { ...data, ...none });
    expectSuccess(await bot.get('/data/categories/profile'), 200, { ...data, ...none });
  });

  it('changes nothing with an empty object', async () => {
    const { data } = await register(valid());
    expectSuccess(await bot.put('/data/categories/profile', {}), 200, data);
  });

  it('takes further fields, which submit then accepts', async () => {
    const who = subject();
    await register(valid());
    await bot.hasConsent(who);
    const fields = [field('name'), field('age', 'number')];
    expect((await bot.put('/data/categories/profile', { fields })).status).toBe(200);
    await bot.hasData(who, 'profile', { name: 'Ada', age: 36 });
  });

  it.each([
    ['removed', [field('other')]],
    ['of another type', [field('name', 'number'), field('other')]],
  ])(
    'answers 409 category_in_use when a declared field is %s, so that stored values stay readable',
    async (_, fields) => {
      const { data } = await register(valid());
      const answer = await bot.put('/data/categories/profile', { fields });
      expectFailure(answer, 409, 'conflict', { reason: 'category_in_use' });
      expectSuccess(await bot.get('/data/categories/profile'), 200, data);
    },
  );

  it('takes key, id and created_at from no caller', async () => {
    const { data } = await register(valid());
    const given = { key: 'other', id: bot.id, created_at: '2000-01-01T00:00:00.000Z' };
    expectSuccess(await bot.put('/data/categories/profile', given), 200, data);
  });

  it('answers 400 naming the second of two fields of one key', async () => {
    await register(valid());
    const answer = await bot.put('/data/categories/profile', { fields: [field('name'), field('name')] });
    expectFaults(answer, 'fields[1].key');
  });

  it('names every bad field', async () => {
    await register(valid());
    const given = { label_de: '', retention_days: 0, legal_basis: 'x', fields: [] };
    expectFaults(await bot.put('/data/categories/profile', given), ...Object.keys(given));
  });
});

describe('DELETE /api/v1/data/categories/{key}', () => {
  it('takes the declaration and every value stored under it', async () => {
    const who = subject();
    await bot.hasCategory('profile');
    await bot.hasCategory('other');
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'gone' });
    await bot.hasData(who, 'other', { value: 'kept' });
    expect((await bot.delete('/data/categories/profile')).status).toBe(200);
    expectFailure(await bot.get('/data/categories/profile'), 404, 'not_found');
    expect((await bot.export(who)).data['data']).toStrictEqual({ other: { value: 'kept' } });
  });

  it('frees the key', async () => {
    await register(valid());
    await bot.delete('/data/categories/profile');
    expect((await register(valid())).status).toBe(201);
  });
});
