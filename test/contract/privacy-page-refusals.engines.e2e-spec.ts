import { type Bot, field } from '../support/bot';
import type { Json } from '../support/client';
import { act, forms, get, type Page, send } from '../support/privacy-page';
import { useServiceInProcess } from '../support/service';
import { useService } from '../support/shared-service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

const service = useService();
const large = useServiceInProcess({ CATEGORIES_PER_BOT: '150' });
let bot: Bot;
let who: SubjectIds;

beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
  await bot.hasCategory('stats', [field('value')], { legal_basis: 'legitimate_interests' });
  await bot.hasCategory('profile', [field('value')]);
  await bot.hasConsent(who);
  for (const key of ['stats', 'profile']) await bot.hasData(who, key, { value: `of ${key}` });
});

const linked = async (given: Json = {}): Promise<string> =>
  (await bot.post<{ url: string }>('/privacy-links', { ...who, language: 'en', ...given })).data.url;
const from = (): string => `/refuse?of=${who.guild_id}`;
const inForce = async () =>
  (
    await bot.get<{ objections: Json[]; restrictions: Json[] }>(
      `/data/refusals/${who.user_id}?guild_id=${who.guild_id}`,
    )
  ).data;
const held = async (): Promise<string[]> =>
  Object.keys(
    (await bot.get<{ data: object }>(`/data/export/${who.user_id}?guild_id=${who.guild_id}`)).data.data,
  ).sort();
const submit = (category: string) => bot.post('/data/submit', { ...who, category, data: { value: 'new' } });
const note = (page: Page): string | null =>
  new URL(page.headers.get('location') ?? '', 'http://x').searchParams.get('note');
const following = (url: string, page: Page): Promise<Page> =>
  get(new URL(page.headers.get('location') ?? '', url).href);

/** Sends a form of the page of objections with what is chosen. */
async function choose(url: string, name: 'object' | 'restrict', category: string): Promise<Page> {
  const fields = forms(await get(url + from()), name)[0]!;
  fields.set('category', category);
  return send(url, name, fields);
}

