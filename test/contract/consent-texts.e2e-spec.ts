import { hash } from 'node:crypto';
import type { Bot } from '../support/bot';
import type { Json } from '../support/client';
import {
  A_DIGEST,
  A_TEXT,
  A_TIME,
  expectFailure,
  expectFaults,
  expectSuccess,
  pagination,
} from '../support/expected';
import {
  ABSENT,
  BAD_PAGE_SIZES,
  BAD_PAGES,
  type Case,
  badTexts,
  goodTexts,
  itRefuses,
  itTakes,
} from '../support/inputs';
import { useService } from '../support/shared-service';
import { subject } from '../support/snowflakes';

const service = useService();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot();
});

const WORDS = {
  title: 'Dürfen wir?',
  body: 'Wir speichern deinen Spitznamen.',
  categories: [{ key: 'profile', label: 'Profil', text: 'Spitzname' }],
  accept_label: 'Ja',
  decline_label: 'Nein',
};
const NOTICE = {
  privacy_notice: 'https://bot.example.org/privacy',
  jurisdiction: 'DE',
  storage_locations: ['DE', 'FR'],
  recipient_third_parties: ['Example Ltd'],
  withdrawal_method: 'Type /privacy revoke',
};
const valid = (): Json => ({ consent_version: '1.0', language: 'de', ...WORDS });
const send = (body: Json) => bot.post('/consents/texts', body);
const shown = (given: Json) => ({ ...valid(), ...given, digest: A_DIGEST, created_at: A_TIME });

