import { type Bot, field } from '../support/bot';
import { UNKNOWN_UUID } from '../support/inputs';
import { Service, useServiceInProcess } from '../support/service';
import { useService } from '../support/shared-service';
import { stopWindows } from '../support/time';

const service = useService();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot({ name: 'Greeter' });
});

const WHOLE = {
  public: true,
  controller_name: 'Robin Example',
  controller_email: 'robin@example.org',
};

/** Without a key: the page is for everybody. */
const read = (query = '', headers: Record<string, string> = {}, id = bot.id) =>
  fetch(`${service.url}/notice/${id}${query}`, { headers });
const textOf = async (query = '') => (await read(query)).text();
const dataOf = async (language = 'en') =>
  (await (await read(`?format=json&language=${language}`)).json()) as Record<string, unknown> & {
    digest: string;
    changed_at: string;
  };
const sets = (given: object) => bot.put(`/bots/${bot.id}/notice-settings`, given);

describe('GET /notice/{bot_id}', () => {
  it('answers the same 404 for a bot without a public notice, for an unknown and for a deleted one', async () => {
    await sets({ controller_name: 'Robin' });
    const hidden = await read();
    expect(hidden.status).toBe(404);
    const page = await hidden.text();
    expect(page).toContain('There is no privacy notice here');
    expect(page).not.toContain('Greeter');
    expect(await (await read('', {}, UNKNOWN_UUID)).text()).toBe(page);
    await sets({ public: true });
    expect((await read()).status).toBe(200);
    await bot.delete(`/bots/${bot.id}`);
    const deleted = await read();
    expect([deleted.status, await deleted.text()]).toStrictEqual([404, page]);
  });

  it('explains automated decisions only where they exist', async () => {
    const text = { ...WHOLE, automated_decisions_en: 'Three warnings' };
    for (const [said, shown] of [
      [null, null],
      ['none', null],
      ['exist', 'Three warnings'],
    ]) {
      await sets({ ...text, automated_decisions: said });
      const data = await dataOf();
      expect([data['automated_decisions'], data['automated_decisions_text']]).toEqual([said, shown]);
      expect((await textOf('?language=en')).includes('Three warnings')).toBe(shown !== null);
    }
  });

  it('shows what the bot has declared: controller, data, purpose, basis, retention, recipients, rights', async () => {
    await sets({
      ...WHOLE,
      controller_address: 'Street 1\n10115 Berlin',
      officer_name: 'Kim',
      officer_email: 'kim@example.org',
      recipients: [{ name: 'Hosting', purpose_en: 'Runs it', country: 'US', safeguards_en: 'Clauses' }],
      interests_en: 'Order',
      source_en: 'The platform',
      automated_decisions: 'none',
      authority_name: 'Authority',
      authority_url: 'https://authority.example.org',
      notice_url: 'https://bot.example.org/privacy',
    });
    await bot.hasCategory('profile', [field('born', 'date')], {
      description_en: 'To greet',
      retention_days: 90,
    });
    const text = await textOf('?language=en');
    for (const shown of [
      ...['Privacy notice', 'Greeter', 'Robin Example', 'Street 1', 'mailto:robin@example.org', 'Kim'],
      ...['Category profile', 'Field born', 'To greet', 'consent (Art. 6(1)(a) GDPR)'],
      ...['for 90 days after the last change', 'Hosting', 'United States', 'Runs it', 'Clauses', 'Order'],
      ...['The platform', 'no decisions based solely', 'https://authority.example.org'],
      ...['https://bot.example.org/privacy', 'is erased after 30 days', 'Art. 77', 'Last changed'],
    ])
      expect(text).toContain(shown);
  });

  it('leaves out what is not declared, and shows no task of the team', async () => {
    await sets(WHOLE);
    const text = await textOf('?language=en');
    expect(text).not.toMatch(/missing|not given|TODO|null|undefined|Automated decisions/);
  });

  it.each([
    ['de', 'Der Bot nennt keinen Kontakt.', /Kontakt oben/, 'Es gibt weitere Kategorien.'],
    ['en', 'The bot names no contact.', /contact above/, 'There are further categories.'],
  ])('sends no reader to a contact that it does not name: %s', async (language, none, above, further) => {
    await sets({ ...WHOLE, controller_email: null });
    const long = { description: 'x'.repeat(9_000), description_de: 'x'.repeat(9_000) };
    for (let at = 0; at < 16; at += 1) await bot.hasCategory(`c${at}`, [field('value')], long);
    const unnamed = await textOf(`?language=${language}`);
    for (const said of [none, further]) expect(unnamed).toContain(said);
    expect(unnamed).not.toMatch(above);
    await bot.put(`/bots/${bot.id}`, { privacy_contact: 'privacy@example.org' });
    const named = await textOf(`?language=${language}`);
    expect(named).not.toContain(none);
    expect(named.match(new RegExp(above, 'g'))).toHaveLength(2);
  });

  it('says of the named recipients alone that none is in a third country', async () => {
    await sets({ ...WHOLE, recipients: [{ name: 'Mail GmbH', country: 'DE' }] });
    expect(await textOf('?language=en')).toContain(
      'None of the recipients that the bot names is in a third country.',
    );
    expect(await textOf('?language=de')).toContain(
      'Keiner der Empfänger, die der Bot nennt, sitzt in einem Drittland.',
    );
  });

  it('says what an erasure leaves, and how long backups are kept', async () => {
    await sets(WHOLE);
    for (const [language, ...said] of [
      [
        'en',
        'An erasure removes the history of your consent. The log then says only that something was done',
        'it stays recorded that something about you was stored here, with your id, encrypted, and with the last state of your consent, until you ask for an erasure.',
        'Backups are kept for 35 days. During that time a backup can contain what was erased: values and your id only encrypted.',
      ],
      [
        'de',
        'Eine Löschung entfernt den Verlauf deiner Einwilligung. Im Protokoll steht danach nur noch',
        'bleibt vermerkt, dass hier etwas über dich gespeichert war, mit deiner ID, verschlüsselt, und mit dem letzten Stand deiner Einwilligung, bis du eine Löschung verlangst.',
        'Sicherungen werden 35 Tage lang aufbewahrt. So lange kann eine Sicherung enthalten, was gelöscht ist: Werte und deine ID nur',
      ],
    ]) {
      const text = await textOf(`?language=${language}`);
      for (const each of said) expect(text).toContain(each);
    }
    expect((await dataOf())['retention_days']).toMatchObject({ backups: 35 });
  });

  it.each([
    [
      'de',
      'Dein Widerspruchsrecht (Art. 21 DSGVO)',
      '- Kategorie stats\n',
      'Schreibe dafür an den Kontakt oben.',
    ],
    [
      'en',
      'Your right to object (Art. 21 GDPR)',
      '- Category stats\n',
      'For this, write to the contact above.',
    ],
  ])(
    'says the right to object apart from the others, where there is one: %s',
    async (language, title, item, how) => {
      await sets(WHOLE);
      await bot.hasCategory('profile');
      const query = `?format=markdown&language=${language}`;
      expect(await textOf(query)).not.toContain('Art. 21');
      await bot.hasCategory('stats', [field('value')], { legal_basis: 'legitimate_interests' });
      const text = await textOf(query);
      const [, section = ''] = text.split(`## ${title}\n`);
      const [said = ''] = section.split('## ');
      for (const words of [item, how]) expect(said).toContain(words);
      expect(text.match(/Art\. 21/g)).toHaveLength(1);
      await sets({ ...WHOLE, controller_email: null });
      expect(await textOf(query)).not.toContain(how);
    },
  );

  it('says how long what rests on consent is kept, and what does not', async () => {
    await sets(WHOLE);
    await bot.hasCategory('profile');
    await bot.hasCategory('orders', [field('value')], { legal_basis: 'contract' });
    const keptIn = async (language: string) =>
      [
        ...(await textOf(`?language=${language}`)).matchAll(/<dt>(?:Gespeichert|Kept)<\/dt>\s*<dd>([^<]*)/g),
      ].map(([, said]) => said);
    expect(await keptIn('en')).toEqual([
      'until you have it erased',
      'until you have it erased, or until 30 days after you withdraw your consent',
    ]);
    expect(await keptIn('de')).toEqual([
      'bis du die Löschung verlangst',
      'bis du die Löschung verlangst oder bis 30 Tage nach deinem Widerruf',
    ]);
  });

  it.each([
    ['?format=html', {}, 'text/html; charset=utf-8'],
    ['?format=markdown', {}, 'text/markdown; charset=utf-8'],
    ['?format=json', {}, 'application/json; charset=utf-8'],
    ['', {}, 'text/html; charset=utf-8'],
    ['', { accept: 'application/json' }, 'application/json; charset=utf-8'],
    ['', { accept: 'text/markdown' }, 'text/markdown; charset=utf-8'],
  ])('asked for with %j and %j is %s', async (query, headers, type) => {
    await sets(WHOLE);
    const answer = await read(query, headers);
    expect([answer.status, answer.headers.get('content-type')]).toStrictEqual([200, type]);
  });

  it('speaks the language that is asked for, else the preferred one of Accept-Language, else English', async () => {
    await sets(WHOLE);
    const languageOf = async (query: string, accepted: string) =>
      /<html lang="(\w+)"/.exec(await (await read(query, { 'accept-language': accepted })).text())?.[1];
    expect(await languageOf('?language=de', 'en')).toBe('de');
    expect(await languageOf('', 'fr, de-AT;q=0.9, en;q=0.8')).toBe('de');
    expect(await languageOf('', 'en;q=0.5, de')).toBe('de');
    expect(await languageOf('', 'fr')).toBe('en');
    expect(await textOf('?language=de')).toContain('Wer verantwortlich ist');
  });

  it('tells programs the same, in the language that is asked for', async () => {
    await sets({ ...WHOLE, interests_de: 'Ordnung', interests_en: 'Order' });
    const words = { description_de: 'Zum Grüßen', description_en: 'To greet' };
    await bot.hasCategory('profile', [field('born', 'date')], words);
    for (const [language, label, purpose, interests, ofField] of [
      ['de', 'Kategorie profile', 'Zum Grüßen', 'Ordnung', 'Feld born'],
      ['en', 'Category profile', 'To greet', 'Order', 'Field born'],
    ])
      expect(await dataOf(language)).toMatchObject({
        ...{ language, interests },
        categories: [{ category: 'profile', label, purpose, fields: [{ key: 'born', label: ofField }] }],
      });
  });

  it.each(['?format=xml', '?language=fr', '?format='])('answers 400 for %s', async (query) => {
    await sets(WHOLE);
    expect((await read(query)).status).toBe(400);
  });

  it('is one whole page, and leads to itself in the other language', async () => {
    await sets(WHOLE);
    const page = await textOf('?language=de');
    expect(page.match(/<\/main>|<\/body>|<\/html>/g)).toStrictEqual(['</main>', '</body>', '</html>']);
    expect(page).toMatch(/href="\?language=en"\s+lang="en"\s+hreflang="en"\s*>English<\/a/);
    expect(page).toMatch(/href="\?language=de"\s+lang="de"\s+hreflang="de"\s+aria-current="true"/);
  });

  it('has a digest, the same in every language, that changes with what is said', async () => {
    await sets(WHOLE);
    const first = await dataOf();
    expect(first.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(await textOf('?language=de')).toContain(first.digest);
    expect((await dataOf()).digest).toBe(first.digest);
    await bot.hasCategory('profile');
    const second = await dataOf();
    expect(second.digest).not.toBe(first.digest);
    expect(second.changed_at > first.changed_at).toBe(true);
    await bot.delete('/data/categories/profile');
    const third = await dataOf();
    expect(third.digest).toBe(first.digest);
    expect(third.changed_at > second.changed_at).toBe(true);
  });

  it('has not changed where a declaration says the same, or only who may correct', async () => {
    await sets(WHOLE);
    await bot.hasCategory('profile');
    const { digest, changed_at } = await dataOf();
    for (const given of [{}, { fields: [{ ...field('value'), editable: true }] }]) {
      expect((await bot.put('/data/categories/profile', given)).status).toBe(200);
      expect(await dataOf()).toMatchObject({ digest, changed_at });
    }
  });

  it('has not changed where its bot only changes what the notice does not say', async () => {
    await sets(WHOLE);
    const known = await dataOf();
    for (const given of [
      { webhook_url: 'https://bot.example.org/gdpr' },
      { name: 'Greeter' },
      { privacy_contact: 'other@example.org' },
    ]) {
      expect((await bot.put(`/bots/${bot.id}`, given)).status).toBe(200);
      expect(await dataOf()).toStrictEqual(known);
    }
    await bot.put(`/bots/${bot.id}`, { name: 'Guide' });
    const renamed = await dataOf();
    expect(renamed.changed_at > known.changed_at).toBe(true);
    await sets({ controller_email: null });
    const before = await dataOf();
    await bot.put(`/bots/${bot.id}`, { privacy_contact: 'third@example.org' });
    const after = await dataOf();
    expect([after.digest !== before.digest, after.changed_at > before.changed_at]).toStrictEqual([
      true,
      true,
    ]);
  });

  it('may be kept, and answers 304 to a reader that has it until it changes', async () => {
    await sets(WHOLE);
    const answer = await read();
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
    const tag = String(answer.headers.get('etag'));
    const again = await read('', { 'if-none-match': `"other", W/${tag}` });
    expect([again.status, await again.text(), again.headers.get('etag')]).toStrictEqual([304, '', tag]);
    await sets({ controller_name: 'Kim' });
    expect((await read('', { 'if-none-match': tag })).status).toBe(200);
  });

  it('is limited by the address of the reader, not by the budget of the bot', async () => {
    const other = await new Service({ RATE_LIMIT_ANONYMOUS: '2' }).start();
    stopWindows(other);
    const its = await other.registerBot();
    const statuses = [1, 2].map(() => fetch(`${other.url}/notice/${its.id}`).then(({ status }) => status));
    expect((await Promise.all(statuses)).sort()).toStrictEqual([404, 429]);
    expect((await its.get('/servers')).status).toBe(200);
    await other.stop();
  });

  it('is a page without scripts that loads nothing, and shows texts of the bot as texts', async () => {
    const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
    await bot.put(`/bots/${bot.id}`, { name: hostile });
    await sets({ ...WHOLE, controller_name: hostile, recipients: [{ name: hostile, purpose_de: hostile }] });
    await bot.hasCategory('profile', [{ ...field('value'), label_en: hostile }], { description: hostile });
    const answer = await read('?language=en');
    expect(await answer.text()).not.toMatch(/<img|<script/);
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(await textOf('?format=markdown')).not.toMatch(/(?<!\\)[<[]/);
  });

  it('has room for 256 KB of categories, and says that there are further ones', async () => {
    await sets(WHOLE);
    const long = 'x'.repeat(9_000);
    const words = { description: long, description_de: long, description_en: long };
    for (let at = 0; at < 11; at += 1) await bot.hasCategory(`c${at}`, [field('value')], words);
    expect(await dataOf()).toMatchObject({ has_more_categories: true });
    expect(await textOf('?language=en')).toContain('There are further categories.');
  });

  it('names in Markdown the address that a text leads to', async () => {
    await sets({ ...WHOLE, authority_name: 'Authority', authority_url: 'https://authority.example.org/' });
    const text = (await textOf('?format=markdown&language=en')).replaceAll('\\', '');
    expect(text).toContain('Authority (https://authority.example.org/)');
    expect(text).not.toContain('mailto:');
  });

  it('has at most 256 K characters of declarations, however much of them has to be escaped', async () => {
    await sets(WHOLE);
    const [label, text] = ['&'.repeat(100), '&'.repeat(900)];
    const fields = Array.from({ length: 20 }, (_, at) => ({
      ...field(`f${at}`, 'json'),
      ...{ label_de: label, label_en: label, description: text },
    }));
    for (let at = 0; at < 20; at++) await bot.hasCategory(`c${at}`, fields);
    for (const format of ['html', 'markdown', 'json'])
      expect((await textOf(`?language=en&format=${format}`)).length).toBeLessThan(266_000);
    expect(await textOf('?language=en')).toContain('There are further categories');
  });

  it('makes no list, rule or heading of a text in Markdown', async () => {
    await sets({ ...WHOLE, controller_name: '- x', interests_en: '---', source_en: '1. a\n# b' });
    const text = await textOf('?format=markdown&language=en');
    expect(text.split('\n')).toEqual(expect.arrayContaining(['- Name: \\- x', '\\---', '1\\. a \\# b']));
  });
});

describe('the notice where one declaration may have 256 KiB', () => {
  const large = useServiceInProcess({ DECLARATION_LIMIT_BYTES: '262144' });

  it('does not say that there is no data where not even the first category has room', async () => {
    const own = await large.registerBot();
    await own.put(`/bots/${own.id}/notice-settings`, { ...WHOLE, public: true });
    await own.hasCategory('large', [field('value')], { description: '&'.repeat(60_000) });
    const text = await (await fetch(`${large.url}/notice/${own.id}?language=en`)).text();
    expect(text).toContain('There are further categories');
    expect(text).not.toContain('declared no data');
  });
});
