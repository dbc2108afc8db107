import { type Bot, field } from '../support/bot';
import type { Json } from '../support/client';
import { act, forms, get, type Page, send } from '../support/privacy-page';
import { Service, useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess();
let bot: Bot;
let who: SubjectIds;

beforeEach(async () => {
  bot = await service.registerBot({ privacy_contact: 'privacy@example.org' });
  who = subject();
});
afterEach(() => jest.restoreAllMocks());

async function linked(given: Json = {}, about: Json = { ...who }): Promise<string> {
  const { data } = await bot.post<{ url: string }>('/privacy-links', { ...about, language: 'en', ...given });
  return data.url;
}

/** A user who has consented to all of some categories, of which each has a value. */
async function stored(...keys: readonly string[]): Promise<void> {
  for (const key of keys) await bot.hasCategory(key, [field('value')]);
  const { id } = (
    await bot.post<{ id: string }>('/consents/request', { ...who, categories: keys, language: 'en' })
  ).data;
  await bot.post('/consents/accept', { consent_id: id });
  for (const key of keys) await bot.hasData(who, key, { value: `of ${key}` });
}

const order = ({ text }: Page, ...parts: readonly string[]): string[] =>
  [...parts].sort((one, other) => text.indexOf(one) - text.indexOf(other));

/** What is untrue where nothing is. */
const STORES = /stores data about you|speichert mit Lethe Daten über dich/;

describe('the order of the page', () => {
  it('is a question that waits, what is stored, who is responsible', async () => {
    await bot.hasRequest(who);
    const url = await linked();
    const waiting = ['The bot asks for your consent', 'What is stored', 'Who is responsible'];
    expect(order(await get(url), ...waiting)).toEqual(waiting);
    await act(url, 'decline');
    const decided = ['What is stored', 'Your consent', 'Who is responsible'];
    const page = await get(url);
    expect(order(page, ...decided)).toEqual(decided);
    expect(page.text).not.toMatch(STORES);
  });

  it('is what is in force, what was withdrawn with its end, and folded what is empty', async () => {
    await bot.hasCategory('empty');
    await stored('alpha', 'beta');
    await bot.post('/consents/revoke', { ...who, categories: ['alpha'] });
    const page = await get(await linked());
    const parts = ['of beta', 'of alpha', 'One category in which nothing is stored', 'Category empty'];
    expect(order(page, ...parts)).toEqual(parts);
    expect(page.text).toMatch(/of alpha<\/bdi>[^]{0,60}<p>What is stored will be erased on /);
    expect(page.text).not.toMatch(/of beta<\/bdi>[^]{0,60}<p>What is stored will be erased on /);
  });

  it('has a box for each category that is asked for, but for one whose deletion has begun', async () => {
    for (const key of ['alpha', 'beta']) await bot.hasCategory(key);
    await bot.post('/consents/request', { ...who, categories: ['alpha', 'beta'] });
    const url = await linked();
    const boxes = async () =>
      [...(await get(url)).text.matchAll(/name="category" value="(\w+)"/g)].map(([, key]) => key);
    expect(await boxes()).toEqual(['alpha', 'beta']);
    await service.database.run(`UPDATE categories SET deleting_at = created_at WHERE key = 'beta'`);
    expect(await boxes()).toEqual(['alpha']);
  });

  it('names the server, and has its id on hover', async () => {
    await bot.post('/servers/register', { guild_id: who.guild_id, name: 'Tea & cake' });
    await bot.hasConsent(who);
    expect((await get(await linked())).text).toMatch(
      new RegExp(`title="Id of the server: ${who.guild_id}">Server Tea &amp; cake<`),
    );
  });
});

describe('what the page offers', () => {
  it.each([
    [
      'de',
      'Hier sind keine Werte und keine Einwilligung von dir gespeichert, deshalb gibt es keine Kopie.',
      'Alles, was über dich gespeichert ist',
    ],
    [
      'en',
      'No values and no consent of yours are stored here, so there is no copy.',
      'Everything that is stored about you',
    ],
  ])('is no copy of what is not there, and it says so in %s', async (language, none, why) => {
    const url = await linked({ language });
    const before = await get(url);
    expect([before.text.includes(none), before.text.includes(why)]).toEqual([true, false]);
    expect(forms(before, 'export')).toEqual([]);
    expect(before.text).not.toMatch(STORES);
    await bot.hasConsent(who);
    const after = await get(url);
    expect([after.text.includes(none), after.text.includes(why)]).toEqual([false, true]);
    expect(forms(after, 'export')).toHaveLength(2);
    await bot.post('/gdpr/forget-user', who);
    expect((await get(await linked({ language }))).text).not.toMatch(STORES);
  });

  it.each([
    [
      'de',
      'Hier siehst du, was über dich gespeichert ist, und entscheidest darüber.',
      'Hier siehst du, was über dich gespeichert ist.',
      'Hier entscheidest du, was über dich gespeichert wird.',
    ],
    [
      'en',
      'Here you see what is stored about you, and decide about it.',
      'Here you see what is stored about you.',
      'Here you decide what is stored about you.',
    ],
  ])('begins in %s without what the link does not allow', async (language, both, seen, decided) => {
    await stored('alpha');
    for (const [allow, said] of [
      [['view', 'forget'], both],
      [['view', 'consent'], both],
      [['view', 'export', 'correct'], seen],
      [['forget'], decided],
      [['consent'], decided],
      [['export'], undefined],
    ] as const) {
      const { text } = await get(await linked({ language, allow }));
      const found = [both, seen, decided].filter((words) => text.includes(words));
      expect([allow, found]).toEqual([allow, said === undefined ? [] : [said]]);
    }
  });
});

/** The line above all else that an address of the page shows. */
const line = async (url: string): Promise<string | undefined> =>
  /role="status">\s*<p>\s*([^]*?)\s*<\/p>/.exec((await get(url)).text)?.[1];

describe('the line after an act', () => {
  it('says what was withdrawn and when it will be erased, in the words of the consent', async () => {
    await stored('alpha', 'beta');
    const url = await linked();
    const [form] = forms(await get(url), 'revoke');
    await bot.put('/data/categories/alpha', { label_en: 'Another name' });
    const answer = await send(url, 'revoke', form!);
    const address = new URL(answer.headers.get('location')!, url).href;
    const date = /\d+ \w+ \d{4} at \d\d:\d\d/.source;
    expect(await line(address)).toMatch(
      new RegExp(`^Withdrawn: Category alpha\\. What is stored will be erased on ${date}\\.$`),
    );
  });

  it('of an address without such an act is none, whatever the address has', async () => {
    await stored('alpha');
    const url = await linked();
    for (const note of [
      'revoked',
      'declined',
      '<b>You owe us money</b>',
      'accepted&note=accepted',
      'constructor',
      ...['erased', 'erasedBefore', 'corrected', 'asked', 'choose', 'changed', 'ended', 'empty'],
    ])
      expect(await line(`${url}?note=${note}`)).toBeUndefined();
    expect(await line(`${url}?note=accepted`)).toBe('You have consented: Category alpha.');
    await bot.post('/consents/revoke', who);
    expect(await line(`${url}?note=accepted`)).toBeUndefined();
  });

  it.each([undefined, ['consent', 'forget']])(
    'of an erasure that was not made is none, of a link that allows %j',
    async (allow) => {
      await stored('alpha', 'beta');
      await bot.delete(`/data/values/${who.user_id}?guild_id=${who.guild_id}&category=beta`);
      const url = await linked(allow && { allow });
      expect(await line(`${url}?note=erased`)).toBeUndefined();
      const from = `/erase?of=${encodeURIComponent(`${who.guild_id}/alpha`)}`;
      await act(url, 'erase', 0, from);
      expect(await line(`${url}?note=erased`)).toBe(
        allow === undefined ? 'Erased: Category alpha.' : 'The data of this category is erased.',
      );
      expect(await line(`${url}?note=erasedBefore`)).toBe('Nothing is stored in this category any more.');
      // Another act on the page is newer.
      await bot.hasData(who, 'alpha', { value: 'again' });
      await act(url, 'revoke');
      expect(await line(`${url}?note=erased`)).toBeUndefined();
    },
  );

  it('says that there is no copy only where nothing is held, and what waits only while it waits', async () => {
    const url = await linked();
    expect(await line(`${url}?note=empty`)).toContain('there is no copy');
    expect(await line(`${url}?note=answered`)).toBeUndefined();
    await bot.hasCategory('alpha');
    await bot.post('/consents/request', { ...who, categories: ['alpha'], language: 'en' });
    for (const [note, words] of [
      ['empty', undefined],
      ['answered', undefined],
      ['choose', 'Choose at least one category'],
      ['asked', 'Read the request again'],
    ] as const)
      expect(await line(`${url}?note=${note}`)).toEqual(words && expect.stringContaining(words));
    await act(url, 'decline');
    expect(await line(`${url}?note=choose`)).toBeUndefined();
    expect(await line(`${url}?note=answered`)).toContain('This was answered already');
  });

  it('of a withdrawal that came too late says so, also beside a newer request', async () => {
    await stored('alpha');
    const url = await linked();
    const [form] = forms(await get(url), 'revoke');
    await bot.post('/consents/revoke', who);
    await bot.post('/consents/request', { ...who, consent_version: '2.0', categories: ['alpha'] });
    const answer = await send(url, 'revoke', form!);
    const address = new URL(answer.headers.get('location')!, url).href;
    expect(await line(address)).toContain('This was withdrawn already');
    expect(await line(`${url}?note=answered`)).toBeUndefined();
    await act(url, 'decline');
    expect(await line(address)).toContain('This was withdrawn already');
    await bot.post('/consents/request', { ...who, consent_version: '3.0', categories: ['alpha'] });
    await act(url, 'accept');
    expect(await line(address)).toBeUndefined();
  });

  it('names the server where the page is about several', async () => {
    const other = { ...who, guild_id: subject().guild_id };
    await stored('alpha');
    await bot.hasConsent(other);
    await bot.post('/servers/register', { guild_id: other.guild_id, name: 'Tea & cake' });
    const url = await linked({ scope: 'all_guilds' }, { user_id: who.user_id });
    const form = forms(await get(url), 'revoke').find((each) => each.get('guild') === other.guild_id);
    const answer = await send(url, 'revoke', form!);
    expect(await line(new URL(answer.headers.get('location')!, url).href)).toBe(
      'You have withdrawn your whole consent. (Server Tea &amp; cake)',
    );
  });

  it('has no mark-up of a hostile label', async () => {
    const label_en = `"><img src=x onerror=alert(1)>`;
    await bot.hasCategory('alpha', [field('value')], { label_en });
    await bot.post('/consents/request', { ...who, categories: ['alpha'], language: 'en' });
    const url = await linked();
    const [form] = forms(await get(url), 'accept');
    form!.append('category', 'alpha');
    await send(url, 'accept', form!);
    const said = await line(`${url}?note=accepted`);
    expect(said).toBe('You have consented: &quot;&gt;&lt;img src=x onerror=alert(1)&gt;.');
  });
});

describe('a page that refuses a form', () => {
  it.each(['de', 'en'])(
    'is in the language of the page that the form is on, whatever is wrong with it: %s',
    async (lang) => {
      await stored('alpha');
      const url = await linked();
      const other = { 'accept-language': lang === 'de' ? 'en' : 'de' };
      const [form] = forms(await get(`${url}?lang=${lang}`), 'revoke');
      form!.set('guild', 'x'.repeat(9_000));
      const large = await send(url, 'revoke', form!, other);
      form!.set('guild', who.guild_id);
      form!.set('mark', '');
      const unmarked = await send(url, 'revoke', form!, other);
      expect([large.status, unmarked.status]).toEqual([413, 403]);
      for (const { text } of [large, unmarked]) expect(text).toContain(`<html lang="${lang}">`);
    },
  );
});

describe('how long the page says that something is kept', () => {
  const TEXTS = {
    de: [
      '365 Tage lang nach der letzten Änderung',
      'bis du die Löschung verlangst oder bis 30 Tage nach deinem Widerruf',
      'bis du die Löschung verlangst',
    ],
    en: [
      'for 365 days after the last change',
      'until you have it erased, or until 30 days after you withdraw your consent',
      'until you have it erased',
    ],
  };

  /** What the page and the copy to read say of a limited category, one that rests on consent, and one that does not. */
  async function kept(of: Bot): Promise<unknown[]> {
    const reasons = { requires_consent: false, reason_de: 'Grund', reason_en: 'Reason' };
    await of.hasCategory('a', [field('value')], { retention_days: 365 });
    await of.hasCategory('b');
    await of.hasCategory('c', [field('value')], { legal_basis: 'legitimate_interests', ...reasons });
    await of.hasConsent(who);
    for (const key of ['a', 'b', 'c']) await of.hasData(who, key, { value: key });
    const { url } = (await of.post<{ url: string }>('/privacy-links', who)).data;
    const found: unknown[] = [];
    for (const lang of ['de', 'en']) {
      const page = await get(`${url}?lang=${lang}`);
      const copy = await send(url, 'export', forms(page, 'export')[0]!);
      for (const { text } of [page, copy])
        found.push(
          [...text.matchAll(/<dt>(?:Gespeichert|Kept)<\/dt>\s*<dd>([^<]*)/g)].map(([, said]) => said),
        );
    }
    return found;
  }

  it('is by the last change, and until a withdrawal of what rests on consent', async () => {
    expect(await kept(bot)).toEqual([TEXTS.de, TEXTS.de, TEXTS.en, TEXTS.en]);
  });

  it('is until the user asks, where no withdrawal ends in an erasure', async () => {
    const other = await new Service({ REVOKED_DATA_GRACE_DAYS: 'off' }).start();
    try {
      const its = await other.registerBot();
      const [de, en] = [TEXTS.de, TEXTS.en].map(([limited, , asked]) => [limited, asked, asked]);
      expect(await kept(its)).toEqual([de, de, en, en]);
      const texts = {
        categories: [{ key: 'b', text: expect.stringMatching(/ Kept until you have it erased\.$/) }],
      };
      expect(await its.post('/consents/request', { ...subject(), categories: ['b'] })).toMatchObject({
        data: { texts },
      });
      await its.put(`/bots/${its.id}/notice-settings`, { public: true, controller_name: 'Robin' });
      const notice = await (await fetch(`${other.url}/notice/${its.id}?language=en`)).text();
      expect(notice).toMatch(/<dt>Kept<\/dt>\s*<dd>until you have it erased</);
      expect(notice).not.toContain('until you withdraw');
    } finally {
      await other.stop();
    }
  });
});

describe('the last page', () => {
  it('has every language, since its link has ended', async () => {
    await stored('alpha');
    const url = await linked();
    const form = forms(await get(`${url}/forget`), 'forget')[0]!;
    const { text } = await send(url, 'forget', form);
    for (const [tag, title] of [
      ['de', 'Deine Daten sind gelöscht'],
      ['en', 'Your data is erased'],
    ])
      expect(text).toContain(`<span class="in" lang="${tag}">${title}</span>`);
    expect(text).toMatch(/id="in-en"\s+checked/);
    expect(text).not.toMatch(/id="in-de"\s+checked/);
    expect(text.match(/<textarea/g)).toHaveLength(1);
  });

  it('says what remains of the user, and how long', async () => {
    await stored('alpha');
    const url = await linked();
    const { text } = await send(url, 'forget', forms(await get(`${url}/forget`), 'forget')[0]!);
    expect(text).toContain('The record of the erasure has your id for 1095 more days, encrypted.');
    expect(text).toContain(
      'Backups can contain what was erased for 35 more days: values and your id only encrypted.',
    );
    expect(text).toContain(
      'Die Aufzeichnung der Löschung enthält deine ID noch 1095 Tage lang, nur verschlüsselt.',
    );
  });
});

describe('the right to object', () => {
  it.each([
    ['de', 'Dein Widerspruchsrecht (Art. 21 DSGVO)', 'Kategorie stats'],
    ['en', 'Your right to object (Art. 21 GDPR)', 'Category stats'],
  ])(
    'is apart from the other rights, where a category can be objected to: %s',
    async (lang, title, label) => {
      const { url } = (await bot.post<{ url: string }>('/privacy-links', who)).data;
      expect((await get(`${url}?lang=${lang}`)).text).not.toContain('Art. 21');
      await bot.hasCategory('stats', [field('value')], { legal_basis: 'legitimate_interests' });
      const { text } = await get(`${url}?lang=${lang}`);
      const [, section = ''] = text.split(`<h2>${title}</h2>`);
      expect(section.split('</section>')[0]).toContain(label);
      expect(text.match(/Art\. 21/g)).toHaveLength(1);
    },
  );

  it('says how, and is left out where it was used', async () => {
    const right = async (allow: readonly string[]): Promise<string> => {
      const { url } = (await bot.post<{ url: string }>('/privacy-links', { ...who, allow })).data;
      const [, section = ''] = (await get(`${url}?lang=en`)).text.split('Your right to object');
      return section.split('</section>')[0]!;
    };
    for (const key of ['stats', 'scores'])
      await bot.hasCategory(key, [field('value')], { legal_basis: 'legitimate_interests' });
    expect(await right(['view', 'forget'])).toContain('on this page or through the contact for privacy');
    expect(await right(['view'])).toContain('You can object through the contact for privacy.');
    const { url } = (
      await bot.post<{ url: string }>('/privacy-links', { user_id: subject().user_id, scope: 'all_guilds' })
    ).data;
    // No form of the page is about nothing.
    expect((await get(`${url}?lang=en`)).text).toContain('You can object through the contact for privacy.');
    await bot.post('/data/object', { ...who, category: 'stats' });
    expect(await right(['view'])).not.toContain('stats');
    expect(await right(['view'])).toContain('Category scores');
    await bot.put(`/bots/${bot.id}`, { privacy_contact: null });
    expect(await right(['view', 'forget'])).toContain('You can object on this page.');
    expect(await right(['view'])).not.toContain('contact');
    await bot.post('/data/object', who);
    expect(await right(['view'])).toBe('');
  });
});

describe('the form of a request', () => {
  const described = (length: number) => ({ description: 'x'.repeat(length) });

  it('has the whole words above it: the end of a long text, and each of many categories', async () => {
    const keys = Array.from({ length: 25 }, (_, at) => `c${at}`);
    for (const key of keys) await bot.hasCategory(key);
    const text = {
      ...{ consent_version: '7', language: 'en', title: 'May we?', body: `${'x'.repeat(2_000)} END` },
      categories: keys.map((key) => ({ key, label: `Label ${key}`, text: `Text of ${key}.` })),
      ...{ privacy_notice: 'https://example.org/notice', jurisdiction: 'Law of DE' },
      ...{ recipient_third_parties: ['Example & Sons'], storage_locations: ['In FR'] },
      withdrawal_method: 'Say so',
    };
    expect((await bot.post('/consents/texts', text)).status).toBe(201);
    await bot.post('/consents/request', { ...who, consent_version: '7', language: 'en', categories: keys });
    const page = await get(await linked());
    expect(forms(page, 'accept')).toHaveLength(1);
    const [before = ''] = page.text.split(/action="[^"]*\/accept/);
    for (const words of ['May we?', 'END', 'Label c24: Text of c24.', 'https://example.org/notice'])
      expect(before).toContain(words);
    for (const words of ['Law of DE', 'Example &amp; Sons', 'In FR', 'Say so'])
      expect(before).toContain(words);
  });

  it('is on a page of its own server where its words have no room, and nowhere without them', async () => {
    const keys = Array.from({ length: 12 }, (_, at) => `c${at}`);
    for (const key of keys) await bot.hasCategory(key, [field('value')], described(280));
    const all = Array.from({ length: 12 }, () => ({ ...subject(), user_id: who.user_id }));
    all.sort((one, other) => (one.guild_id < other.guild_id ? -1 : 1));
    for (const each of all)
      await bot.post('/consents/request', { ...each, categories: keys, language: 'en' });
    const url = await linked({ scope: 'all_guilds' }, { user_id: who.user_id });
    const first = await get(url);
    const shown = forms(first, 'accept').length;
    expect(shown).toBeLessThan(10);
    expect(first.text.match(/Kept until you have it erased, or/g)?.length ?? 0).toBeGreaterThanOrEqual(
      12 * shown,
    );
    const ways = [...first.text.matchAll(/href="([^"]*\?of=(\d+)[^"]*)"\s*>Read the whole request/g)];
    expect(ways).toHaveLength(10 - shown);
    const further = [...first.text.matchAll(/<li>\s*<a href="([^"]*\?of=(\d+)[^"]*)"/g)];
    expect(further.map(([, , guild]) => guild)).toEqual(all.slice(10).map(({ guild_id }) => guild_id));
    for (const [, path = '', guild] of [ways.at(-1)!, further.at(-1)!]) {
      const own = await get(new URL(path.replaceAll('&amp;', '&'), url).href);
      const [form, ...others] = forms(own, 'accept');
      expect([form?.get('guild'), others]).toEqual([guild, []]);
      const [before = ''] = own.text.split(/action="[^"]*\/accept/);
      expect(before.match(/<li [^>]*>Category c\d+: x{280}/g)).toHaveLength(12);
      for (const act of ['export', 'forget']) expect(forms(own, act)).toEqual([]);
      form!.delete('category');
      form!.append('category', 'c11');
      const answer = await send(url, 'accept', form!);
      const address = new URL(answer.headers.get('location')!, url).href;
      expect(await line(address)).toBe(`You have consented: Category c11. (Server ${guild})`);
      expect(forms(await get(address), 'revoke')).toHaveLength(1);
    }
    expect((await get(`${url}?of=${subject().guild_id}`)).status).toBe(403);
  });

  const REPLACES = {
    en: [
      'If you consent, this replaces your earlier consent: it ends for Category profile, Category notes, and for everything that you do not choose, and what is stored there on the basis of your consent is erased after 30 days.',
      /What is stored in Category (profile, Category notes|notes, Category profile) will be erased by [^,]+ at the latest, because your consent no longer covers it\./,
      'you have withdrawn',
    ],
    de: [
      'Wenn du einwilligst, ersetzt das deine bisherige Einwilligung: Für Kategorie profile, Kategorie notes und alles, was du nicht auswählst, endet sie, und was dort aufgrund deiner Einwilligung gespeichert ist, wird nach 30 Tagen gelöscht.',
      /Was unter Kategorie (profile, Kategorie notes|notes, Kategorie profile) gespeichert ist, wird spätestens am .+ gelöscht, weil deine Einwilligung es nicht mehr umfasst\./,
      'widerrufen hast',
    ],
  } as const;

  it.each(['de', 'en'] as const)(
    'says what of the consent in force it ends, and afterwards why that is erased: %s',
    async (lang) => {
      const [before, after, withdrawn] = REPLACES[lang];
      const flat = ({ text }: Page) =>
        text.replace(/\s+/g, ' ').replaceAll(/<bdi lang="en" dir="auto">|<\/bdi>/g, '');
      for (const key of ['profile', 'notes', 'scores']) await bot.hasCategory(key);
      const ask = async (...categories: readonly string[]) =>
        (await bot.post<{ id: string }>('/consents/request', { ...who, categories, language: lang })).data.id;
      await bot.post('/consents/accept', { consent_id: await ask('profile', 'notes') });
      for (const key of ['profile', 'notes']) await bot.hasData(who, key, { value: `of ${key}` });
      const url = await linked({ language: lang });
      expect(flat(await get(url))).not.toContain(before.slice(0, 30));
      await ask('scores');
      const page = await get(url);
      expect(flat(page)).toContain(before);
      expect((await send(url, 'accept', forms(page, 'accept')[0]!)).status).toBe(303);
      const decided = await get(url);
      const copy = await send(url, 'export', forms(decided, 'export')[0]!);
      for (const each of [decided, copy]) {
        expect(flat(each)).toMatch(after);
        expect(flat(each)).not.toContain(withdrawn);
      }
      const reason = lang === 'de' ? 'nicht mehr umfasst' : 'no longer covers';
      expect(decided.text.match(new RegExp(reason, 'g'))).toHaveLength(3);
      const hidden = flat(await get(await linked({ language: lang, allow: ['consent'] })));
      expect(hidden).toContain(
        lang === 'de' ? 'Ein Teil der gespeicherten Daten' : 'A part of what is stored',
      );
      await ask('scores', 'notes');
      await bot.post('/consents/accept', {
        consent_id: await ask('scores', 'notes'),
        categories: ['scores'],
      });
      expect(flat(await get(url))).toMatch(
        lang === 'de'
          ? /notes: nicht gewählt\. .+ nicht mehr umfasst/
          : /notes: not chosen\. .+ no longer covers/,
      );
      await bot.post('/consents/revoke', { ...who, categories: ['scores'] });
      expect(flat(await get(url))).toContain(withdrawn);
    },
  );
});