/** The recipe of docs/consent.md, implemented a second time: sorted keys, no white space, UTF-8. */
function digestOf(text: Json): string {
  const inOrder = (_: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return `sha256:${hash('sha256', Buffer.from(JSON.stringify(text, inOrder)), 'hex')}`;
}

const BAD_LANGUAGES: readonly Case[] = [
  ...ABSENT,
  ['empty', ''],
  ['in capitals', 'DE'],
  ['a region in small letters', 'de-at'],
  ['a script in small letters', 'zh-hant'],
  ['with an underscore', 'de_DE'],
  ['one letter', 'd'],
  ['a word', 'german'],
  ['with a line break', 'de\n'],
  ['with a NUL', 'de\0'],
  ['of 36 characters', `de-${'abcdefgh-'.repeat(4).slice(0, 33)}`],
  ['a number', 1],
  ['a list', ['de']],
];
const GOOD_LANGUAGES: readonly Case[] = [
  ['of two letters', 'fr'],
  ['of three letters', 'gsw'],
  ['with a region', 'pt-BR'],
  ['with a region by number', 'es-419'],
  ['with a script', 'zh-Hant'],
  ['with script, region and variants', 'sl-Latn-IT-rozaj-1994'],
];
const BAD_CATEGORIES: readonly Case[] = [
  ['an object', {}],
  ['a text', 'profile'],
  ['51 of them', Array.from({ length: 51 }, () => WORDS.categories[0])],
];

/** No text, of those that only the size of the whole record limits. */
const BAD_DECLARED = badTexts(10).filter(([label]) => !/^of \d|^full/.test(label));

describe('POST /api/v1/consents/texts', () => {
  it('answers 201 with the text and its digest', async () => {
    expectSuccess(await send({ ...valid(), ...NOTICE }), 201, shown(NOTICE));
  });

  it('answers 201 for a title and a body alone, and shows nothing else', async () => {
    const text = { consent_version: '1.0', language: 'en', title: 'May we?', body: 'We keep your name.' };
    expectSuccess(await send(text), 201, { ...text, categories: [], digest: A_DIGEST, created_at: A_TIME });
  });

  it('answers a digest that a caller can recompute from the text', async () => {
    const recomputed = digestOf({ ...WORDS, ...NOTICE });
    expect((await send({ ...valid(), ...NOTICE })).data).toMatchObject({ digest: recomputed });
    const plain = { title: 'May we?', body: 'We keep your name.' };
    const answer = await send({ consent_version: '2', language: 'en', ...plain });
    expect(answer.data).toMatchObject({ digest: digestOf({ ...plain, categories: [] }) });
  });

  it('answers the digest that the Python of docs/consent.md answers for the same text', async () => {
    const text = {
      title: 'Dürfen wir?',
      body: 'Zeile 1\nZeile "2" \\ \u2028 😀\u007f\u0001',
      categories: [{ text: 'Spitzname', label: 'Profil', key: 'profile' }],
      accept_label: 'Ja',
      privacy_notice: 'https://bot.example.org/privacy',
      storage_locations: ['DE', 'FR'],
    };
    expect((await send({ consent_version: '1', language: 'de', ...text })).data).toMatchObject({
      digest: 'sha256:5043f13f7508ee1424d1f36a49982c1d05f2009fe60f7256b4c53d24b22d7606',
    });
  });

  it.each(Object.keys({ ...WORDS, ...NOTICE }))('answers another digest where %s differs', async (name) => {
    const all: Json = { ...valid(), ...NOTICE };
    const { digest } = (await send(all)).data;
    const other = Array.isArray(all[name]) ? (all[name] as unknown[]).slice(1) : `${String(all[name])}x`;
    const changed = { ...all, [name]: Array.isArray(other) && other.length === 0 ? undefined : other };
    expect((await send({ ...changed, consent_version: '2' })).data['digest']).not.toBe(digest);
  });

  it('answers 201 with the same record when the same text comes again', async () => {
    const first = await send(valid());
    expectSuccess(await send(valid()), 201, first.data);
    const withNulls = { ...valid(), jurisdiction: null, unknown: 'field' };
    expectSuccess(await send(withNulls), 201, first.data);
  });

  it('answers 409 text_exists for other words, and leaves those that users may have agreed to', async () => {
    const first = await send(valid());
    for (const change of [{ body: 'Other' }, { jurisdiction: 'FR' }, { categories: [] }])
      expectFailure(await send({ ...valid(), ...change }), 409, 'conflict', { reason: 'text_exists' });
    expectSuccess(await send(valid()), 201, first.data);
  });

  it('takes other words for another version and for another language', async () => {
    await send(valid());
    expect((await send({ ...valid(), body: 'Other', consent_version: '1.00' })).status).toBe(201);
    expect((await send({ ...valid(), body: 'Other', language: 'de-AT' })).status).toBe(201);
  });

  it('answers 409 too_many_languages for the 51st language of a version, and keeps 50', async () => {
    const language = (n: number) => `de-a${String(n).padStart(4, '0')}`;
    for (let n = 0; n < 50; n++) expect((await send({ ...valid(), language: language(n) })).status).toBe(201);
    const refused = await send({ ...valid(), language: language(50) });
    expectFailure(refused, 409, 'conflict', { reason: 'too_many_languages' });
    expect((await send({ ...valid(), language: language(0) })).status).toBe(201);
    const { data } = await bot.get('/consents/texts');
    expect(data).toMatchObject({ pagination: { total_count: 50 } });
  });

  it('answers 401 without a key', async () => {
    expectFailure(await service.anonymous.post('/consents/texts', valid()), 401, 'unauthorized');
  });

  it('names every missing field at once', async () => {
    expectFaults(await send({}), 'consent_version', 'language', 'title', 'body');
  });

  it('names a bad category by its path', async () => {
    const categories = [...WORDS.categories, { key: '', label: ' ', text: 1 }];
    const faults = ['key', 'label', 'text'].map((name) => `categories[1].${name}`);
    expectFaults(await send({ ...valid(), categories }), ...faults);
  });

  itRefuses('language', BAD_LANGUAGES, send, valid);
  itTakes('language', GOOD_LANGUAGES, send, valid, 201);
  itRefuses('consent_version', [...ABSENT, ['empty', ''], ['of 65 characters', 'v'.repeat(65)]], send, valid);
  itRefuses('title', [...ABSENT, ...badTexts(500)], send, valid);
  itTakes('title', goodTexts(500), send, valid, 201);
  itRefuses('body', [...ABSENT, ...BAD_DECLARED], send, valid);
  itTakes('body', goodTexts(8_000), send, valid, 201);
  itRefuses('categories', BAD_CATEGORIES, send, valid);
  itRefuses('accept_label', BAD_DECLARED, send, valid);
  itRefuses(
    'privacy_notice',
    [
      ['no address', 'x'],
      ['with a NUL', 'https://a.example/\0'],
      ['a script', 'javascript:alert(1)'],
    ],
    send,
    valid,
  );
  itRefuses(
    'storage_locations',
    [
      ['empty', []],
      ['a text', 'DE'],
      ['with an empty one', ['DE', '']],
    ],
    send,
    valid,
  );
});

describe('of texts that are registered at the same moment', () => {
  const times = <T>(count: number, act: (index: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => act(index)));

  it('all of 20 equal ones are answered 201 with the one record', async () => {
    const answers = await times(20, () => send(valid()));
    expect(answers.map(({ status }) => status)).toStrictEqual(answers.map(() => 201));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await bot.get('/consents/texts')).data).toMatchObject({ pagination: { total_count: 1 } });
  });

  it('one of 20 different ones is answered 201, the others 409, and the one is what is kept', async () => {
    const answers = await times(20, (index) => send({ ...valid(), body: `Words ${index}` }));
    const [won, ...others] = answers.sort((a, b) => a.status - b.status);
    expect(won?.status).toBe(201);
    for (const answer of others) expectFailure(answer, 409, 'conflict', { reason: 'text_exists' });
    expect((await bot.get('/consents/texts')).data).toMatchObject({ texts: [won?.data] });
  });
});

