import { type Bot, field } from '../support/bot';
import { expectFailure, expectFaults } from '../support/expected';
import { Service } from '../support/service';
import { useService } from '../support/shared-service';

const service = useService();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot({ name: 'Greeter' });
});

const read = (query: string) => bot.get(`/bots/${bot.id}/processing-record?${query}`);
const sets = (given: object) => bot.put(`/bots/${bot.id}/notice-settings`, given);

interface Found {
  readonly language?: string;
  readonly notice_settings?: object;
  readonly gaps?: readonly { readonly task: string; readonly field: string; readonly category?: string }[];
}
const missing = async () => (await read('language=en')).data as Found;
const fieldsMissing = async () => (await missing()).gaps?.map(({ field: name }) => name);

const WHOLE = {
  controller_name: 'Robin Example',
  controller_address: 'Street 1\n10115 Berlin',
  controller_email: 'robin@example.org',
  automated_decisions: 'none',
  recipients: [{ name: 'Hosting', purpose_en: 'Runs the server', country: 'DE' }],
};
const DECLARED = { description_de: 'Zum Gruß', description_en: 'To greet', retention_days: 30 };

describe('the record of processing activities as a document', () => {
  it.each([
    [
      'en',
      'Where a request with an Idempotency-Key has made a key or link, its stored answer has it whole, encrypted',
    ],
    [
      'de',
      'Hat eine Anfrage mit Idempotency-Key einen Schlüssel oder Link erstellt, enthält die dafür gespeicherte Antwort ihn ganz',
    ],
  ])('says in %s where whole keys and links are stored', async (language, said) => {
    expect((await read(`format=html&language=${language}`)).text).toContain(said);
  });

  it('speaks German and English, in every form', async () => {
    await bot.hasCategory('profile', [field('value')], DECLARED);
    expect((await read('format=markdown&language=de')).text).toMatch(
      /^# Verzeichnis von Verarbeitungstätigkeiten\n/,
    );
    expect((await read('format=markdown&language=en')).text).toMatch(/^# Record of processing activities\n/);
    const { text } = await read('format=html&language=de');
    expect(text).toContain('<html lang="de">');
    expect(text).toContain('Einwilligung (Art. 6 Abs. 1 lit. a DSGVO)');
    expect(text).toContain('Zum Gruß / To greet');
    expect(text).toMatch(/Erstellt am \d+\. [A-ZÄ-ü][a-zä]+ \d{4} um \d\d:\d\d UTC aus/);
    expect((await read('format=json&language=de')).data).toMatchObject({
      language: 'de',
      time_limits: [
        { applies_to: 'Daten, die auf einer Einwilligung beruhten, nach deren Widerruf' },
        {},
        {},
        {
          applies_to:
            'Dass über einen Nutzer etwas gespeichert war, die IDs dazu, verschlüsselt, und der letzte Stand der Einwilligung: bis zu einer Löschung',
          days: null,
        },
        {
          applies_to:
            'Sicherungen des Betreibers, die Gelöschtes enthalten können, Werte und IDs verschlüsselt',
          days: 35,
        },
      ],
    });
  });

  it.each([
    [
      'en',
      [
        'correction by the user (with the category and the names of the fields)',
        'question to the stores of the bot for a copy',
      ],
      'History of consents and evidence of erasures',
    ],
    [
      'de',
      [
        'Berichtigung durch den Nutzer (mit Kategorie und Namen der Felder)',
        'Anfrage nach einer Kopie aus den eigenen Speichern des Bots',
      ],
      'Verlauf der Einwilligungen und Aufzeichnungen von Löschungen',
    ],
  ])(
    'says in %s what the receiver of webhooks gets, and what is kept as evidence',
    async (language, parts, kept) => {
      await bot.put(`/bots/${bot.id}`, { webhook_url: 'https://bot.example.org/gdpr' });
      const { text } = await read(`format=json&language=${language}`);
      for (const part of [...parts, kept]) expect(text).toContain(part);
      expect(text).not.toContain('Quittung');
    },
  );

  it('has in JSON without a language the fields that it always had', async () => {
    await sets(WHOLE);
    const { data } = await read('format=json');
    expect(Object.keys(data)).toStrictEqual([
      'generated_at',
      'controller',
      'data_subjects',
      'recipients',
      'transfers',
      'time_limits',
      'security_measures',
      'activities',
    ]);
    expect((data as { controller: object }).controller).not.toHaveProperty('controller_name');
  });

  it('names what is missing as tasks, and none of them once it is declared', async () => {
    expect(await fieldsMissing()).toStrictEqual([
      'controller_name',
      'controller_address',
      'controller_email',
      'recipients',
      'automated_decisions',
      'categories',
    ]);
    const german = await read('format=markdown&language=de');
    expect(german.text).toContain('## Offene Aufgaben\n\n- Der Name des Verantwortlichen fehlt.\n');
    // What this service cannot know is said in both cases.
    const own = ['(Art. 27)', '(Art. 26)', '(Art. 13(2)(e))', '(Art. 14(2)(f))'];
    const gapped = (await read('format=markdown')).text;
    for (const article of own) expect(gapped).toContain(article);
    await sets(WHOLE);
    await bot.hasCategory('profile', [field('value')], DECLARED);
    expect(await missing()).toMatchObject({ notice_settings: WHOLE, gaps: [] });
    const whole = (await read('format=markdown')).text;
    expect(whole).toContain('None of what this service knows about is missing.');
    for (const article of own) expect(whole).toContain(article);
  });

  it.each([
    ['de', 'Datenschutzbeauftragter: nicht angegeben'],
    ['en', 'Data protection officer: not given'],
  ])('does not say that there is no officer where the bot names none: %s', async (language, said) => {
    await sets(WHOLE);
    expect((await read(`format=markdown&language=${language}`)).text).toContain(said);
  });

  it.each([
    [{ description: 'Any' }, []],
    [{}, ['description']],
    [{ description_de: 'x' }, ['description_en']],
    [{ description_en: 'x' }, ['description_de']],
    [{ description: 'Any', retention_days: null }, ['retention_days']],
    [{ description: 'Any', legal_basis: 'legitimate_interests' }, ['interests_en']],
  ])('names what is missing of a category that is declared as %j: %j', async (declared, fields) => {
    await sets(WHOLE);
    await bot.hasCategory('profile', [field('value')], { retention_days: 30, ...declared });
    expect(await fieldsMissing()).toStrictEqual(fields);
  });

  it.each([
    [{ purpose_de: 'x', country: 'DE' }, []],
    [{ country: 'DE' }, ['recipients']],
    [{ purpose_de: 'x' }, ['recipients']],
    [{ purpose_de: 'x', country: 'US' }, ['recipients']],
    [{ purpose_de: 'x', country: 'US', safeguards_en: 'x' }, []],
  ])('names what is missing of a recipient %j: %j', async (recipient, fields) => {
    await sets({ ...WHOLE, recipients: [{ name: 'Hosting', ...recipient }] });
    await bot.hasCategory('profile', [field('value')], DECLARED);
    expect(await fieldsMissing()).toStrictEqual(fields);
  });

  it('names at most 100 tasks, and says that there are more', async () => {
    for (let at = 0; at < 40; at += 1)
      await bot.hasCategory(`c${at}`, [field('value')], { retention_days: null });
    expect((await missing()).gaps).toHaveLength(85);
    for (let at = 40; at < 60; at += 1)
      await bot.hasCategory(`c${at}`, [field('value')], { retention_days: null });
    expect((await missing()).gaps).toHaveLength(100);
    expect((await read('format=markdown')).text).toContain('There are more');
  });

  it('shows controller, officer, recipients, transfers with safeguards, interests, source and decisions', async () => {
    await sets({
      ...WHOLE,
      officer_name: 'Kim',
      officer_email: 'kim@example.org',
      recipients: [
        {
          name: 'Hosting',
          purpose_de: 'Server',
          country: 'US',
          safeguards_en: 'Standard contractual clauses',
        },
      ],
      interests_en: 'Order on the server',
      source_en: 'The platform',
      automated_decisions: 'exist',
      automated_decisions_en: 'A ban after three warnings',
      authority_name: 'Authority',
      authority_url: 'https://authority.example.org',
      notice_url: 'https://bot.example.org/privacy',
    });
    const { text } = await read('format=html&language=en');
    for (const shown of [
      'Robin Example',
      'Kim',
      'kim@example.org',
      'Hosting',
      'United States',
      'Standard contractual clauses',
      'Order on the server',
      'The platform',
      'A ban after three warnings',
      'href="https://authority.example.org"',
      'href="https://bot.example.org/privacy"',
    ])
      expect(text).toContain(shown);
  });

  it('says in JSON with a language which transfers follow from the recipients', async () => {
    const transfers = async () => ((await read('language=en')).data as { transfers: string }).transfers;
    const unknown = await transfers();
    expect(unknown).toMatch(/is not known to this service\. Their operators/);
    await sets(WHOLE);
    // The place of the installation and of the webhook receiver is still not known.
    const none = 'None of the recipients that the bot names is in a third country.';
    expect(await transfers()).toBe(`${none}\n${unknown}`);
    expect((await read('format=markdown')).text).toContain(`- ${none}\n- ${unknown}\n`);
    const abroad = { name: 'Mail', country: 'US', safeguards_en: 'Standard clauses' };
    await sets({ recipients: [abroad, { name: 'Voice', country: 'CN' }] });
    expect(await transfers()).toBe(
      `Mail, United States. Safeguards: Standard clauses\nVoice, China\n${unknown}`,
    );
    expect((await read('format=json')).data).toMatchObject({
      transfers: expect.stringMatching(/^Whether data goes to a third country .* not known/) as string,
    });
  });

  it('is a page without scripts, that loads nothing, and shows texts of the bot as texts', async () => {
    const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
    await bot.put(`/bots/${bot.id}`, { name: hostile });
    await sets({ ...WHOLE, controller_name: hostile, recipients: [{ name: hostile, purpose_de: hostile }] });
    await bot.hasCategory('profile', [{ ...field('value'), label_de: hostile }], { description: hostile });
    const answer = await read('format=html');
    expect(answer.text).not.toMatch(/<img|<script|onerror=alert\(1\)>/);
    expect(answer.text).toContain('&quot;&gt;&lt;img src=x');
    expect(answer.header('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'none'/,
    );
    const { text } = await read('format=markdown');
    expect(text).not.toMatch(/(?<!\\)[<[]/);
  });

  it('is one whole page: its sections are inside of its main part', async () => {
    const { text } = await read('format=html');
    expect(text.match(/<\/main>|<\/body>|<\/html>/g)).toStrictEqual(['</main>', '</body>', '</html>']);
    expect(text.indexOf('</main>')).toBeGreaterThan(text.lastIndexOf('<h2>'));
  });

  it('says that calls to this machine are allowed, where they are', async () => {
    const measured = async (given: Readonly<Record<string, string>>): Promise<string> => {
      const other = await new Service(given).start();
      const its = await other.registerBot();
      const { text } = await its.get(`/bots/${its.id}/processing-record?format=markdown`);
      await other.stop();
      return text;
    };
    const closed = 'from private networks and metadata services.';
    const open = 'from private networks and metadata services, with the exception of this machine.';
    expect(await measured({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'false' })).toContain(closed);
    expect(await measured({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'auto' })).toContain(open);
    expect(await measured({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' })).not.toContain('private networks');
  });

  it.each(['fr', ''])('answers 400 naming language when it is %j', async (language) => {
    expectFaults(await read(`language=${language}`), 'language');
  });

  it('answers 404 in the envelope for another bot, also where HTML is asked for', async () => {
    const other = await service.registerBot();
    expectFailure(await bot.get(`/bots/${other.id}/processing-record?format=html`), 404, 'not_found');
  });
});
