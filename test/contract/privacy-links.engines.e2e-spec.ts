import { BotAdministration } from '@app/bots';
import type { LetheHttpAdapter } from '@app/http';
import { Acts } from '@app/acts';
import { ApiError, Clock } from '@app/kernel';
import { PrivacyLinksRetention } from '@app/pages';
import { type Bot, field } from '../support/bot';
import { Client, type Json } from '../support/client';
import { A_TEXT, A_TIME, AN_ID, expectFailure, expectFaults, expectSuccess } from '../support/expected';
import { runNow } from '../support/jobs';
import { act, forms, get, type Page, send, unescaped } from '../support/privacy-page';
import { useServiceInProcess } from '../support/service';
import { steps } from '../support/time';
import { SqlLog } from '../support/sql-log';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess();
let bot: Bot;
let who: SubjectIds;

interface Link {
  readonly id: string;
  readonly url: string;
  readonly expires_at: string;
}

beforeEach(async () => {
  bot = await service.registerBot({ privacy_contact: 'privacy@example.org' });
  who = subject();
});
afterEach(() => jest.restoreAllMocks());

async function linked(given: Json = {}, about: Json = { ...who }, by: Client = bot): Promise<Link> {
  const answer = await by.post<Link>('/privacy-links', { ...about, ...given });
  expectSuccess(answer, 201, { id: AN_ID, url: A_TEXT, expires_at: A_TIME });
  return answer.data;
}

async function keyWith(scopes: readonly string[]): Promise<Client> {
  const made = await bot.post<{ api_key: string }>(`/bots/${bot.id}/keys`, { scopes });
  return new Client(service.url, made.data.api_key);
}

const forget = (url: string): Promise<Page> => act(url, 'forget', 0, '/forget');

const forgottenEverywhere = async (user_id: string): Promise<void> =>
  expectSuccess(
    await bot.post('/gdpr/forget-user', { user_id, scope: 'all_guilds' }),
    200,
    expect.anything(),
  );

/** The names of the links that open a page. */
async function inForce(links: Readonly<Record<string, Link>>): Promise<string[]> {
  const pages = await Promise.all(Object.values(links).map(({ url }) => get(url)));
  return Object.keys(links).filter((_, at) => pages[at]?.status === 200);
}

async function stored(about: SubjectIds = who): Promise<void> {
  await bot.hasCategory('profile');
  await bot.hasConsent(about);
  await bot.hasData(about, 'profile', { value: 'Robin <b>' });
}

interface Event {
  readonly event_type: string;
  readonly source: string;
  readonly details: Json | null;
}

const events = async (about: SubjectIds = who): Promise<Event[]> =>
  (
    await bot.get<{ events: Event[] }>(
      `/audit/events?user_id=${about.user_id}&guild_id=${about.guild_id}&page_size=100`,
    )
  ).data.events;

it('reads the fields of the categories that have values, and of no other', async () => {
  for (const key of ['stored', 'empty'])
    await bot.hasCategory(key, [{ ...field('value'), label_en: `Of ${key}` }]);
  await bot.hasConsent(who);
  await bot.hasData(who, 'stored', { value: 'Ada' });
  const { url } = await linked();
  const log = new SqlLog().open();
  const { text } = await get(url);
  log.close();
  expect(text).toContain('Of stored');
  const reading = log.statements().filter((sql) => /\bfields\b.*FROM categories/s.test(sql));
  expect(reading).toEqual([
    expect.stringMatching(/CASE WHEN key .* THEN fields ELSE '\[\]' END AS fields\b/),
  ]);
});