it.each([
  ['de', /Die gespeicherten Daten werden (spätestens )?am [^<,]+ gelöscht\./g, 'nicht mehr umfasst'],
  ['en', /What is stored will be erased (on|by) [^<,]+\./g, 'no longer covers'],
] as const)(
  'gives no reason for an erasure that a withdrawal has left while a newer request waits: %s',
  async (language, due, uncovered) => {
    await stored('alpha');
    await bot.post('/consents/revoke', who);
    await bot.post('/consents/request', { ...who, categories: ['alpha'], language });
    const url = await linked({ language });
    const page = await get(url);
    const copy = await send(url, 'export', forms(page, 'export')[0]!);
    for (const { text } of [page, copy]) {
      expect(text.match(due)?.length).toBeGreaterThan(1);
      expect(text).not.toContain(uncovered);
    }
  },
);

describe('a page that is full', () => {
  it('has a form to withdraw each of fifty purposes, and names the state of each', async () => {
    const keys = Array.from({ length: 50 }, (_, at) => `c${at}`);
    for (const key of keys) await bot.hasCategory(key, [field('value')], { description: 'x'.repeat(300) });
    const asked = { ...who, categories: keys, language: 'en' };
    const { id } = (await bot.post<{ id: string }>('/consents/request', asked)).data;
    await bot.post('/consents/accept', { consent_id: id });
    for (const key of ['c3', 'c4']) await bot.hasData(who, key, { value: key });
    const page = await get(await linked());
    const found = forms(page, 'revoke');
    expect(found.flatMap((form) => form.getAll('category')).sort()).toEqual([...keys].sort());
    expect(found).toHaveLength(51);
    for (const key of keys) expect(page.text).toMatch(new RegExp(`<li>\\s*Category ${key}:\\s*consented`));
    expect(order(page, 'Your consent', '48 categories in which nothing is stored', 'Get a copy')).toEqual([
      'Your consent',
      '48 categories in which nothing is stored',
      'Get a copy',
    ]);
  });

  /** The servers of a user, in the order of the page. */
  const servers = (count: number): SubjectIds[] =>
    Array.from({ length: count }, () => ({ ...subject(), user_id: who.user_id })).sort((one, other) =>
      one.guild_id < other.guild_id ? -1 : 1,
    );
  /** Registers words of this many characters for each category. */
  const worded = async (keys: readonly string[], length: number): Promise<void> => {
    for (const key of keys) await bot.hasCategory(key, [field('value')]);
    const words = { consent_version: '7', language: 'en', title: 'May we?', body: 'b' };
    const categories = keys.map((key) => ({ key, label: `Label ${key}`, text: 'w'.repeat(length) }));
    expect((await bot.post('/consents/texts', { ...words, categories })).status).toBe(201);
  };
  const asked = (each: SubjectIds, categories: readonly string[]) =>
    bot.post<{ id: string }>('/consents/request', {
      ...each,
      consent_version: '7',
      language: 'en',
      categories,
    });
  const linkedTo = ({ text }: Page, label: string): (string | undefined)[] =>
    [...text.matchAll(new RegExp(`href="[^"]*\\?of=(\\d+)[^"]*"[^>]*>\\s*${label}`, 'g'))].map(
      ([, id]) => id,
    );

  it('is bounded whatever the length of the words is, and has the way to each request', async () => {
    const keys = Array.from({ length: 25 }, (_, at) => `c${at}`);
    for (const key of keys) await bot.hasCategory(key, [field('value')], { description: 'x'.repeat(9_900) });
    const all = servers(10);
    for (const each of all) {
      const request = await bot.post('/consents/request', { ...each, categories: keys, language: 'en' });
      expect(request.status).toBe(201);
    }
    const page = await get(await linked({ scope: 'all_guilds' }, { user_id: who.user_id }));
    expect(page.text.length).toBeLessThan(100_000);
    expect(linkedTo(page, 'Read the whole request')).toEqual(all.map(({ guild_id }) => guild_id));
  });

  it('has the values of each server whatever the words of past decisions are, and leads to these', async () => {
    await worded(['alpha'], 9_900);
    const all = servers(3);
    for (const each of all) {
      const { id } = (await asked(each, ['alpha'])).data;
      await bot.post('/consents/accept', { consent_id: id });
      await bot.hasData(each, 'alpha', { value: `in ${each.guild_id}` });
    }
    const url = await linked({ scope: 'all_guilds' }, { user_id: who.user_id });
    const page = await get(url);
    for (const { guild_id } of all) expect(page.text).toContain(`in ${guild_id}`);
    expect(linkedTo(page, 'The text that you were shown')).toEqual(all.map(({ guild_id }) => guild_id));
  });

  it('leads to the page of a server whose values have no room, and that one to the copies', async () => {
    const keys = Array.from({ length: 20 }, (_, at) => `f${at}`);
    const wide = Object.fromEntries(keys.map((key) => [key, 'v'.repeat(300)]));
    const categories = Array.from({ length: 8 }, (_, at) => `many${at}`);
    for (const key of categories)
      await bot.hasCategory(
        key,
        keys.map((each) => field(each)),
      );
    const [first, second, bare] = servers(3) as [SubjectIds, SubjectIds, SubjectIds];
    const all = [first, second];
    for (const each of all) {
      await bot.hasConsent(each);
      for (const key of categories) await bot.hasData(each, key, wide);
    }
    // With nothing stored, and so nothing more.
    await bot.hasConsent(bare);
    const url = await linked({ scope: 'all_guilds' }, { user_id: who.user_id });
    const guilds = all.map(({ guild_id }) => guild_id);
    // What the first one leaves out is left out on its own page too.
    expect(linkedTo(await get(url), 'Server')).toEqual(guilds.slice(1));
    const own = (await get(`${url}?of=${guilds[0]}`)).text;
    expect(own).toContain('There is more. The copies on the first page of your link have everything.');
    expect(own).not.toContain('Ask the bot for a copy');
    const uncopied = await linked({ scope: 'all_guilds', allow: ['view'] }, { user_id: who.user_id });
    expect((await get(`${uncopied}?of=${guilds[0]}`)).text).toContain('Ask the bot for a copy');
  });

  it('folds once for all servers what none of them has', async () => {
    for (const key of ['empty', 'blank']) await bot.hasCategory(key);
    await stored('alpha');
    await bot.hasConsent({ ...who, guild_id: subject().guild_id });
    const { text } = await get(await linked({ scope: 'all_guilds' }, { user_id: who.user_id }));
    expect(text.match(/in which nothing is stored/g)).toHaveLength(1);
    expect(text).toContain('2 categories in which nothing is stored');
  });
});
