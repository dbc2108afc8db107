import { BotAdministration } from '@app/bots';
import { databaseUnavailable } from '@app/database';
import { SubjectDataHolders } from '@app/crypto';
import { ErasureService } from '@app/gdpr';
import type { LetheHttpAdapter } from '@app/http';
import { ApiError, conflict } from '@app/kernel';
import { type Bot, field } from '../support/bot';
import type { Json } from '../support/client';
import { act, forms, get, type Page, send, unescaped } from '../support/privacy-page';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess();
afterEach(() => jest.restoreAllMocks());
const HOSTILE = `"><img src=x onerror=alert(1)>`;
let bot: Bot;
let who: SubjectIds;

const linked = async (given: Json = {}, about: Json = { ...who }): Promise<string> =>
  (await bot.post<{ url: string }>('/privacy-links', { ...about, language: 'en', ...given })).data.url;
const held = async (about: SubjectIds = who): Promise<string[]> => {
  const { data } = await bot.get<{ data: object } | null>(
    `/data/export/${about.user_id}?guild_id=${about.guild_id}`,
  );
  return Object.keys(data?.data ?? {}).sort();
};
const confirming = (url: string, key: string, guild = who.guild_id): string =>
  `${url}/erase?of=${encodeURIComponent(`${guild}/${key}`)}`;
const formOf = async (url: string, key: string): Promise<URLSearchParams> =>
  forms(await get(confirming(url, key)), 'erase')[0]!;
/** What the page says after a form. */
const said = async (url: string, { headers }: Page): Promise<string | undefined> =>
  /role="status">\s*<p>\s*([^]*?)\s*<\/p>/.exec(
    (await get(new URL(headers.get('location') ?? '', url).href)).text,
  )?.[1];