describe('objections and restrictions on the privacy page', () => {
  it('the first page leads to the forms, and has nothing in force at first', async () => {
    const url = await linked();
    const page = await get(url);
    expect(page.text).toContain('Object or restrict …');
    expect(page.text).not.toContain('Restricted since');
    const form = await get(url + from());
    expect(form.status).toBe(200);
    expect(form.text).toContain('<option value="stats">Category stats</option>');
    expect(forms(form, 'object')).toHaveLength(1);
    expect(forms(form, 'restrict')).toHaveLength(1);
  });

  it.each([
    [
      'en',
      [
        'no longer read for its purposes, or change, what is stored about you here. It can still make a copy for you.',
        'until it is ended: by you, or by the team of the bot at your request. The data stays stored until its storage time',
        'an objection to a category ends when you erase everything or the bot removes the category; one to everything only when you erase everything',
      ],
    ],
    [
      'de',
      [
        'weder für seine Zwecke abrufen noch ändern, was über dich gespeichert ist. Eine Kopie für dich kann er weiter',
        'bis sie aufgehoben wird: von dir, oder vom Team des Bots auf deinen Wunsch. Die Daten bleiben gespeichert, bis',
        'Ein Widerspruch gegen eine Kategorie endet, wenn du alles löschst oder der Bot die Kategorie entfernt; einer gegen alles nur, wenn du alles löschst',
      ],
    ],
  ])(
    'says in %s what the bot can still do, and what ends an objection and a restriction',
    async (language, said) => {
      const { text } = await get(`${await linked()}${from()}&lang=${language}`);
      for (const words of said) expect(text).toContain(words);
    },
  );

  it.each([
    [
      'en',
      ['A restriction was ended: everything', 'A restriction was recorded: everything', 'Consent was given'],
      /You have (?:ended|restr|cons)/,
    ],
    [
      'de',
      ['Eine Einschränkung wurde aufgehoben: alles', 'Eine Einwilligung wurde erteilt'],
      /Du hast eine Einschr/,
    ],
  ])(
    'does not say in %s that the user has done what the bot did by its key',
    async (language, said, untrue) => {
      for (const name of ['restrict', 'unrestrict'])
        expect((await bot.post(`/data/${name}`, who)).status).toBe(200);
      const { text } = await get(`${await linked()}?lang=${language}`);
      const past = [...text.matchAll(/<li>[^<]*\d{1,2}:\d\d[^<]*<\/li>/g)].join('\n');
      for (const words of said) expect(past).toContain(`: ${words}`);
      expect(past).not.toMatch(untrue);
    },
  );

  it.each([
    ['en', 'No values are stored.', 'Nothing is stored about you'],
    ['de', 'Es sind keine Werte gespeichert.', 'Über dich ist nichts gespeichert'],
  ])(
    'says in %s of a user with a consent alone that no values are stored',
    async (language, said, untrue) => {
      who = subject();
      await bot.hasConsent(who);
      const { text } = await get(`${await linked()}?lang=${language}`);
      expect(text).toContain(said);
      expect(text).not.toContain(untrue);
    },
  );

  it('an objection erases the category, refuses new submits, and the page says so', async () => {
    const url = await linked();
    const answer = await choose(url, 'object', 'stats');
    expect([answer.status, note(answer)]).toStrictEqual([303, 'objected']);
    expect(await held()).toStrictEqual(['profile']);
    expect((await submit('stats')).error.details).toStrictEqual({ reason: 'objection' });
    const after = await following(url, answer);
    expect(after.text).toContain('Your objection is recorded.');
    expect(after.text).toContain('You have objected: Category stats');
    expect(after.text).toContain('An objection was recorded: Category stats (on your privacy page)');
  });

  it('a restriction keeps the data, says since when, and ends by its form', async () => {
    const url = await linked();
    const answer = await choose(url, 'restrict', '*');
    expect(note(answer)).toBe('restricted');
    expect((await following(url, answer)).text).toMatch(/Restricted since [^<]*: everything\./);
    expect(await held()).toStrictEqual(['profile', 'stats']);
    expect((await submit('profile')).error.details).toStrictEqual({ reason: 'restriction' });
    expect((await get(url)).text).toContain('of profile');
    const ended = await act(url, 'unrestrict', 0, from());
    expect(note(ended)).toBe('unrestricted');
    expect((await following(url, ended)).text).toContain('The restriction has ended.');
    expect((await submit('profile')).status).toBe(200);
  });

  it('names an objection to everything, and says that there is more than it shows of what was done', async () => {
    const url = await linked();
    expect((await bot.post('/data/object', who)).status).toBe(200);
    expect((await get(url)).text).toContain('An objection was recorded: everything that you can object to');
    expect((await get(url)).text).not.toContain('the latest eight');
    for (let times = 0; times < 4; times++)
      for (const name of ['restrict', 'unrestrict']) await bot.post(`/data/${name}`, who);
    expect((await get(url)).text).toContain('These are the latest eight; the copy to read has all.');
    const seen = await get(await linked({ allow: ['view'] }));
    expect(seen.text).toContain('<p>These are the latest eight.</p>');
    expect(seen.text.match(/A restriction was (?:recorded|ended)/g)).toHaveLength(8);
  });

  it('records the acts with via privacy_page', async () => {
    const url = await linked();
    await choose(url, 'restrict', 'profile');
    const { events } = (
      await bot.get<{ events: Json[] }>(`/audit/events?user_id=${who.user_id}&guild_id=${who.guild_id}`)
    ).data;
    expect(events[0]).toMatchObject({
      event_type: 'consent_revoked',
      details: { act: 'restriction', category: 'profile', actor: 'privacy_page', via: 'privacy_page' },
    });
  });

  it('offers the objection with forget alone, the restriction with consent alone, and neither with view', async () => {
    const objecting = await get((await linked({ allow: ['view', 'forget'] })) + from());
    expect([forms(objecting, 'object').length, forms(objecting, 'restrict').length]).toStrictEqual([1, 0]);
    const restricting = await get((await linked({ allow: ['view', 'consent'] })) + from());
    expect([forms(restricting, 'object').length, forms(restricting, 'restrict').length]).toStrictEqual([
      0, 1,
    ]);
    const seeing = await linked({ allow: ['view'] });
    expect((await get(seeing)).text).not.toContain('/refuse?');
    expect((await get(seeing + from())).status).toBe(403);
  });

  it('refuses a form of another page, of another guild, without a choice, and an act that the link does not allow', async () => {
    const url = await linked();
    const fields = forms(await get(url + from()), 'object')[0]!;
    expect((await send(url, 'object', fields)).status).toBe(403);
    fields.set('category', 'stats');
    expect((await send(await linked({ allow: ['consent'] }), 'object', fields)).status).toBe(403);
    expect((await send(url, 'restrict', fields)).status).toBe(403);
    fields.set('shown', snowflake());
    expect((await send(url, 'object', fields)).status).toBe(403);
    expect((await get(`${url}/refuse?of=${snowflake()}`)).status).toBe(403);
    expect(await inForce()).toMatchObject({ objections: [], restrictions: [] });
    expect(await held()).toStrictEqual(['profile', 'stats']);
  });

  it('records nothing for a category whose legal basis has changed since, and says so', async () => {
    const url = await linked();
    const fields = forms(await get(url + from()), 'object')[0]!;
    fields.set('category', 'stats');
    await bot.put('/data/categories/stats', { legal_basis: 'contract' });
    const answer = await send(url, 'object', fields);
    expect(note(answer)).toBe('unrefused');
    expect((await following(url, answer)).text).toContain('Nothing was recorded');
    expect(await held()).toStrictEqual(['profile', 'stats']);
  });

  it('says what can be done instead where the bot has no such category', async () => {
    await bot.put('/data/categories/stats', { legal_basis: 'contract' });
    const page = await get((await linked({ language: 'de' })) + from());
    expect(forms(page, 'object')).toHaveLength(0);
    expect(page.text).toContain('Du kannst hier keiner Verarbeitung widersprechen');
  });

  it('a second click changes nothing, and ten ends of a restriction in a day are the last ones', async () => {
    const url = await linked();
    for (let round = 0; round < 10; round++) {
      await choose(url, 'restrict', '*');
      expect(note(await act(url, 'unrestrict', 0, from()))).toBe('unrestricted');
    }
    await choose(url, 'restrict', '*');
    const again = await act(url, 'unrestrict', 0, from());
    expect(again.status).toBe(429);
    expect(again.text).toContain('go on 24 hours after the first of them');
    expect((await inForce()).restrictions).toHaveLength(1);
  });

  it('a restriction does not stop the user from correcting a value', async () => {
    await bot.hasCategory('own', [field('value', 'string', { editable: true })]);
    await bot.hasData(who, 'own', { value: 'wrong' });
    const url = await linked();
    await choose(url, 'restrict', '*');
    const fields = forms(await get(url), 'correct')[0]!;
    fields.set('value', 'right');
    const answer = await send(url, 'correct', fields);
    expect(note(answer)).toBe('corrected');
    const { data } = (await bot.get<{ data: Json }>(`/data/export/${who.user_id}?guild_id=${who.guild_id}`))
      .data;
    expect(data['own']).toStrictEqual({ value: 'right' });
  });

  it('the copy to read names what is in force', async () => {
    const url = await linked();
    await choose(url, 'restrict', 'profile');
    const fields = forms(await get(url), 'export')[0]!;
    const copy = await send(url, 'export', fields);
    expect(copy.text).toContain('Objection and restriction');
    expect(copy.text).toContain('A restriction was recorded');
  });
});