describe('POST /privacy-links', () => {
  it('answers 201 with an unguessable link that names nobody and ends in 15 minutes', async () => {
    const before = Date.now();
    const { url, expires_at } = await linked();
    const after = Date.now();
    expect(url).toMatch(new RegExp(`^${service.url}/p/[\\w-]{43}$`));
    expect(url).not.toContain(who.user_id);
    const made = Date.parse(expires_at) - 900_000;
    expect([before <= made, made <= after]).toEqual([true, true]);
    expect((await linked()).url).not.toBe(url);
  });

  it.each([
    ['no guild', { guild_id: undefined }, 'guild_id'],
    ['a guild and a scope', { scope: 'all_guilds' }, 'guild_id'],
    ['a time that is too short', { expires_in: 59 }, 'expires_in'],
    ['a time that is too long', { expires_in: 604_801 }, 'expires_in'],
    ['nothing to do', { allow: [] }, 'allow'],
    ['an act that is named twice', { allow: ['view', 'view'] }, 'allow'],
    ['an unknown act', { allow: ['look'] }, 'allow'],
    ['a language that is no tag', { language: 'deutsch!' }, 'language'],
  ])('answers %s with 400', async (_, given, field) => {
    expectFaults(await bot.post('/privacy-links', { ...who, ...given }), field);
  });

  it('says of a missing guild what can be given in its place', async () => {
    const { error } = await bot.post('/privacy-links', { user_id: who.user_id });
    expect(error?.details).toMatchObject({
      fields: [{ field: 'guild_id', message: expect.stringContaining('or give scope in its place') }],
    });
  });

  it.each([
    [['read'], ['view', 'export']],
    [['write'], ['consent']],
    [['erase'], ['forget']],
    [
      ['read', 'erase', 'admin'],
      ['view', 'export', 'forget'],
    ],
  ])('of a key with the scopes %j offers %j, and no more when it is opened', async (scopes, allowed) => {
    await stored();
    const key = await keyWith(scopes);
    const { id, url } = await linked({}, { ...who }, key);
    const offered = (page: Page): unknown[] => [
      page.text.includes('Robin &lt;'),
      forms(page, 'revoke').length > 0,
      forms(page, 'export').length > 0,
      page.text.includes(`${new URL(url).pathname}/forget`),
    ];
    const expected = ['view', 'consent', 'export', 'forget'].map((one) => allowed.includes(one));
    expect(offered(await get(url))).toStrictEqual(expected);
    await service.database.run(
      "UPDATE privacy_links SET allow = 'view,consent,export,forget' WHERE id = ?",
      id,
    );
    expect(offered(await get(url))).toStrictEqual(expected);
  });

  it.each([
    ['view', 'read'],
    ['export', 'read'],
    ['consent', 'write'],
    ['correct', 'write'],
    ['forget', 'erase'],
  ])('that allows %s needs a key of scope %s', async (allow, required) => {
    const others = ['read', 'write', 'erase', 'admin'].filter((scope) => scope !== required);
    const given = { ...who, allow: [allow] };
    const answer = await (await keyWith(others)).post('/privacy-links', given);
    expectFailure(answer, 403, 'insufficient_scope', { required });
    expect((await (await keyWith([required])).post('/privacy-links', given)).status).toBe(201);
  });

  it('is ended by the key that made it, or by one of scope admin, and is not answered to another key', async () => {
    const [maker, other, admin] = [
      await keyWith(['read']),
      await keyWith(['read']),
      await keyWith(['admin']),
    ];
    const [one, two] = [await linked({}, { ...who }, maker), await linked({}, { ...who }, maker)];
    const refused = await other.delete(`/privacy-links/${one.id}`);
    expectFailure(refused, 403, 'insufficient_scope', { required: 'admin' });
    expect((await maker.delete(`/privacy-links/${one.id}`)).status).toBe(200);
    expect((await admin.delete(`/privacy-links/${two.id}`)).status).toBe(200);
    const repeat = (by: Client) => by.post<Link>('/privacy-links', who, { 'idempotency-key': 'a-link' });
    expect((await repeat(maker)).data.url).not.toBe((await repeat(other)).data.url);
  });

  it('ends the oldest of more than ten links of a user', async () => {
    const links: Link[] = [];
    for (let made = 0; made < 11; made++) links.push(await linked());
    const states = await Promise.all(links.map(({ url }) => get(url)));
    expect(states.map(({ status }) => status)).toStrictEqual([404, ...Array<number>(10).fill(200)]);
  });

  it('leaves ten links of a user of whom thirty are made at once, with a consent and without one', async () => {
    const other = subject();
    await bot.hasConsent(other);
    for (const about of [who, other]) {
      const made = await Promise.all(Array.from({ length: 30 }, () => linked({}, { ...about })));
      const states = await Promise.all(made.map(({ url }) => get(url)));
      expect(states.filter(({ status }) => status === 200)).toHaveLength(10);
    }
  });

  it('counts no link that has expired by a clock that was set forward, for a user and for a bot', async () => {
    const lasting = await linked({ expires_in: 86_400 });
    for (let made = 1; made < 10; made++) await linked({ expires_in: 3_600 });
    await service.database.run(
      `INSERT INTO privacy_links
         (bot_id, id, token, key_id, guild_id, user_id, subject, allow, language, created_at, expires_at)
       WITH RECURSIVE copies (place) AS (SELECT 100000000001 UNION ALL SELECT place + 1 FROM copies WHERE place < 100000009990)
       SELECT bot_id, '00000000-0000-7000-8000-' || CAST(place AS TEXT), bot_id || CAST(place AS TEXT), key_id, guild_id,
         CAST(place AS TEXT), subject, allow, language, created_at, expires_at
       FROM privacy_links CROSS JOIN copies WHERE id = ?`,
      lasting.id,
    );
    const more = (about: SubjectIds) => bot.post('/privacy-links', { ...about });
    const limit = { reason: 'limit_reached', limit: 10_000 };
    expectFailure(await more(subject()), 409, 'conflict', limit);
    steps(service, 7_200_000);
    for (let made = 1; made < 10; made++) expect((await more(who)).status).toBe(201);
    expectFailure(await more(subject()), 409, 'conflict', limit);
    expect((await get(lasting.url)).status).toBe(200);
  });

  it('stores neither the token nor an id', async () => {
    const { id, url } = await linked();
    const [row] = await service.database.rows('SELECT * FROM privacy_links WHERE id = ?', id);
    const text = JSON.stringify(row);
    for (const secret of [url.split('/').at(-1)!, who.user_id, who.guild_id])
      expect(text).not.toContain(secret);
  });
});

describe('a link', () => {
  it('opens the same 404 page when it is unknown, deleted, expired, of a deleted key, or erased', async () => {
    const unknown = await get(`${service.url}/p/${'a'.repeat(43)}`);
    expect(unknown.status).toBe(404);
    const [deleted, erased, expired] = [await linked(), await linked({}, { ...subject() }), await linked()];
    expectSuccess(await bot.delete(`/privacy-links/${deleted.id}`), 200, { id: deleted.id, deleted: true });
    expectFailure(await bot.delete(`/privacy-links/${deleted.id}`), 404, 'not_found');
    expect(await get(deleted.url)).toMatchObject({ status: 404, text: unknown.text });
    expect((await get(erased.url)).status).toBe(200);
    const { id, api_key } = (await bot.post<{ id: string; api_key: string }>(`/bots/${bot.id}/keys`, {}))
      .data;
    const ofKey = await linked({}, { ...subject() }, new Client(service.url, api_key));
    expect((await get(ofKey.url)).status).toBe(200);
    await bot.delete(`/bots/${bot.id}/keys/${id}`);
    expect(await get(ofKey.url)).toMatchObject({ status: 404, text: unknown.text });
    const now = Date.now();
    jest.spyOn(service.app.get(Clock), 'nowIso').mockReturnValue(new Date(now + 901_000).toISOString());
    expect(await get(expired.url)).toMatchObject({ status: 404, text: unknown.text });
  });

  it('ends with the rotation of its key at the end of the overlap', async () => {
    const { url } = await linked();
    const rotated = await bot.post<{ api_key: string }>(`/bots/${bot.id}/keys/rotate`, {
      overlap_seconds: 0,
    });
    expect(rotated.status).toBe(201);
    expect((await get(url)).status).toBe(404);
  });

  it('ends with the erasure of its user by the bot', async () => {
    await stored();
    const { url } = await linked();
    await bot.hasForgotten(who);
    expect((await get(url)).status).toBe(404);
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'New' });
    expect((await get(url)).status).toBe(404);
  });

  it.each([
    ['the erasure of its user in the guild', () => bot.hasForgotten(who), ['elsewhere', 'other']],
    ['the erasure of its user in every guild', () => forgottenEverywhere(who.user_id), ['other']],
    [
      'the removal of its guild',
      async () => {
        await bot.post('/servers/register', { guild_id: who.guild_id });
        expect((await bot.delete(`/servers/${who.guild_id}`)).status).toBe(200);
      },
      ['elsewhere', 'everywhere'],
    ],
  ])('of somebody about whom nothing is stored ends with %s', async (_, erase, left) => {
    const { user_id, guild_id } = who;
    const links = {
      here: await linked(),
      elsewhere: await linked({}, { ...who, guild_id: snowflake() }),
      everywhere: await linked({ scope: 'all_guilds' }, { user_id }),
      other: await linked({}, { ...subject(), guild_id }),
    };
    await erase();
    expect(await inForce(links)).toStrictEqual(left);
  });

  it.each([
    ['an erasure of other users in every guild', () => forgottenEverywhere(snowflake())],
    [
      'the removal of another guild',
      async () => {
        const other = { ...who, guild_id: snowflake() };
        await bot.post('/servers/register', { guild_id: other.guild_id });
        await bot.hasConsent(other);
        expect((await bot.delete(`/servers/${other.guild_id}`)).status).toBe(200);
      },
    ],
  ])('stays after %s', async (_, erase) => {
    await stored();
    const links = {
      here: await linked(),
      everywhere: await linked({ scope: 'all_guilds' }, { user_id: who.user_id }),
    };
    await erase();
    expect(await inForce(links)).toStrictEqual(['here', 'everywhere']);
  });

  it('of another bot cannot be deleted', async () => {
    const { id, url } = await linked();
    const other = await service.registerBot();
    expectFailure(await other.delete(`/privacy-links/${id}`), 404, 'not_found');
    expect((await get(url)).status).toBe(200);
  });

  it('of somebody about whom nothing is stored makes no subject', async () => {
    const { url } = await linked({ language: 'en' });
    expect((await get(url)).text).toContain('No values are stored.');
    expect(await service.database.rows('SELECT 1 FROM subjects WHERE bot_id = ?', bot.id)).toHaveLength(0);
  });

  it('is refused and not removed by a clock that is set forward', async () => {
    const { url } = await linked({ expires_in: 3_600 });
    const later = new Date(Date.now() + 3_601_000).toISOString();
    jest.spyOn(service.app.get(Clock), 'nowIso').mockReturnValue(later);
    expect((await get(url)).status).toBe(404);
    await runNow(service, PrivacyLinksRetention);
    await linked();
    jest.restoreAllMocks();
    const rows = await service.database.rows('SELECT 1 FROM privacy_links WHERE bot_id = ?', bot.id);
    expect(rows).toHaveLength(2);
  });

  it('that has expired is removed by the job', async () => {
    await linked({ expires_in: 60 });
    const later = new Date(Date.now() + 61_000).toISOString();
    jest.spyOn(service.app.get(Clock), 'confirmedIso').mockReturnValue(later);
    await runNow(service, PrivacyLinksRetention);
    jest.restoreAllMocks();
    expect(await service.database.rows('SELECT 1 FROM privacy_links WHERE bot_id = ?', bot.id)).toHaveLength(
      0,
    );
  });
});