describe('the erasure of one category on the privacy page', () => {
  beforeEach(async () => {
    bot = await service.registerBot();
    who = subject();
    for (const key of ['alpha', 'beta']) await bot.hasCategory(key, [field('value')]);
    await bot.hasConsent(who);
    for (const key of ['alpha', 'beta']) await bot.hasData(who, key, { value: `of ${key}` });
  });

  it('takes a confirmation, erases this category alone, and says so', async () => {
    const url = await linked();
    const page = await get(url);
    const [, path = ''] = /href="([^"]*\/erase\?of=[^"]*alpha[^"]*)"/.exec(page.text) ?? [];
    const confirmation = await get(new URL(path.replaceAll('&amp;', '&'), url).href);
    expect(confirmation.text).toContain('<h1>Erase Category alpha?</h1>');
    expect(confirmation.text).toContain('Your consent stays');
    expect(await held()).toEqual(['alpha', 'beta']);
    const answer = await send(url, 'erase', forms(confirmation, 'erase')[0]!);
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      expect.stringMatching(/&note=erased$/),
    ]);
    expect(await held()).toEqual(['beta']);
    expect(await said(url, answer)).toBe('Erased: Category alpha.');
    expect((await bot.status(who)).data).toMatchObject({ status: 'accepted' });
    const { events } = (
      await bot.get<{ events: Json[] }>(`/audit/events?user_id=${who.user_id}&guild_id=${who.guild_id}`)
    ).data;
    expect(events.find(({ event_type }) => event_type === 'data_deleted')).toMatchObject({
      source: 'service',
      details: { category: 'alpha', via: 'privacy_page' },
    });
  });

  it('switches the language of the confirmation and stays on it', async () => {
    const url = await linked();
    const { text } = await get(confirming(url, 'alpha'));
    const [, path = ''] = /href="([^"]*lang=de)"/.exec(text) ?? [];
    const german = (await get(new URL(path.replaceAll('&amp;', '&'), url).href)).text;
    expect(german).toContain('<h1>Kategorie alpha löschen?</h1>');
  });

  it('that is sent twice erases once, and says the second time that nothing is left', async () => {
    const url = await linked();
    const form = await formOf(url, 'alpha');
    const answers = [await send(url, 'erase', form), await send(url, 'erase', form)];
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect(await said(url, answers[1]!)).toBe('Nothing is stored in this category any more.');
    const { events } = (
      await bot.get<{ events: Json[] }>(`/audit/events?user_id=${who.user_id}&guild_id=${who.guild_id}`)
    ).data;
    expect(events.filter(({ event_type }) => event_type === 'data_deleted')).toHaveLength(1);
  });

  it('has a form for its category alone: no other category, other link, other act or other page', async () => {
    const url = await linked();
    const form = await formOf(url, 'alpha');
    const other = new URLSearchParams(form);
    other.set('shown', `${who.guild_id}/beta`);
    expect((await send(url, 'erase', other)).status).toBe(403);
    other.set('shown', '');
    expect((await send(url, 'erase', other)).status).toBe(403);
    expect((await send(url, 'forget', form)).status).toBe(403);
    expect((await send(await linked(), 'erase', form)).status).toBe(403);
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
      expect((await send(url, 'erase', form, headers)).status).toBe(403);
    expect(await held()).toEqual(['alpha', 'beta']);
  });

  it.each([['view'], ['consent'], ['export']])('is refused to a link that allows %s alone', async (allow) => {
    const all = await linked();
    const url = await linked({ allow: [allow] });
    expect((await get(url)).text).not.toContain('/erase?of=');
    expect((await get(confirming(url, 'alpha'))).status).toBe(403);
    expect((await send(url, 'erase', await formOf(all, 'alpha'))).status).toBe(403);
    expect(await held()).toEqual(['alpha', 'beta']);
  });

  it('is refused in another server, of another user, and of what is not declared', async () => {
    const url = await linked();
    const other = { ...who, guild_id: subject().guild_id };
    await bot.hasConsent(other);
    await bot.hasData(other, 'alpha', { value: 'other' });
    for (const [key, guild] of [
      ['alpha', other.guild_id],
      ['gamma', who.guild_id],
      ['__proto__', who.guild_id],
      [HOSTILE, who.guild_id],
      ['', ''],
    ] as const) {
      const { status, text } = await get(confirming(url, key, guild));
      expect([status, text.includes('<img')]).toEqual([403, false]);
    }
    expect((await get(`${url}/erase?of=`)).status).toBe(403);
    for (const query of ['?of=1&of=2', '?of[a]=1']) {
      const { status, text } = await get(`${url}/erase${query}`);
      expect([status, text.startsWith('<!doctype html>')]).toEqual([400, true]);
    }
    expect(await held(other)).toEqual(['alpha']);
  });

  it('leads back to the page of its server, which says what was done: behind the tenth, and from each page of an act', async () => {
    const all = Array.from({ length: 12 }, () => ({ ...who, guild_id: subject().guild_id }));
    for (const each of all) {
      await bot.hasConsent(each);
      await bot.hasData(each, 'alpha', { value: 'far' });
    }
    const [last] = [...all, who].sort((one, other) => (one.guild_id < other.guild_id ? 1 : -1));
    const guild = last!.guild_id;
    const url = await linked({ scope: 'all_guilds' }, { user_id: who.user_id });
    const back = (text: string): string | undefined =>
      /<a class="button plain" href="([^"]*)"\s*>\s*Back/.exec(text)?.[1];
    const home = `?of=${guild}&amp;lang=en`;
    const confirmation = await get(confirming(url, 'alpha', guild));
    const refusing = await get(`${url}/refuse?of=${guild}`);
    for (const { text } of [confirmation, refusing]) expect(back(text)).toContain(home);
    const erasure = await send(url, 'erase', forms(confirmation, 'erase')[0]!);
    expect(erasure.headers.get('location')).toContain(`of=${guild}`);
    expect(await said(url, erasure)).toBe('Erased: Category alpha.');
    const restriction = forms(refusing, 'restrict')[0]!;
    restriction.append('category', '*');
    const restricted = await send(url, 'restrict', restriction);
    expect(restricted.headers.get('location')).toContain(`of=${guild}`);
    expect(await said(url, restricted)).toBeDefined();
    const again = await get(`${url}/accept?of=${guild}`);
    expect([again.status, again.headers.get('location')]).toEqual([
      303,
      expect.stringContaining(`of=${guild}`),
    ]);
    restriction.delete('mark');
    expect(back((await send(url, 'restrict', restriction)).text)).toContain(home);
    // What the link is not about has no page.
    expect(back((await get(confirming(url, 'alpha', subject().guild_id))).text)).not.toContain('of=');
  });

  it('answers 403 for a server with a name of any length, on a page about all servers', async () => {
    const url = await linked({}, { user_id: who.user_id, scope: 'all_guilds' });
    expect((await get(confirming(url, 'alpha'))).status).toBe(200);
    for (const length of [21, 85, 86, 2_000])
      for (const letter of ['1', 'x', 'ü'])
        expect((await get(confirming(url, 'alpha', letter.repeat(length)))).status).toBe(403);
  });

  it('names the category and the server of a page about several, as text', async () => {
    const other = { ...who, guild_id: subject().guild_id };
    await bot.hasConsent(other);
    await bot.hasData(other, 'alpha', { value: 'other' });
    await bot.put('/data/categories/alpha', { label_en: HOSTILE });
    await bot.post('/servers/register', { guild_id: other.guild_id, name: 'Tea & <b>cake' });
    const url = await linked({ scope: 'all_guilds' }, { user_id: who.user_id });
    const page = await get(confirming(url, 'alpha', other.guild_id));
    expect(page.text).toContain('Server Tea &amp; &lt;b&gt;cake');
    expect(page.text).not.toMatch(/<img|<b>/);
    await send(url, 'erase', forms(page, 'erase')[0]!);
    expect([await held(), await held(other)]).toEqual([['alpha', 'beta'], []]);
  });

  it('of a withdrawn category erases now what was due later, and of a suspended bot too', async () => {
    await bot.post('/consents/revoke', who);
    await service.app.get(BotAdministration, { strict: false }).suspend(bot.id);
    const url = await linked();
    expect((await get(confirming(url, 'alpha'))).text).not.toContain('Your consent stays');
    await send(url, 'erase', await formOf(url, 'alpha'));
    expect(await held()).toEqual(['beta']);
  });

  const free = (basis: string): Json => ({
    legal_basis: basis,
    requires_consent: false,
    reason_de: 'Ohne das kann der Bot nicht arbeiten.',
    reason_en: 'The bot cannot work without it.',
  });
  const AGAIN = 'The bot can store something here again without your consent. A withdrawal does not stop it.';
  const GERMAN_AGAIN = 'Der Bot kann hier auch ohne deine Einwilligung wieder etwas speichern.';

  it.each([
    ['legitimate_interests', undefined, 'object to the processing or restrict it.'],
    ['legitimate_interests', ['view', 'forget'], 'object to the processing.'],
    ['legal_obligation', undefined, 'restrict the processing.'],
    ['legal_obligation', ['view', 'forget'], undefined],
  ])(
    'without a consent says that a withdrawal does not stop the bot: %s, allowing %j',
    async (basis, allow, advice) => {
      await bot.hasCategory('bans', [field('value')], free(basis));
      await bot.hasData(who, 'bans', { value: 'of bans' });
      const url = await linked(allow === undefined ? {} : { allow });
      const { text } = await get(confirming(url, 'bans'));
      expect(text).toContain(AGAIN);
      expect(text).not.toContain('Your consent stays');
      expect(/If you do not want that, ([^<]*?)\s*</.exec(text)?.[1]).toBe(advice);
      const [, way] = /href="([^"]*\/refuse\?[^"]*)"/.exec(text) ?? [];
      expect(way === undefined).toBe(advice === undefined);
      if (way !== undefined)
        expect((await get(new URL(way.replaceAll('&amp;', '&'), url).href)).status).toBe(200);
      const german = (await get(`${confirming(url, 'bans')}&lang=de`)).text;
      expect(german).toContain(GERMAN_AGAIN);
      expect(german).not.toContain('Deine Einwilligung bleibt');
    },
  );

  it('of a category that the consent does not name says nothing of a consent', async () => {
    const other = subject();
    const { data } = await bot.post<{ id: string }>('/consents/request', {
      ...other,
      consent_version: '1.0',
      categories: ['beta'],
    });
    expect((await bot.post('/consents/accept', { consent_id: data.id })).status).toBe(200);
    const url = await linked({}, { ...other });
    for (const [key, says] of [
      ['alpha', false],
      ['beta', true],
    ] as const) {
      const { status, text } = await get(confirming(url, key, other.guild_id));
      expect([status, text.includes('Your consent stays')]).toEqual([200, says]);
    }
  });

  it('does not say that the bot can store again where the consent has lost its last category', async () => {
    const other = subject();
    const consents = async (key: string): Promise<void> => {
      const { data } = await bot.post<{ id: string }>('/consents/request', { ...other, categories: [key] });
      expect((await bot.post('/consents/accept', { consent_id: data.id })).status).toBe(200);
    };
    await consents('beta');
    await bot.hasData(other, 'beta', { value: 'of beta' });
    await bot.hasRevoked(other);
    await consents('alpha');
    expect((await bot.delete('/data/categories/alpha')).status).toBe(200);
    const { status, text } = await get(confirming(await linked({}, { ...other }), 'beta', other.guild_id));
    expect([status, /Your consent stays|can store something/.test(text)]).toEqual([200, false]);
  });

  it('does not say that the bot can store again what an objection or a restriction forbids', async () => {
    await bot.hasCategory('bans', [field('value')], free('legitimate_interests'));
    await bot.hasData(who, 'bans', { value: 'of bans' });
    const url = await linked();
    const says = async (): Promise<boolean[]> =>
      Promise.all(
        ['alpha', 'bans'].map(async (key) =>
          /Your consent stays|can store something/.test((await get(confirming(url, key))).text),
        ),
      );
    expect(await says()).toEqual([true, true]);
    for (const [act, given, expected] of [
      ['restrict', { category: 'alpha' }, [false, true]],
      ['restrict', {}, [false, false]],
      ['unrestrict', {}, [true, true]],
      ['object', { category: 'bans' }, [true, false]],
    ] as const) {
      await bot.post(`/data/${act}`, { ...who, ...given });
      expect(await says()).toEqual(expected);
    }
    const other = subject();
    await bot.hasConsent(other);
    await bot.post('/data/object', other);
    const { status, text } = await get(confirming(await linked({}, { ...other }), 'bans', other.guild_id));
    expect([status, text.includes(AGAIN)]).toEqual([200, false]);
  });

  it('of a user who was erased meanwhile is a page of a link that has ended', async () => {
    const url = await linked();
    const form = await formOf(url, 'alpha');
    await act(url, 'forget', 0, '/forget');
    expect((await send(url, 'erase', form)).status).toBe(404);
  });
});

