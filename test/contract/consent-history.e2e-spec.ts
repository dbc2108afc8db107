import type { Bot } from '../support/bot';
import type { Answer, Json } from '../support/client';
import {
  A_DIGEST,
  A_TIME,
  AN_ID,
  expectFailure,
  expectFaults,
  expectSuccess,
  pagination,
} from '../support/expected';
import {
  BAD_PAGE_SIZES,
  BAD_PAGES,
  BAD_SNOWFLAKE_TEXTS,
  type Case,
  itRefuses,
  itTakes,
} from '../support/inputs';
import { useServiceInProcess } from '../support/service';
import { BOT_WIDE, subject, type SubjectIds } from '../support/snowflakes';
import { SqlLog } from '../support/sql-log';

const service = useServiceInProcess();
let bot: Bot;
let who: SubjectIds;
beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
});

type Entry = Json & { readonly id: string; readonly consent_id: string; readonly action: string };
interface History {
  readonly entries: Entry[];
  readonly pagination: Json;
}

const read = (more = '', one = who): Promise<Answer<History>> =>
  bot.get<History>(`/consents/history?user_id=${one.user_id}&guild_id=${one.guild_id}${more}`);
const entries = async () => (await read()).data.entries;
const actions = async () => (await entries()).map(({ action }) => action);
const request = (more: Json = {}) =>
  bot.post('/consents/request', { ...who, consent_version: '1.0', ...more });
const accept = (more: Json = {}) => bot.post('/consents/accept', { ...who, consent_version: '1.0', ...more });
const revoke = (more: Json = {}) => bot.post('/consents/revoke', { ...who, ...more });

async function hasText(language: string, given: Json = {}): Promise<string> {
  const text = { consent_version: '1.0', language, title: `Title ${language}`, body: 'Body', ...given };
  return (await bot.post<{ digest: string }>('/consents/texts', text)).data.digest;
}

const entry = (given: Json) => ({
  id: AN_ID,
  consent_id: AN_ID,
  version: '1.0',
  categories: null,
  language: null,
  texts: [],
  source: 'api',
  created_at: A_TIME,
  ...given,
});

describe('GET /api/v1/consents/history', () => {
  it('answers 200 with nothing, and true totals, for a user who was never asked', async () => {
    expectSuccess(await read(), 200, { entries: [], pagination: pagination(1, 20, 0) });
  });

  it('lists what was shown, decided and withdrawn, newest first', async () => {
    const { id } = (await request()).data;
    await accept();
    await revoke();
    expectSuccess(await read(), 200, {
      entries: ['revoked', 'accepted', 'requested'].map((action) => entry({ consent_id: id, action })),
      pagination: pagination(1, 20, 3),
    });
  });

  it('pages with exact totals', async () => {
    for (const version of ['1', '2', '3']) await bot.hasConsent(who, version);
    const all = await entries();
    expect(all).toHaveLength(6);
    expectSuccess(await read('&page=2&page_size=4'), 200, {
      entries: all.slice(4),
      pagination: pagination(2, 4, 6),
    });
    expectSuccess(await read('&page=9&page_size=4'), 200, { entries: [], pagination: pagination(9, 4, 6) });
  });

  it('adds nothing for what changed nothing', async () => {
    await request();
    await request();
    await accept();
    await accept();
    await request();
    await revoke();
    await revoke();
    expect(await actions()).toStrictEqual(['revoked', 'accepted', 'requested']);
  });

  it('keeps users, guilds and bots apart', async () => {
    const other = await service.registerBot();
    await bot.hasConsent(who);
    const elsewhere = { ...who, guild_id: subject().guild_id };
    const someone = { ...who, user_id: subject().user_id };
    for (const one of [elsewhere, someone]) expect((await read('', one)).data.entries).toStrictEqual([]);
    const query = `user_id=${who.user_id}&guild_id=${who.guild_id}`;
    expect((await other.get(`/consents/history?${query}`)).data['entries']).toStrictEqual([]);
  });

  it("takes the guide's query for the bot-wide scope", async () => {
    await bot.hasConsent({ ...who, guild_id: BOT_WIDE });
    const { data } = await bot.get(`/consents/history?bot_id=${bot.id}&user_id=${who.user_id}`);
    expect(data).toMatchObject({ pagination: { total_count: 2 } });
  });

  it('answers 401 without a key', async () => {
    const query = new URLSearchParams({ ...who }).toString();
    expectFailure(await service.anonymous.get(`/consents/history?${query}`), 401, 'unauthorized');
  });

  it('names both ids when they are missing', async () => {
    expectFaults(await bot.get('/consents/history'), 'user_id', 'guild_id');
  });

  it.each(BAD_SNOWFLAKE_TEXTS)('answers 400 naming user_id (%s)', async (_, user_id) => {
    const query = new URLSearchParams({ ...who, user_id: String(user_id) }).toString();
    expectFaults(await bot.get(`/consents/history?${query}`), 'user_id');
  });

  it.each(BAD_PAGES)('answers 400 naming page (%s)', async (_, page) => {
    expectFaults(await read(`&page=${String(page)}`), 'page');
  });

  it.each(BAD_PAGE_SIZES)('answers 400 naming page_size (%s)', async (_, size) => {
    expectFaults(await read(`&page_size=${String(size)}`), 'page_size');
  });
});