describe('the page', () => {
  it('says who asks, what is stored and why, with the values escaped', async () => {
    await stored();
    const { text, headers } = await get((await linked({ language: 'en' })).url);
    for (const part of [
      'Test bot',
      'privacy@example.org',
      'Category profile',
      'Field value',
      'consent (Art. 6(1)(a) GDPR)',
      'Art. 77',
    ])
      expect(text).toContain(part);
    expect(text).toContain('Robin &lt;b&gt;');
    expect(text).not.toContain('<b>');
    expect(text).not.toMatch(/<script|(src|href|action)="(?!\/p\/|mailto:|data:application\/json)/);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('strict-origin');
  });

  it('names the server, and shows values first, as people write them, and marked where the consent is withdrawn', async () => {
    await bot.post('/servers/register', { guild_id: who.guild_id, name: 'Tea & <cake>' });
    for (const key of ['profile', 'notes']) await bot.hasCategory(key, [field('day', 'date')]);
    const { id } = (
      await bot.post<{ id: string }>('/consents/request', { ...who, categories: ['profile', 'notes'] })
    ).data;
    await bot.post('/consents/accept', { consent_id: id });
    await bot.hasData(who, 'profile', { day: '1986-07-16' });
    await bot.post('/consents/revoke', { ...who, categories: ['notes'] });
    const link = await linked();
    const [en, de] = await Promise.all(
      ['en', 'de'].map(async (lang) => (await get(`${link.url}?lang=${lang}`)).text),
    );
    expect(en).toContain('>Server Tea &amp; &lt;cake&gt;</strong>');
    expect(en).not.toContain(who.guild_id + '</h2>');
    expect(en).toMatch(/16 July 1986[^]*<details>\s*<summary>What it is for[^]*<dt>Purpose/);
    expect(en).toMatch(/ends on \d+ \w+ \d{4} at \d\d:\d\d\. /);
    expect(de).toMatch(/>16\. Juli 1986</);
    expect(de).toMatch(/gilt bis zum \d+\. \S+ \d{4} um \d\d:\d\d Uhr\. /);
    for (const text of [en!, de!]) expect(text.match(/(?<![\w-])UTC(?![\w-])/g)).toHaveLength(1);
    expect(
      en!
        .match(/<h3>[^]*?<\/h3>/g)
        ?.map((heading) => [...heading.matchAll(/>\s*(\w[^<]*)</g)].map(([, name]) => name)),
    ).toEqual([['Category profile'], ['Category notes', 'withdrawn']]);
    await bot.post('/consents/revoke', who);
    expect((await get(`${link.url}?lang=en`)).text.match(/<small>withdrawn/g)).toHaveLength(2);
    const everywhere = await linked({ scope: 'all_guilds', language: 'de' }, { user_id: who.user_id });
    expect((await get(everywhere.url)).text).toContain('Server Tea &amp; &lt;cake&gt;</h2>');
  });

  it('has the language of its switch, else of the link, else of the browser', async () => {
    const german = { 'accept-language': 'fr, de-AT;q=0.8, en;q=0.5' };
    const { url } = await linked();
    expect((await get(url, german)).text).toContain('<html lang="de">');
    expect((await get(url)).text).toContain('<html lang="en">');
    expect((await get((await linked({ language: 'fr' })).url, german)).text).toContain('<html lang="en">');
    expect((await get(`${(await linked({ language: 'de' })).url}?lang=en`)).text).toContain(
      '<html lang="en">',
    );
  });

  it('of hostile and large texts has at most 50 KB, no mark-up of them and a sentence that there is more', async () => {
    const hostile = `"><script>alert(1)</script>'\u202e${'x'.repeat(500)}`;
    for (let at = 0; at < 20; at++)
      await bot.hasCategory(`c${at}`, [field('nested', 'json'), field('empty', 'json')], {
        label_en: hostile.slice(0, 90),
        description: hostile.slice(0, 400),
      });
    await bot.hasConsent(who);
    const inner = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`<i>${at}`, hostile]));
    for (let at = 0; at < 20; at++)
      await bot.hasData(who, `c${at}`, { nested: [inner, null, [[]]], empty: {} });
    const { text } = await get((await linked({ language: 'en' })).url);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(50_000);
    expect(text).not.toMatch(/<script|<i>|\u202e/);
    expect(text).toContain('The copies below have everything');
    const uncopied = await get((await linked({ language: 'en', allow: ['view'] })).url);
    expect(uncopied.text).toContain('There is more. Ask the bot for a copy');
    expect(uncopied.text).not.toContain('The copies below');
  });

  it('names no user in the log', async () => {
    await stored();
    const { url } = await linked();
    await get(url);
    await act(url, 'revoke');
    const log = service.logLines.join('\n');
    for (const secret of [url.split('/').at(-1)!, who.user_id, who.guild_id, 'Robin'])
      expect(log).not.toContain(secret);
  });

  it("says of an event that the bot has written that it is the bot's, whatever it names", async () => {
    await stored();
    const { url } = await linked({ language: 'en' });
    const past = async () =>
      [...(await get(url)).text.matchAll(/<li>[^<]* at [\d:]{5}: (.*?)<\/li>/g)].map(([, said]) => said);
    const before = await past();
    const types = {
      ...{ deletion_completed: 'An erasure was completed', consent_accepted: 'Consent was given' },
      data_exported: 'Data was exported',
    };
    for (const event_type of Object.keys(types))
      await bot.post('/audit/event', { ...who, event_type, details: { via: 'privacy_page' } });
    const said = Object.values(types).map((words) => `The bot has noted: <bdi>${words}</bdi>`);
    said.reverse();
    expect(await past()).toStrictEqual([...said, ...before]);
  });

  it.each(['request', 'accept', 'decline', 'revoke'])(
    'alone is a source: %s of a bot with its name, or that of the console, is 400',
    async (path) => {
      for (const source of ['privacy_page', 'console'])
        expectFaults(await bot.post(`/consents/${path}`, { ...who, consent_version: '1', source }), 'source');
    },
  );

  it('writes no event when it is opened', async () => {
    await stored();
    const before = (await events()).length;
    await get((await linked()).url);
    expect(await events()).toHaveLength(before);
  });

  it('offers only what is allowed, and refuses the rest with a 403 page', async () => {
    await stored();
    const all = await linked();
    const { url } = await linked({ allow: ['export'] });
    const page = await get(url);
    expect(page.text).not.toContain('Robin');
    for (const name of ['accept', 'revoke', 'forget']) expect(forms(page, name)).toHaveLength(0);
    expect(forms(page, 'export')).toHaveLength(2);
    expect((await get(`${url}/forget`)).status).toBe(403);
    for (const name of ['revoke', 'forget']) {
      const mark = forms(await get(name === 'forget' ? `${all.url}/forget` : all.url), name)[0]!;
      expect((await send(url, name, mark)).status).toBe(403);
    }
    expect((await bot.status(who)).data).toMatchObject({ status: 'accepted' });
  });
});

