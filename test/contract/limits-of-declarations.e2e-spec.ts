import { type Bot, field } from '../support/bot';
import { type Answer, Client, type Json } from '../support/client';
import { expectFailure } from '../support/expected';
import { useServiceInProcess } from '../support/service';

const LIMIT = 3;
const LIMIT_BYTES = 2_048;

const service = useServiceInProcess({
  CATEGORIES_PER_BOT: String(LIMIT),
  CONSENT_TEXTS_PER_BOT: String(LIMIT),
  DECLARATION_LIMIT_BYTES: String(LIMIT_BYTES),
});
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot();
});

const labels = { label_de: 'Profil', label_en: 'Profile' };
const category = (key: string, given: Json = {}) =>
  bot.post('/data/register', { key, ...labels, fields: [field('value')], ...given });
const inGuideShape = (names: readonly string[]) =>
  bot.post('/data/register', { bot_id: bot.id, categories: names.map((name) => ({ name })) });
const text = (version: string, given: Json = {}) =>
  bot.post('/consents/texts', {
    ...{ consent_version: version, language: 'en', title: 'May we?', body: 'Your name.' },
    ...given,
  });

const expectLimit = (answer: Answer) =>
  expectFailure(answer, 409, 'conflict', { reason: 'limit_reached', limit: LIMIT });
const expectTooLarge = (answer: Answer) =>
  expectFailure(answer, 413, 'payload_too_large', { limit_bytes: LIMIT_BYTES });

/** The keys of `count` declarations. */
const keys = (count: number) => Array.from({ length: count }, (_, at) => `key_${at}`);

async function total(path: string): Promise<unknown> {
  return ((await bot.get(path)).data as { pagination: Json }).pagination['total_count'];
}

describe.each([
  ['a category', '/data/categories', category],
  ['a consent text', '/consents/texts', text],
])('the number of declarations of a bot: %s', (_, path, declare) => {
  it('is limited: one more is answered with 409 limit_reached and is not stored', async () => {
    for (const key of keys(LIMIT)) expect((await declare(key)).status).toBe(201);
    expectLimit(await declare('more'));
    expect(await total(path)).toBe(LIMIT);
  });

  // The second bot finds all connections of PostgreSQL open.
  it.each(['first', 'second'])('holds under many callers at once (the %s bot)', async () => {
    for (const key of keys(LIMIT - 1)) await declare(key);
    const answers = await Promise.all(keys(12).map((key) => declare(`at_once_${key}`)));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(11);
    for (const answer of refused) expectLimit(answer);
    expect(await total(path)).toBe(LIMIT);
  });

  it('is of each bot alone', async () => {
    for (const key of keys(LIMIT)) await declare(key);
    bot = await service.registerBot();
    expect((await declare('own')).status).toBe(201);
  });
});

describe('a declaration at the limit', () => {
  it('is still answered with 409 category_exists for a key that is registered', async () => {
    for (const key of keys(LIMIT)) await category(key);
    expectFailure(await category('key_0'), 409, 'conflict', { reason: 'category_exists' });
  });

  it('is still answered with the record for a text that is registered', async () => {
    for (const key of keys(LIMIT)) await text(key);
    expect((await text('key_0')).status).toBe(201);
  });

  it('can follow once another category is deleted', async () => {
    for (const key of keys(LIMIT)) await category(key);
    await bot.delete('/data/categories/key_0');
    expect((await category('more')).status).toBe(201);
  });

  it('is declared with all others of its request or with none', async () => {
    await category('own');
    expectLimit(await inGuideShape(keys(LIMIT)));
    expect(await total('/data/categories')).toBe(1);
    expect((await inGuideShape(keys(LIMIT - 1))).status).toBe(201);
  });
});

describe('the size of a declaration', () => {
  /** A description with which the record that `declare` answers has exactly `length` bytes. */
  async function filling(length: number, answer: Answer, of: string): Promise<string> {
    const record = { ...answer.data, [of]: '' };
    return 'ä'.repeat(1) + 'x'.repeat(length - Buffer.byteLength(JSON.stringify(record)) - 2);
  }

  it('is limited for a category, in bytes of the JSON that is answered', async () => {
    const description = await filling(LIMIT_BYTES, await category('key_0'), 'description');
    expect((await category('key_1', { description })).status).toBe(201);
    expectTooLarge(await category('key_2', { description: `${description}x` }));
    expect(await total('/data/categories')).toBe(2);
  });

  it('is limited for a changed category, which stays as it was', async () => {
    const before = (await category('profile')).data;
    expectTooLarge(await bot.put('/data/categories/profile', { description: 'x'.repeat(LIMIT_BYTES) }));
    expect((await bot.get('/data/categories/profile')).data).toEqual(before);
  });

  it('is limited for a category of the shape with bot_id', async () => {
    const categories = [{ name: 'profile', description: 'x'.repeat(LIMIT_BYTES) }];
    expectTooLarge(await bot.post('/data/register', { bot_id: bot.id, categories }));
  });

  it('is limited for a consent text', async () => {
    const body = await filling(LIMIT_BYTES, await text('v0'), 'body');
    expect((await text('v1', { body })).status).toBe(201);
    expectTooLarge(await text('v2', { body: `${body}x` }));
    expect(await total('/consents/texts')).toBe(2);
  });
});

describe('the limits of declarations without settings', () => {
  const usual = useServiceInProcess();

  it('are 32 KiB, 100 categories and 200 texts', async () => {
    const caller = await usual.registerBot();
    const declare = (key: string, given: Json) =>
      caller.post('/data/register', { key, ...labels, fields: [field('value')], ...given });
    const record = JSON.stringify({ ...(await declare('size_0', { description: '' })).data });
    const room = 32_768 - Buffer.byteLength(record);
    expect((await declare('size_1', { description: 'x'.repeat(room) })).status).toBe(201);
    for (const given of [
      { description: 'x'.repeat(room + 1) },
      { description: 'x'.repeat(200_000) },
      { label_de: 'x'.repeat(room + 7) },
      { fields: [{ ...field('value'), description: 'x'.repeat(32_768) }] },
    ])
      expectFailure(await declare('size_2', given), 413, 'payload_too_large', { limit_bytes: 32_768 });
    const body = 'x'.repeat(32_768);
    expectFailure(
      await caller.post('/consents/texts', { consent_version: '1', language: 'en', title: 'May we?', body }),
      413,
      'payload_too_large',
      { limit_bytes: 32_768 },
    );
    const guide = (from: number, count: number) =>
      caller.post('/data/register', {
        bot_id: caller.id,
        categories: keys(from + count)
          .slice(from)
          .map((name) => ({ name })),
      });
    await guide(0, 50);
    expect((await guide(50, 48)).status).toBe(201);
    expectFailure(await guide(98, 1), 409, 'conflict', { reason: 'limit_reached', limit: 100 });
    const texts = (count: number, from = 0) =>
      Promise.all(
        keys(from + count)
          .slice(from)
          .map((consent_version) =>
            new Client(caller.baseUrl, caller.key).post('/consents/texts', {
              ...{ consent_version, language: 'en', title: 'May we?', body: 'Your name.' },
            }),
          ),
      );
    expect((await texts(200)).every(({ status }) => status === 201)).toBe(true);
    const [one] = await texts(1, 200);
    if (one !== undefined) expectFailure(one, 409, 'conflict', { reason: 'limit_reached', limit: 200 });
  });
});