describe('the erasure in all servers that breaks off on the privacy page', () => {
  /** The certificates that a page has. */
  const certificates = ({ text }: Page): { guild_id: string; certificate_salt: string }[] =>
    [...text.matchAll(/href="data:application\/json;charset=utf-8,([^"]*)"/g)].map(
      ([, file = '']) => JSON.parse(decodeURIComponent(file)) as ReturnType<typeof certificates>[number],
    );

  it.each([
    ['the database is not reached', () => databaseUnavailable()],
    ['another erasure takes long', () => conflict('deletion_in_progress', 'Being erased already')],
  ])('shows the certificates of those that are done, and ends no link: %s', async (_, fault) => {
    bot = await service.registerBot();
    who = subject();
    const guilds = [who.guild_id, subject().guild_id].sort();
    for (const guild_id of guilds) await bot.hasConsent({ ...who, guild_id });
    const url = await linked({ scope: 'all_guilds' }, { user_id: who.user_id });
    const form = forms(await get(`${url}/forget`), 'forget')[0]!;
    // The first server is erased by another call.
    jest.spyOn(service.app.get(ErasureService), 'eraseInTurn').mockRejectedValueOnce(fault());
    const partly = await send(url, 'forget', form);
    expect(partly.status).toBe(200);
    for (const text of [
      'Not everything is erased yet',
      'Some servers are not done yet',
      'Es ist noch nicht alles gelöscht',
      'Einige Server sind noch nicht erledigt',
    ])
      expect(partly.text).toContain(text);
    expect(partly.text).not.toMatch(/Your data is erased|Deine Daten sind gelöscht|has ended|ist beendet/);
    const [, path = ''] = /href="([^"]*\/forget\?lang=[^"]*)"/.exec(partly.text) ?? [];
    const again = await get(new URL(unescaped(path), url).href);
    const rest = await send(url, 'forget', forms(again, 'forget')[0]!);
    expect(rest.text).toContain('Your data is erased');
    const done = [partly, rest].map(certificates);
    expect(done.map((each) => each.map(({ guild_id }) => guild_id))).toEqual(guilds.map((id) => [id]));
    for (const { certificate_salt } of done.flat()) expect(certificate_salt).toMatch(/^[\w-]{20,}$/);
    expect((await get(url)).status).toBe(404);
  });

  it('erases 200 servers by one form, so that their certificates fit into a page, and the rest by the next', async () => {
    bot = await service.registerBot();
    who = subject();
    const guilds = Array.from({ length: 202 }, () => subject().guild_id).sort();
    for (const guild_id of guilds)
      await bot.post('/audit/event', { ...who, guild_id, event_type: 'data_exported' });
    const url = await linked({ scope: 'all_guilds' }, { user_id: who.user_id });
    const first = await act(url, 'forget', 0, '/forget');
    expect(first.text).toContain('Not everything is erased yet');
    const rest = await act(url, 'forget', 0, '/forget');
    expect(rest.text).toContain('Your data is erased');
    const done = [first, rest].map((page) => certificates(page).map(({ guild_id }) => guild_id));
    expect(done).toEqual([guilds.slice(0, 200), guilds.slice(200)]);
    expect((await get(url)).status).toBe(404);
  });

  it('does not say that an issued certificate is not ready where the page has no place to show it', async () => {
    bot = await service.registerBot();
    who = subject();
    for (const guild_id of [who.guild_id, subject().guild_id]) await bot.hasConsent({ ...who, guild_id });
    const url = await linked({ scope: 'all_guilds' }, { user_id: who.user_id });
    const form = forms(await get(`${url}/forget`), 'forget')[0]!;
    const { slots } = service.app.getHttpAdapter() as unknown as LetheHttpAdapter;
    jest.spyOn(slots, 'take').mockRejectedValueOnce(new ApiError('service_unavailable', 'Too many'));
    const { text } = await send(url, 'forget', form);
    expect(text).toContain('The certificate cannot be shown now');
    expect(text).toContain('Die Bescheinigung kann gerade nicht gezeigt werden');
    const numbers = [...text.matchAll(/<dd>([0-9a-f-]{36})<\/dd>/g)].map(([, id = '']) => id);
    expect(numbers).toHaveLength(2);
    for (const id of numbers)
      expect((await bot.get(`/gdpr/forget-status/${id}/certificate`)).status).toBe(200);
    const repeated = certificates(await send(url, 'forget', form));
    expect(repeated).toHaveLength(2);
  });

  it('asks for a further form where the erasure of the first server is on record, and ends no link', async () => {
    bot = await service.registerBot();
    who = subject();
    for (const guild_id of [who.guild_id, subject().guild_id]) await bot.hasConsent({ ...who, guild_id });
    const url = await linked({ scope: 'all_guilds' }, { user_id: who.user_id });
    const form = forms(await get(`${url}/forget`), 'forget')[0]!;
    jest.spyOn(service.app.get(SubjectDataHolders), 'count').mockRejectedValue(databaseUnavailable());
    const { status, text } = await send(url, 'forget', form);
    jest.restoreAllMocks();
    expect(status).toBe(503);
    expect(text).toContain('Please try again in a moment');
    expect(text).not.toContain('is on record');
    await service.app.get(ErasureService).finishLeft();
    const rest = await send(url, 'forget', forms(await get(`${url}/forget`), 'forget')[0]!);
    expect(rest.text).toContain('Your data is erased');
    expect(certificates(rest)).toHaveLength(1);
  });
});