describe('an entry', () => {
  it('names the one text of the language asked in, and each decision about it the same', async () => {
    const digest = await hasText('de');
    await hasText('en');
    await request({ language: 'de' });
    await accept();
    await revoke();
    for (const each of await entries())
      expect(each).toMatchObject({ language: 'de', texts: [{ language: 'de', digest }] });
  });

  it('names all texts of the version where no language was named', async () => {
    const texts = [];
    for (const language of ['de', 'en']) texts.push({ language, digest: await hasText(language) });
    await hasText('de', { consent_version: '1', title: 'Other' });
    await request();
    await accept();
    for (const each of await entries()) expect(each).toMatchObject({ language: null, texts });
  });

  it('stays what it was when a text is registered later', async () => {
    await request({ language: 'de' });
    await hasText('de');
    await accept();
    for (const each of await entries()) expect(each).toMatchObject({ language: 'de', texts: [] });
  });

  it('is of the text that the service has made of the categories', async () => {
    await bot.hasCategory('profile');
    await request({ categories: ['profile'], language: 'de' });
    const [asked] = await entries();
    expect(asked).toMatchObject({
      action: 'requested',
      language: 'de',
      texts: [{ language: 'de', digest: A_DIGEST }],
      categories: ['profile'],
    });
  });

  it('is added as shown when a request that waits is repeated in another language, which is then decided about', async () => {
    const [de, en] = [await hasText('de'), await hasText('en')];
    const first = (await request({ language: 'de' })).data;
    expectSuccess(await request({ language: 'en', source: 'button' }), 201, first);
    await request({ language: 'en' });
    await accept();
    expect((await entries()).reverse()).toMatchObject([
      { action: 'requested', texts: [{ digest: de }], source: 'api' },
      { action: 'shown', consent_id: first['id'], texts: [{ digest: en }], source: 'button' },
      { action: 'accepted', language: 'en', texts: [{ language: 'en', digest: en }] },
    ]);
    expect(await bot.eventTypes(who)).toStrictEqual(['consent_requested', 'consent_accepted']);
  });

  it('of a newer request does not touch what is said of the accepted one', async () => {
    const one = await hasText('de');
    const two = await hasText('de', { consent_version: '2', body: 'Other' });
    await request();
    await accept();
    await request({ consent_version: '2' });
    await revoke();
    expect((await entries()).reverse()).toMatchObject([
      { action: 'requested', version: '1.0', texts: [{ digest: one }] },
      { action: 'accepted', version: '1.0', texts: [{ digest: one }] },
      { action: 'requested', version: '2', texts: [{ digest: two }] },
      { action: 'revoked', version: '1.0', texts: [{ digest: one }] },
    ]);
  });

  it('says which categories were asked for, granted and withdrawn, and where', async () => {
    for (const key of ['a', 'b', 'c']) await bot.hasCategory(key);
    await request({ categories: ['a', 'b', 'c'], source: 'slash_command' });
    await accept({ categories: ['a', 'b'], source: 'button:yes' });
    await revoke({ categories: ['a'], source: 'settings.menu' });
    await revoke({ source: 'web' });
    expect((await entries()).reverse()).toMatchObject([
      { action: 'requested', categories: ['a', 'b', 'c'], source: 'slash_command' },
      { action: 'accepted', categories: ['a', 'b'], source: 'button:yes' },
      { action: 'categories_withdrawn', categories: ['a'], source: 'settings.menu' },
      { action: 'revoked', categories: null, source: 'web' },
    ]);
  });

  it('is in the full export, oldest first, with the same fields', async () => {
    await hasText('de');
    await request({ language: 'de' });
    await accept();
    const { data } = await bot.export(who, '&format=full');
    expect(data['consent_history']).toStrictEqual((await entries()).reverse());
  });

  it('is removed by an erasure, and a new one begins empty', async () => {
    await bot.hasConsent(who);
    await bot.hasForgotten(who);
    expect(await entries()).toStrictEqual([]);
    await request();
    expect(await actions()).toStrictEqual(['requested']);
  });
});