describe('GET /api/v1/consents/texts', () => {
  it('answers 200 with nothing, and true totals, where none is registered', async () => {
    expectSuccess(await bot.get('/consents/texts'), 200, { texts: [], pagination: pagination(1, 20, 0) });
  });

  it('lists by version and language, page by page', async () => {
    const places = ['2|de', '1|en', '1|de', '10|de'];
    for (const place of places) {
      const [consent_version, language] = place.split('|');
      await send({ ...valid(), consent_version, language });
    }
    const read = async (query: string) => {
      const { data } = await bot.get<{ texts: Json[]; pagination: Json }>(`/consents/texts?${query}`);
      const found = data.texts.map(
        (text) => `${String(text['consent_version'])}|${String(text['language'])}`,
      );
      return { found, pagination: data.pagination };
    };
    expect((await read('')).found).toStrictEqual(['1|de', '1|en', '10|de', '2|de']);
    expect(await read('page=2&page_size=3')).toStrictEqual({
      found: ['2|de'],
      pagination: pagination(2, 3, 4),
    });
    expect(await read('consent_version=1')).toStrictEqual({
      found: ['1|de', '1|en'],
      pagination: pagination(1, 20, 2),
    });
    expect((await read('consent_version=3')).found).toStrictEqual([]);
  });

  it('answers 401 without a key', async () => {
    expectFailure(await service.anonymous.get('/consents/texts'), 401, 'unauthorized');
  });

  it.each(BAD_PAGES)('answers 400 naming page (%s)', async (_, page) => {
    expectFaults(await bot.get(`/consents/texts?page=${String(page)}`), 'page');
  });

  it.each(BAD_PAGE_SIZES)('answers 400 naming page_size (%s)', async (_, size) => {
    expectFaults(await bot.get(`/consents/texts?page_size=${String(size)}`), 'page_size');
  });

  it('answers 400 naming consent_version', async () => {
    expectFaults(await bot.get('/consents/texts?consent_version=a%20b'), 'consent_version');
  });
});

describe('a registered text', () => {
  it('outlives an erasure, since it names no user', async () => {
    const who = subject();
    const text = await send(valid());
    await bot.hasConsent(who);
    await bot.hasForgotten(who);
    expect((await bot.get('/consents/texts')).data).toMatchObject({ texts: [text.data] });
  });

  it('is removed with its bot', async () => {
    await send(valid());
    const count = async () =>
      (await service.database.rows('SELECT 1 FROM consent_texts WHERE bot_id = ?', bot.id)).length;
    expect(await count()).toBe(1);
    await bot.delete(`/bots/${bot.id}`);
    expect(await count()).toBe(0);
  });

  it('is what a request by categories answers to be shown, in the language asked for', async () => {
    await bot.hasCategory('profile');
    await send({ ...valid(), ...NOTICE });
    await send({ ...valid(), language: 'fr', title: 'Pouvons-nous ?' });
    const ask = (more: Json) =>
      bot.post('/consents/request', {
        ...subject(),
        consent_version: '1.0',
        categories: ['profile'],
        ...more,
      });
    expect((await ask({ language: 'fr' })).data['texts']).toStrictEqual({
      ...WORDS,
      title: 'Pouvons-nous ?',
    });
    expect((await ask({ language: 'de' })).data['texts']).toStrictEqual(WORDS);
    expect((await ask({})).data['texts']).toStrictEqual(WORDS);
    expectFaults(await ask({ language: 'en' }), 'language');
    const generated = (await ask({ language: 'en', consent_version: 'other' })).data['texts'];
    expect(generated).toMatchObject({ title: A_TEXT, categories: [{ key: 'profile' }] });
  });

  it("can be registered under the version that the guide's shape derives", async () => {
    await bot.hasCategory('profile');
    const ask = () =>
      bot.post('/consents/request', { ...subject(), bot_id: bot.id, categories: ['profile'] });
    const { version } = (await ask()).data;
    await send({ ...valid(), consent_version: version });
    expect((await ask()).data).toMatchObject({ version, texts: WORDS });
  });
});