describe('a form', () => {
  it('revokes the consent as the interface does, and says where', async () => {
    await stored();
    const { url } = await linked();
    const answer = await act(url, 'revoke');
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toMatch(/^\/p\/[\w-]{43}\?lang=en&note=revoked$/);
    expect((await bot.status(who)).data).toMatchObject({ status: 'revoked' });
    expect((await events())[0]).toMatchObject({
      event_type: 'consent_revoked',
      source: 'service',
      details: { via: 'privacy_page' },
    });
  });

  it('accepts what is chosen, declines, and answers a second click with the page', async () => {
    for (const key of ['profile', 'notes']) await bot.hasCategory(key);
    const ask = () =>
      bot.post('/consents/request', { ...who, categories: ['profile', 'notes'], language: 'en' });
    await ask();
    const { url } = await linked();
    expect((await act(url, 'decline')).status).toBe(303);
    expect((await bot.status(who)).data).toMatchObject({ status: 'none' });
    await ask();
    const form = forms(await get(url), 'accept')[0]!;
    form.delete('category');
    form.append('category', 'notes');
    for (let click = 0; click < 2; click++) expect((await send(url, 'accept', form)).status).toBe(303);
    expect((await bot.status(who)).data).toMatchObject({ status: 'accepted' });
    const accepted = (await events()).filter(({ event_type }) => event_type === 'consent_accepted');
    expect(accepted).toMatchObject([{ details: { categories: ['notes'], via: 'privacy_page' } }]);
  });

  it.each(['accept', 'decline'] as const)(
    'does not %s a newer request that comes after the page has compared what was shown',
    async (answer) => {
      await bot.hasRequest(who);
      const { url } = await linked();
      const acts = service.app.get(Acts, { strict: false });
      const run: (...given: Parameters<Acts['run']>) => Promise<object> = acts.run.bind(acts);
      jest.spyOn(acts, 'run').mockImplementationOnce(async (...given) => {
        await bot.hasRequest(who, '2.0');
        return run(...given);
      });
      expect((await act(url, answer)).status).toBe(303);
      expect((await bot.status(who)).data).toMatchObject({ status: 'pending', version: '2.0' });
    },
  );

  it('says after a no when it was, and never that the user was not asked', async () => {
    await bot.hasRequest(who);
    const { url } = await linked();
    await act(url, 'decline');
    for (const [lang, said, unsaid] of [
      ['en', 'You declined on ', 'not asked'],
      ['de', 'Du hast am ', 'nicht gefragt'],
    ] as const) {
      const shown = (await get(`${url}?lang=${lang}`)).text;
      expect(shown).toContain(said);
      expect(shown).not.toContain(unsaid);
    }
    await bot.hasConsent(who);
    expect((await get(url)).text).not.toContain('You declined');
    await bot.hasRequest(who, '2.0');
    await act(url, 'decline');
    const beside = (await get(url)).text;
    for (const said of ['You have consented.', 'You declined a newer request on '])
      expect(beside).toContain(said);
  });

  it('accepts nothing where nothing is chosen', async () => {
    await bot.hasCategory('profile');
    await bot.post('/consents/request', { ...who, categories: ['profile'], language: 'en' });
    const { url } = await linked();
    const form = forms(await get(url), 'accept')[0]!;
    form.delete('category');
    expect((await send(url, 'accept', form)).status).toBe(303);
    expect((await bot.status(who)).data).toMatchObject({ status: 'pending' });
  });

  it('is answered with a line that says what was done, and why nothing was', async () => {
    for (const key of ['profile', 'notes', 'levels']) await bot.hasCategory(key);
    const ask = { ...who, categories: ['profile', 'notes', 'levels'], language: 'en' };
    await bot.post('/consents/request', ask);
    const { url } = await linked();
    /** What the page says in both languages after an act. */
    const said = async (name: string, form: URLSearchParams) => {
      const location = (await send(url, name, form)).headers.get('location')!;
      const lines: string[] = [];
      for (const lang of ['en', 'de']) {
        const at = new URL(location.replace('lang=en', `lang=${lang}`), url);
        lines.push(/role="status">\s*<p>\s*([^]*?)\s*<\/p>/.exec((await get(at.href)).text)?.[1] ?? '');
      }
      return lines;
    };
    const form = forms(await get(url), 'accept')[0]!;
    form.delete('category');
    expect(await said('accept', form)).toEqual([
      expect.stringMatching(/^Choose at least one category/),
      expect.stringMatching(/^Wähle mindestens eine Kategorie aus/),
    ]);
    for (const key of ['profile', 'levels']) form.append('category', key);
    const both = 'Category profile, Category levels';
    const recorded = [`You have consented: ${both}.`, `Du hast eingewilligt: ${both}.`];
    expect(await said('accept', form)).toEqual(recorded);
    expect((await said('accept', form))[0]).toMatch(/^This was answered already/);
    expect((await get(url)).text).toMatch(/notes:\s*not chosen/);
    expect((await get(`${url}?lang=de`)).text).toMatch(/notes<\/bdi>:\s*nicht gewählt/);
    const revocations = forms(await get(url), 'revoke');
    expect(await said('revoke', revocations[0]!)).toEqual([
      'Withdrawn: Category profile.',
      'Widerrufen: Category profile.',
    ]);
    expect((await get(url)).text).toMatch(/profile:\s*withdrawn/);
    expect(await said('revoke', revocations.at(-1)!)).toEqual([
      'You have withdrawn your whole consent.',
      'Du hast deine ganze Einwilligung widerrufen.',
    ]);
    await bot.post('/consents/request', ask);
    const declined = await said('decline', forms(await get(url), 'decline')[0]!);
    expect(declined).toEqual([expect.stringContaining('not consented'), expect.stringContaining('nicht')]);
    const other = await linked({}, { ...subject() });
    expect((await get(other.url)).text).toContain('there is no copy');
    expect((await get(`${url}?note=toString`)).text).not.toContain('role="status"');
  });

  describe('a request whose categories are described in another way today', () => {
    beforeEach(async () => {
      for (const key of ['place', 'notes']) await bot.hasCategory(key);
      await bot.put('/data/categories/place', { label_en: 'Location, sold to others' });
    });
    const ask = (more: Json = {}) =>
      bot.post('/consents/request', { ...who, categories: ['place', 'notes'], language: 'en', ...more });
    const rename = () => bot.put('/data/categories/place', { label_en: 'Birthday greetings' });
    it('has the words of the request at its boxes, in the history and at the withdrawal of a part', async () => {
      await ask({ consent_version: '1' });
      await rename();
      const { url } = await linked();
      const asked = (await get(url)).text;
      expect(asked).toMatch(/value="place"\s*\/>\s*Location, sold to others/);
      expect(asked).toMatch(/<details open>[^]*<li [^>]*>Location, sold to others:/);
      const form = forms(await get(url), 'accept')[0]!;
      for (const key of ['place', 'notes']) form.append('category', key);
      expect((await send(url, 'accept', form)).status).toBe(303);
      const decided = (await get(url)).text;
      expect(decided).toMatch(/Withdraw: Location, sold to others/);
      expect(decided).toMatch(/consented \(Location, sold to others/);
      expect(decided).toMatch(/<li>\s*Location, sold to others:\s*consented/);
    });

    it('marks the words of another language, at the boxes and in the copy too', async () => {
      const label = 'اسم';
      const words = { title: 'عنوان', body: 'نص', categories: [{ key: 'place', label, text: 'شرح' }] };
      await bot.post('/consents/texts', { consent_version: '1', language: 'ar', ...words });
      await ask({ consent_version: '1', language: 'ar' });
      const { url } = await linked();
      const asked = (await get(`${url}?lang=de`)).text;
      expect(asked).toMatch(/<p lang="ar" dir="auto"><strong>عنوان/);
      expect(asked).toMatch(/<p class="words" lang="ar" dir="auto">نص/);
      expect(asked).toMatch(/<li class="words" lang="ar" dir="auto">اسم: شرح/);
      expect(asked).toMatch(/value="place"\s*\/>\s*<bdi lang="ar" dir="auto">اسم<\/bdi>/);
      const form = forms(await get(url), 'accept')[0]!;
      for (const key of ['place', 'notes']) form.append('category', key);
      await send(url, 'accept', form);
      const page = await get(`${url}?lang=de`);
      expect(page.text).toMatch(/Widerrufen:\s*<bdi lang="ar" dir="auto">اسم/);
      const copy = (await send(url, 'export', forms(page, 'export')[0]!)).text;
      expect(copy).toContain('<bdi lang="ar">عنوان');
      expect(copy).toContain('<li class="words" lang="ar" dir="auto">اسم: شرح');
    });

    it.each([
      ['the declaration', rename],
      ['the retention', () => bot.put('/data/categories/place', { retention_days: 9 })],
      ['the name of the bot', () => bot.put(`/bots/${bot.id}`, { name: 'Another' })],
      ['the request', () => ask({ categories: ['place'], consent_version: '2' })],
      ['the language of the request', () => ask({ consent_version: '1', language: 'de' })],
    ])('is not answered by a form of a page from before a change of %s', async (_, change) => {
      await ask({ consent_version: '1' });
      const { url } = await linked();
      const page = await get(url);
      await change();
      for (const name of ['accept', 'decline']) {
        const form = forms(page, name)[0]!;
        form.append('category', 'place');
        const { status, headers } = await send(url, name, form);
        expect([status, headers.get('location')]).toEqual([303, expect.stringMatching(/&note=changed$/)]);
        expect((await get(new URL(headers.get('location')!, url).href)).text).toContain('has changed since');
        expect((await bot.status(who)).data).toMatchObject({ status: 'pending' });
        form.set('shown', forms(await get(url), name)[0]!.get('shown')!);
        expect((await send(url, name, form)).status).toBe(403);
      }
      expect((await act(url, 'decline')).status).toBe(303);
      expect((await bot.status(who)).data).toMatchObject({ status: 'none' });
    });
  });

  it('of a suspended bot shows, exports, revokes and erases, and takes no decision on a request', async () => {
    await bot.hasCategory('profile');
    await bot.post('/consents/request', { ...who, categories: ['profile'], language: 'en' });
    const { url } = await linked();
    const page = await get(url);
    await service.app.get(BotAdministration, { strict: false }).suspend(bot.id);
    for (const decision of ['accept', 'decline']) {
      expect(forms(await get(url), decision)).toHaveLength(0);
      expect((await send(url, decision, forms(page, decision)[0]!)).status).toBe(403);
    }
    expect((await act(url, 'export', 1)).status).toBe(200);
    expect((await forget((await linked()).url)).status).toBe(200);
  });

  it.each([
    ['of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['of another origin', { origin: 'https://evil.example' }],
    ['without an origin', { origin: 'null' }],
    ['of a site that browsers call another', { 'sec-fetch-site': 'same-site' }],
  ])('%s is refused with a 403 page', async (_, headers) => {
    await stored();
    const { url } = await linked();
    const answer = await send(url, 'revoke', forms(await get(url), 'revoke')[0]!, headers);
    expect([answer.status, answer.headers.get('content-type')]).toStrictEqual([
      403,
      'text/html; charset=utf-8',
    ]);
    expect((await bot.status(who)).data).toMatchObject({ status: 'accepted' });
  });

  it('with the mark of another act, of another link or none is refused', async () => {
    await stored();
    const { url } = await linked();
    const other = await linked({}, { ...subject() });
    const page = await get(url);
    const marks = [
      forms(page, 'export')[0]!.get('mark'),
      forms(await get(`${other.url}/forget`), 'forget')[0]!.get('mark'),
      '',
      'é',
    ];
    for (const mark of marks)
      expect((await send(url, 'forget', new URLSearchParams({ mark: mark ?? '' }))).status).toBe(403);
    expect((await bot.status(who)).data).toMatchObject({ status: 'accepted' });
  });

  it('cannot name another guild than that of its link', async () => {
    const other = { ...subject(), user_id: who.user_id };
    await stored();
    await bot.hasConsent(other);
    const { url } = await linked();
    const form = forms(await get(url), 'revoke')[0]!;
    form.set('guild', other.guild_id);
    expect((await send(url, 'revoke', form)).status).toBe(403);
    expect((await bot.status(other)).data).toMatchObject({ status: 'accepted' });
  });

  it('of more than 8 KiB, or of another type, is no form', async () => {
    const { url } = await linked();
    expect((await send(url, 'revoke', `mark=${'a'.repeat(9_000)}`)).status).toBe(413);
    expect((await send(url, 'revoke', '{}', { 'content-type': 'application/json' })).status).toBe(415);
  });

  it('exports to read everything that the JSON has, in the words that were shown', async () => {
    const sold = `"gender, sold to <others>"`;
    for (const key of ['place', 'notes']) await bot.hasCategory(key);
    await bot.post('/servers/register', { guild_id: who.guild_id, name: 'Tea & cake' });
    const texts = {
      ...{ title: 'May we?', body: 'One line\nand another' },
      categories: ['place', 'notes'].map((key) => ({ key, label: `${sold} ${key}`, text: `For ${key}` })),
    };
    const notice = {
      ...{ privacy_notice: 'https://example.org/notice', jurisdiction: 'DE', withdrawal_method: 'Say so' },
      ...{ recipient_third_parties: ['Example & Sons'], storage_locations: ['DE', 'FR'] },
    };
    const registered = { consent_version: '7', language: 'en', ...texts, ...notice };
    expect((await bot.post('/consents/texts', registered)).status).toBe(201);
    const asked = { ...who, consent_version: '7', language: 'en', categories: ['place', 'notes'] };
    const { id } = (await bot.post<{ id: string }>('/consents/request', asked)).data;
    await bot.post('/consents/accept', { consent_id: id, source: 'discord' });
    await bot.hasData(who, 'place', { value: 'Here' });
    await bot.post('/audit/event', { ...who, event_type: 'deletion_completed', details: { of: ['a <b>'] } });
    await bot.post('/consents/revoke', { ...who, categories: ['notes'] });
    await bot.put('/data/categories/place', { label_en: 'Birthday greetings' });

    const { url } = await linked({ language: 'en' });
    const copy = (await act(url, 'export', 0)).text;
    const json = JSON.parse((await act(url, 'export', 1)).text) as Record<string, Json[]>;
    const { consent_history: history, consent_texts: shown, audit_events: done } = json;
    expect([history, shown, done?.length]).toEqual([expect.any(Array), [expect.objectContaining(texts)], 6]);
    const records = [...history!, ...shown!, ...done!, json['data']];
    expect(copy.match(/<article>/g)).toHaveLength(records.length);
    const leaves = (value: unknown): string[] =>
      typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(leaves);
    const written = unescaped(copy);
    for (const leaf of [...leaves(texts), ...leaves(notice)].filter((text) => !/^(place|notes)$/.test(text)))
      expect(written).toContain(leaf);
    for (const part of [
      'Server Tea & cake',
      who.guild_id,
      `${sold} notes:\n              withdrawn.`,
      'withdrawn in part</bdi></h4><dl><dt><bdi>Categories</bdi></dt><dd><ul><li><bdi>' + `${sold} notes<`,
      'consented</bdi></h4><dl><dt><bdi>Categories</bdi></dt><dd><ul><li><bdi>' + `${sold} place<`,
      'The bot has noted: An erasure was completed',
      'a <b>',
      'Data was stored</bdi></h4><dl><dt><bdi>Category</bdi></dt><dd><bdi>Birthday greetings<',
      'Version of the request: 7',
    ])
      expect(written).toContain(part);
    expect(copy).not.toMatch(/<script|(src|href|action)="(?!mailto:)|undefined|\[object/);
    expect((await get(url)).text).toContain('Everything that is stored about you');
  });

  it('says in the language of the page what a category and its fields are for, in the copy too', async () => {
    const purposes = {
      description: 'Without a language',
      description_de: 'Zum Gruß',
      description_en: 'To greet',
    };
    const meaning = { description_de: 'Wie du heißt', description_en: 'How you are called' };
    await bot.post('/data/register', {
      ...{ key: 'profile', label_de: 'Profil', label_en: 'Profile', ...purposes },
      fields: [{ ...field('value'), ...meaning }],
    });
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'Robin' });
    for (const [language, own, other] of [
      ['de', ['Zum Gruß', 'Wie du heißt'], /To greet|How you|Without/],
      ['en', ['To greet', 'How you are called'], /Zum Gru|Wie du|Without/],
    ] as const) {
      const { url } = await linked({ language });
      const [page, copy] = [(await get(url)).text, (await act(url, 'export', 0)).text];
      expect(page).toContain(`<dd>${own[0]}</dd>`);
      for (const part of own) expect(copy).toContain(`<dd>${part}</dd>`);
      expect(page + copy).not.toMatch(other);
    }
  });

  it('exports as JSON and to read, each recorded', async () => {
    await stored();
    const { url } = await linked({ language: 'de' });
    const readable = await act(url, 'export', 0);
    expect(readable.headers.get('content-disposition')).toBe('attachment; filename="lethe-export.html"');
    for (const part of ['Robin &lt;b&gt;', 'Feld value', 'privacy@example.org', 'Art. 77', 'Art. 16'])
      expect(readable.text).toContain(part);
    const json = await act(url, 'export', 1);
    expect(JSON.parse(json.text)).toMatchObject({
      userId: who.user_id,
      data: { profile: { value: 'Robin <b>' } },
    });
    const exported = (await events()).filter(({ event_type }) => event_type === 'data_exported');
    expect(exported.map(({ details }) => details)).toStrictEqual([
      { format: 'full', via: 'privacy_page', actor: 'privacy_page' },
      { format: 'full', via: 'privacy_page', actor: 'privacy_page' },
    ]);
  });

  it('exports to read in pieces, whole and one guild after the other, as a stream of the person among those of the bot', async () => {
    const { slots } = service.app.getHttpAdapter() as unknown as LetheHttpAdapter;
    const taken = jest.spyOn(slots, 'take');
    const other = { ...who, guild_id: snowflake() };
    await bot.hasCategory('profile', [field('value'), field('many', 'json')]);
    for (const each of [who, other]) {
      await bot.hasConsent(each);
      const many = Array.from({ length: 2_000 }, (_, at) => [at, { deep: [[`<${at}>`, '']] }]);
      await bot.hasData(each, 'profile', { value: `of ${each.guild_id}`, many });
    }
    const link = await linked({ scope: 'all_guilds' }, { user_id: who.user_id });
    const { text, headers } = await act(link.url, 'export', 0);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    for (const part of [`of ${who.guild_id}`, `of ${other.guild_id}`, '<li><bdi>&lt;1999&gt;</bdi></li>'])
      expect(text).toContain(part);
    for (const tag of ['section', 'article', 'h3', 'h4', 'ul', 'li', 'dl', 'dt', 'dd', 'bdi', 'main'])
      expect([tag, text.split(`<${tag}>`).length]).toEqual([tag, text.split(`</${tag}>`).length]);
    await act((await linked({}, other)).url, 'export', 0);
    const [first, second] = taken.mock.calls.map(([{ caller, person }]) => ({ caller, person }));
    expect(first).toEqual({ caller: `the pages of ${bot.id}`, person: expect.stringMatching(/./) });
    expect(second).toEqual(first);
    expect((await events()).filter(({ event_type }) => event_type === 'data_exported')).toHaveLength(1);
  });

  it('records no export to read of a user who was erased while it waited for its place', async () => {
    await stored();
    const { url } = await linked();
    const { slots } = service.app.getHttpAdapter() as unknown as LetheHttpAdapter;
    const take = slots.take.bind(slots);
    jest.spyOn(slots, 'take').mockImplementation(async (stream) => {
      await bot.hasForgotten(who);
      return take(stream);
    });
    const answer = await act(url, 'export', 0);
    expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('<html')]);
    expect(answer.headers.get('content-disposition')).toBeNull();
    expect(
      await service.database.rows(
        "SELECT 1 FROM audit_events WHERE event_type = 'data_exported' AND bot_id = ?",
        bot.id,
      ),
    ).toEqual([]);
  });

  it('exports that find no place are refused as a page, not as a file, and are not recorded', async () => {
    await stored();
    const { url } = await linked();
    const { slots } = service.app.getHttpAdapter() as unknown as LetheHttpAdapter;
    jest.spyOn(slots, 'take').mockRejectedValue(new ApiError('service_unavailable', 'Too many'));
    const answer = await act(url, 'export', 0);
    expect([answer.status, answer.text]).toEqual([
      503,
      expect.stringContaining('<p>Please try again in a moment.</p>'),
    ]);
    expect(answer.headers.get('content-disposition')).toBeNull();
    expect((await events()).map(({ event_type }) => event_type)).not.toContain('data_exported');
  });

  it('names at most as many categories as a call of the interface', async () => {
    await stored();
    const { url } = await linked();
    const [form] = forms(await get(url), 'revoke');
    for (let at = 0; at <= 50; at++) form!.append('category', `c${at}`);
    expect((await send(url, 'revoke', form!)).status).toBe(400);
  });

  it('erases after a confirmation, shows the certificate, and ends the link', async () => {
    await stored();
    const { url } = await linked();
    const answer = await forget(url);
    expect(answer.status).toBe(200);
    const [, id] = /<dd>([0-9a-f-]{36})<\/dd>/.exec(answer.text) ?? [];
    expect((await bot.get(`/gdpr/forget-status/${id}`)).data).toMatchObject({ status: 'completed' });
    expect(answer.text).toMatch(/<textarea readonly>[\w-]+\.[\w-]+\.[\w-]{86}<\/textarea>/);
    expect((await get(url)).status).toBe(404);
    const completed = (await events()).find(({ event_type }) => event_type === 'deletion_completed');
    expect(completed).toMatchObject({ source: 'service', details: { request_id: id, via: 'privacy_page' } });
  });

  it.each(['accept', 'correct', 'erase', 'refuse', 'object', 'unknown'])(
    'leads the address of an act that is loaded anew to the page: %s',
    async (named) => {
      await stored();
      const { url } = await linked();
      const answer = await get(`${url}/${named}?lang=de`);
      expect([answer.status, answer.headers.get('location')]).toEqual([
        303,
        `${new URL(url).pathname}?lang=de`,
      ]);
      const dead = await get(`${service.url}/p/${'a'.repeat(43)}/${named}?lang=de`);
      expect(dead.status).toBe(404);
      expect(dead.text).toContain('Dieser Link gilt nicht');
      expect(dead.text).not.toContain('href="/p/');
    },
  );

  it('gives a file that /verify checks with the id of the user alone, and a link to it', async () => {
    await stored();
    const { text } = await forget((await linked()).url);
    // The page is the only one with the salt: it stays open.
    for (const tag of ['de', 'en'])
      expect(text).toMatch(new RegExp(`<a[^>]* href="/verify\\?lang=${tag}" target="_blank" rel="noopener"`));
    const [, file = ''] = /href="data:application\/json;charset=utf-8,([^"]*)"/.exec(text) ?? [];
    expect(JSON.parse(decodeURIComponent(file))).toEqual({
      request_id: AN_ID,
      certificate_salt: A_TEXT,
      guild_id: who.guild_id,
      certificate: A_TEXT,
      names: {
        bot: 'Test bot',
        categories: { profile: { de: 'Kategorie profile', en: 'Category profile' } },
      },
    });
  });

  it('has long names cut in the file, so that the certificate of each server is small', async () => {
    const label = '<'.repeat(10_000);
    const keys = Array.from({ length: 20 }, (_, at) => `c${at}`);
    for (const key of keys) await bot.hasCategory(key, undefined, { label_de: label, label_en: label });
    const about = [who, { ...who, guild_id: snowflake() }];
    for (const each of about) {
      await bot.hasConsent(each);
      for (const key of keys) await bot.hasData(each, key, { value: 'x' });
    }
    const { text } = await forget((await linked({ scope: 'all_guilds' }, { user_id: who.user_id })).url);
    const files = [...text.matchAll(/href="data:application\/json;charset=utf-8,([^"]*)"/g)];
    const cut = `${'<'.repeat(100)}…`;
    for (const [, file = ''] of files)
      expect(JSON.parse(decodeURIComponent(file))).toMatchObject({
        names: { categories: Object.fromEntries(keys.map((key) => [key, { de: cut, en: cut }])) },
      });
    expect(files).toHaveLength(2);
    expect(text.length).toBeLessThan(60_000);
  });

  it('shows the certificates as a stream of the person among those of the pages of the bot, a repeat too', async () => {
    await stored();
    const { url } = await linked();
    const form = forms(await get(`${url}/forget`), 'forget')[0]!;
    const { slots } = service.app.getHttpAdapter() as unknown as LetheHttpAdapter;
    const [taken, freed] = [jest.spyOn(slots, 'take'), jest.spyOn(slots, 'free')];
    const pages = [await send(url, 'forget', form), await send(url, 'forget', form)];
    expect(pages.map(({ status }) => status)).toEqual([200, 200]);
    expect(pages[1]?.text).toBe(pages[0]?.text);
    expect(pages[0]?.headers.get('content-security-policy')).toContain("default-src 'none'");
    const whose = { caller: `the pages of ${bot.id}`, person: who.user_id };
    expect(taken.mock.calls.map(([{ caller, person }]) => ({ caller, person }))).toEqual([whose, whose]);
    expect(freed).toHaveBeenCalledTimes(2);
  });

  it('shows number and salt of an erasure without a place for its certificate, which a repeat shows', async () => {
    await stored();
    const { url } = await linked();
    const form = forms(await get(`${url}/forget`), 'forget')[0]!;
    const { slots } = service.app.getHttpAdapter() as unknown as LetheHttpAdapter;
    const taken = jest.spyOn(slots, 'take');
    taken.mockRejectedValueOnce(new ApiError('service_unavailable', 'Too many'));
    const [first, then] = [await send(url, 'forget', form), await send(url, 'forget', form)];
    const answeredOnce = /<dd>[0-9a-f-]{36}<\/dd>\s*<dt>.*<\/dt>\s*<dd>[\w-]{22}<\/dd>/;
    expect([first.status, first.text]).toEqual([200, expect.stringMatching(answeredOnce)]);
    expect(first.text).not.toContain('<textarea');
    expect(then.text).toContain('<textarea');
    expect(then.text).toContain(answeredOnce.exec(first.text)?.[0]);
  });

  it('erases once, whether it is sent twice at once or after the first answer', async () => {
    await stored();
    const { url } = await linked();
    const form = forms(await get(`${url}/forget`), 'forget')[0]!;
    const both = await Promise.all([send(url, 'forget', form), send(url, 'forget', form)]);
    const later = await send(url, 'forget', form);
    expect([...both, later].map(({ status }) => status)).toStrictEqual([200, 200, 200]);
    expect(
      new Set([...both, later].map(({ text }) => /<dd>([0-9a-f-]{36})<\/dd>/.exec(text)?.[1])).size,
    ).toBe(1);
  });

  it('without a mark shows no certificate of the last minute', async () => {
    await stored();
    const { url } = await linked();
    await forget(url);
    expect((await send(url, 'forget', 'mark=')).status).toBe(403);
  });
});