const BAD_SOURCES: readonly Case[] = [
  ['empty', ''],
  ['in capitals', 'Button'],
  ['with a space', 'a b'],
  ['beginning with a digit', '1a'],
  ['of digits, as ids are', '123456789012345678'],
  ['of 65 characters', 'a'.repeat(65)],
  ['with a NUL', 'a\0'],
  ['with a line break', 'a\n'],
  ['a number', 1],
  ['an object', {}],
];
const GOOD_SOURCES: readonly Case[] = [
  ['one letter', 'a'],
  ['of every kind of character', 'slash_command.v2:eu-1'],
  ['of 64 characters', 'a'.repeat(64)],
  ...([['null', null]] as const),
];

describe.each([
  ['request', 201],
  ['accept', 200],
  ['revoke', 200],
] as const)('source in POST /api/v1/consents/%s', (name, status) => {
  const valid = () => ({ ...who, consent_version: '1.0' });
  const send = (body: Json) => bot.post(`/consents/${name}`, body);
  beforeEach(async () => {
    if (name === 'accept') await bot.hasRequest(who);
    if (name === 'revoke') await bot.hasConsent(who);
  });

  itRefuses('source', BAD_SOURCES, send, valid);
  itTakes('source', GOOD_SOURCES, send, valid, status);
});

describe('language in POST /api/v1/consents/request', () => {
  it('is taken and kept where no text is registered and none is to be shown', async () => {
    expect((await request({ language: 'pt-BR' })).status).toBe(201);
    expect(await entries()).toMatchObject([{ language: 'pt-BR', texts: [] }]);
  });

  it('answers 400 naming it where the version has texts, but none in it and none in English, and asks nothing', async () => {
    await hasText('de');
    expectFaults(await request({ language: 'en' }), 'language');
    expect((await bot.status(who)).data).toMatchObject({ status: 'none' });
    expect(await entries()).toStrictEqual([]);
    const digest = await hasText('en');
    expect((await request({ language: 'fr' })).status).toBe(201);
    expect(await entries()).toMatchObject([{ language: 'en', texts: [{ language: 'en', digest }] }]);
  });

  itRefuses(
    'language',
    [
      ['a word', 'german'],
      ['in capitals', 'DE'],
      ['a number', 1],
    ],
    (body) => request(body),
    () => ({}),
  );
});

describe('the history', () => {
  it('is only ever added to: no statement of a whole life changes an entry, and only the erasure removes one', async () => {
    const log = new SqlLog().open();
    try {
      for (const key of ['a', 'b']) await bot.hasCategory(key);
      await hasText('de');
      await hasText('en');
      await request({ language: 'de' });
      await request({ language: 'en', categories: ['a', 'b'] });
      await request({ language: 'de', categories: ['a', 'b'] });
      await accept();
      await request({ consent_version: '2' });
      await revoke({ categories: ['a'] });
      await bot.delete('/data/categories/b');
      await revoke();
      await read();
      await bot.export(who, '&format=full');
      await bot.hasForgotten(who);
    } finally {
      log.close();
    }
    const about = log.statements().filter((sql) => /consent_history/.test(sql));
    const kinds = about.map((sql) => sql.split(/\s/)[0]);
    expect(new Set(kinds)).toStrictEqual(new Set(['SELECT', 'INSERT', 'DELETE']));
    expect(about.filter((sql) => /^INSERT/.test(sql) && /CONFLICT|REPLACE/i.test(sql))).toStrictEqual([]);
    const removals = about.filter((sql) => /^DELETE/.test(sql));
    expect(removals).toStrictEqual([
      expect.stringMatching(
        /^DELETE FROM consent_history WHERE \(bot_id, guild_id, user_id\) IN \(SELECT given/,
      ),
    ]);
  });

  it('has each of 20 requests, acceptances and revocations at the same moment once', async () => {
    const at20 = (act: () => Promise<Answer>) => Promise.all(Array.from({ length: 20 }, act));
    await at20(request);
    await at20(accept);
    await at20(revoke);
    expect(await actions()).toStrictEqual(['revoked', 'accepted', 'requested']);
  });

  it('lists a repeated request once, however many callers repeat it at the same moment', async () => {
    await hasText('de');
    await hasText('en');
    await request({ language: 'de' });
    await Promise.all(Array.from({ length: 20 }, () => request({ language: 'en' })));
    expect(await actions()).toStrictEqual(['shown', 'requested']);
  });
});