describe('a bot with more categories than a page lists', () => {
  let with101: Bot;

  beforeAll(async () => {
    with101 = await large.registerBot();
    for (let at = 100; at < 200; at++) await with101.hasCategory(`a${at}`);
    await with101.hasCategory('z_stats', [field('value')], { legal_basis: 'legitimate_interests' });
  });
  beforeEach(async () => {
    bot = with101;
    await bot.hasConsent(who);
    await bot.hasData(who, 'z_stats', { value: 'of z_stats' });
  });

  it('offers the objection to a category beyond them, and names it once it is in force', async () => {
    const url = await linked();
    expect((await get(url + from())).text).toContain('<option value="z_stats">Category z_stats</option>');
    expect(note(await choose(url, 'object', 'z_stats'))).toBe('objected');
    expect(await held()).toStrictEqual([]);
    expect((await get(url + from())).text).toContain('You have objected: Category z_stats');
  });

  it('names it in the file of the certificate', async () => {
    const page = await act(await linked(), 'forget', 0, '/forget');
    const [, file = ''] = /href="data:application\/json;charset=utf-8,([^"]+)"/.exec(page.text) ?? [];
    expect(JSON.parse(decodeURIComponent(file))).toMatchObject({
      names: { categories: { z_stats: { en: 'Category z_stats' } } },
    });
  });

  it('says in the copy to read what a category beyond them is for', async () => {
    const { text } = await act(await linked(), 'export', 0);
    expect(text).toMatch(
      /<h4>Category z_stats<\/h4>.*<dt><bdi>Field value<\/bdi><\/dt>.*legitimate interests/s,
    );
    expect(text).not.toMatch(/label_de|legal_basis/);
  });
});