describe('a link for all guilds', () => {
  it('shows every guild, lives on for those that are left, and ends with the erasure of all', async () => {
    const other = { ...subject(), user_id: who.user_id };
    await stored();
    await bot.hasConsent(other);
    await bot.hasData(other, 'profile', { value: 'Second' });
    const { url } = await linked({}, { user_id: who.user_id, scope: 'all_guilds' });
    const page = await get(url);
    for (const part of ['Robin &lt;', 'Second', who.guild_id, other.guild_id])
      expect(page.text).toContain(part);
    await bot.hasForgotten(who);
    expect((await get(url)).text).not.toContain('Robin');
    const answer = await forget(url);
    expect(answer.status).toBe(200);
    expect((await get(url)).status).toBe(404);
    expect((await bot.export(other)).status).toBe(404);
  });

  it('ends with the erasure of the last guild by the bot', async () => {
    const other = { ...subject(), user_id: who.user_id };
    await stored();
    await bot.hasConsent(other);
    const { url } = await linked({}, { user_id: who.user_id, scope: 'all_guilds' });
    await bot.hasForgotten(who);
    expect((await get(url)).status).toBe(200);
    await bot.hasForgotten(other);
    expect((await get(url)).status).toBe(404);
  });

  it('of a user about whom nothing is stored says so', async () => {
    const { url } = await linked({ language: 'en' }, { user_id: snowflake(), scope: 'all_guilds' });
    expect((await get(url)).text).toContain('Nothing is stored about you.');
  });
});
