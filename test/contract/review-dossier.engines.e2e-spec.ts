import { UnitOfWork } from '@app/database';
import { ErasuresCompleted } from '@app/gdpr';
import { Clock, DomainEvents } from '@app/kernel';
import { type Bot, field } from '../support/bot';
import { Client, PREFIX } from '../support/client';
import { engine } from '../support/database';
import { A_TEXT, A_TIME, expectFailure, expectFaults, expectSuccess } from '../support/expected';
import { UNKNOWN_UUID } from '../support/inputs';
import { seal, withoutSealing } from '../support/sealing';
import { Service, useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';

const START = '2026-03-15T10:30:00.000Z';
const TODAY = '2026-03-15';

const service = useServiceInProcess();
let bot: Bot;
let now: jest.SpyInstance<number>;
const isNow = (time: string): void => void now.mockReturnValue(Date.parse(time));

beforeAll(() => withoutSealing(service));
beforeEach(async () => {
  now = jest.spyOn(service.app.get(Clock), 'nowMs');
  isNow(START);
  bot = await service.registerBot({ name: 'Greeter' });
});
afterEach(() => now.mockRestore());

const path = (its: Bot = bot): string => `/bots/${its.id}/review-dossier`;
const read = (query = '') => bot.get(`${path()}?${query}`);
const text = async (query: string): Promise<string> => (await read(query)).text;
const sets = (given: object) => bot.put(`/bots/${bot.id}/notice-settings`, given);

interface Found {
  readonly privacy_policy: string | null;
  readonly encryption: { readonly master_key: string; readonly statements: readonly string[] };
  readonly backups: { readonly retention_days: number; readonly statements: readonly string[] };
  readonly deletion: Readonly<Record<string, unknown>>;
  readonly consent: Readonly<Record<string, unknown>>;
  readonly activities: readonly { readonly category: string }[];
  readonly gaps: readonly { readonly task: string; readonly field: string }[];
}
const dossier = async () => (await read('language=en')).data as unknown as Found;

const WHOLE = {
  controller_name: 'Robin Example',
  controller_address: 'Street 1\n10115 Berlin',
  controller_email: 'robin@example.org',
  automated_decisions: 'none',
  recipients: [{ name: 'Example Hosting', purpose_en: 'Runs the server', country: 'DE' }],
};
const DECLARED = { description_de: 'Zum Gruß', description_en: 'To greet', retention_days: 30 };

/** A dossier of a service with other settings, as a document. */
async function dossierWith(given: Readonly<Record<string, string>>): Promise<{ text: string; data: Found }> {
  const other = await new Service(given).start();
  try {
    const its = await other.registerBot();
    const { data } = await its.get(path(its));
    return { data: data as unknown as Found, text: (await its.get(`${path(its)}?format=markdown`)).text };
  } finally {
    await other.stop();
  }
}

describe('GET /api/v1/bots/{bot_id}/review-dossier', () => {
  it.each([
    ['en', 'kind and time of objections and restrictions', 'reason to keep data, signed statement'],
    [
      'de',
      'Art und Zeit von Widersprüchen und Einschränkungen',
      'Grund einer Aufbewahrung, signierte Erklärung',
    ],
  ])(
    'names in %s what is not encrypted, with refusals and the answers of stores',
    async (language, ...said) => {
      const { encryption } = (await bot.get<Found>(`${path(bot)}?language=${language}`)).data;
      for (const words of said) expect(encryption.statements.at(-1)).toContain(words);
    },
  );

  it('answers 200 with what is stored, retention, encryption, access, deletion, consent, measures and backups', async () => {
    await bot.put(`/bots/${bot.id}`, {
      privacy_contact: 'privacy@example.org',
      webhook_url: 'https://bot.example.org:8443/gdpr?token=hidden',
    });
    await sets(WHOLE);
    await bot.hasCategory('profile', [field('nickname')], { ...DECLARED, legal_basis: 'contract' });
    const period = { from: TODAY, to: TODAY };
    const answer = await read();
    expectSuccess(answer, 200, {
      generated_at: START,
      language: 'en',
      bot: {
        bot_id: bot.id,
        platform_bot_id: bot.platformBotId,
        name: 'Greeter',
        privacy_contact: 'privacy@example.org',
        registered_at: START,
      },
      privacy_policy: null,
      notice_settings: WHOLE,
      data_subjects: A_TEXT,
      time_limits: [30, 1095, 30, null, 35].map((days) => ({ applies_to: A_TEXT, days })),
      encryption: {
        algorithm: 'ChaCha20-Poly1305 (RFC 8439)',
        master_key: engine === 'postgres' ? 'environment' : 'file',
        statements: [A_TEXT, A_TEXT, A_TEXT],
      },
      access: [null, 'bot.example.org:8443', null, null].map((host) => ({
        ...{ recipient: A_TEXT, host, receives: A_TEXT },
      })),
      deletion: {
        ...period,
        ...{ requested: 0, completed: 0, failed: 0, median_ms: null, longest_ms: null },
        statements: [A_TEXT, A_TEXT, A_TEXT, A_TEXT, A_TEXT],
      },
      consent: {
        ...{ ...period, requested: 0, accepted: 0, revoked: 0 },
        // A request for a version without a registered text records no words.
        statements: [
          A_TEXT,
          expect.stringMatching(/registered them or Lethe has made them/) as string,
          A_TEXT,
        ],
      },
      security_measures: expect.arrayContaining([A_TEXT]) as unknown,
      backups: { retention_days: 35, statements: [A_TEXT, A_TEXT, A_TEXT, A_TEXT] },
      transfers: expect.stringMatching(
        /^None of the recipients that the bot names is in a third country\.\nWhether data goes to a third country .* not known/,
      ) as string,
      to_add: [A_TEXT, A_TEXT, A_TEXT, A_TEXT, A_TEXT],
      activities: [
        expect.objectContaining({ category: 'profile', legal_basis: 'contract', retention_days: 30 }),
      ],
      gaps: [{ field: 'notice_url', task: A_TEXT }],
    });
    expect(answer.text).not.toContain('hidden');
  });

  it.each([
    ['en', '# Data protection dossier\n', 'Custody of the master key', 'contract (Art. 6(1)(b) GDPR)'],
    [
      'de',
      '# Datenschutz-Dossier\n',
      'Verwahrung des Hauptschlüssels',
      'Vertrag (Art. 6 Abs. 1 lit. b DSGVO)',
    ],
  ])('speaks the language %s as Markdown, as HTML and in JSON', async (language, title, ...words) => {
    await sets(WHOLE);
    await bot.hasCategory('profile', [field('nickname')], { ...DECLARED, legal_basis: 'contract' });
    const [markdown, html] = [
      await text(`format=markdown&language=${language}`),
      await text(`format=html&language=${language}`),
    ];
    expect(markdown.startsWith(title)).toBe(true);
    expect(html).toContain(`<html lang="${language}">`);
    const plain = html.replace(/&[^;]+;/g, ' ');
    for (const word of [...words, 'Robin Example', 'Example Hosting', 'ChaCha20-Poly1305'])
      for (const shown of [markdown.replaceAll('\\', ''), plain]) expect(shown).toContain(word);
    const { data } = await read(`language=${language}`);
    expect(data).toMatchObject({ language });
    const { encryption, to_add: added } = data as unknown as Found & { to_add: readonly string[] };
    for (const sentence of [...encryption.statements, ...added])
      expect(markdown.replaceAll('\\', '')).toContain(sentence);
  });

  it('has one item for each transfer, whatever line breaks its safeguards have', async () => {
    const recipients = [{ name: 'Hosting', country: 'US', safeguards_en: 'Clauses\nof 2021' }];
    await sets({ ...WHOLE, recipients });
    const markdown = await text('format=markdown&language=en');
    expect(markdown.replaceAll('\\', '')).toContain('Clauses of 2021\n');
  });

  it('says once what backups can contain, in the section about them', async () => {
    const contain = /what was erased, values and ids encrypted/g;
    expect((await text('format=markdown&language=en')).match(contain)).toHaveLength(1);
  });

  it('has the same sections in both languages and forms', async () => {
    await bot.hasCategory('profile', [field('nickname')], DECLARED);
    const sections = async (query: string, mark: RegExp): Promise<number> =>
      [...(await text(query)).matchAll(mark)].length;
    for (const language of ['de', 'en']) {
      expect(await sections(`format=markdown&language=${language}`, /^## /gm)).toBe(13);
      expect(await sections(`format=html&language=${language}`, /<h2>/g)).toBe(13);
    }
  });

  it('answers the form that the Accept header prefers, and format takes precedence', async () => {
    const asked = async (query: string, accept: string): Promise<string> =>
      (await bot.send('GET', `${PREFIX}${path()}${query}`, { headers: { accept } })).text;
    expect(await asked('', 'text/html')).toMatch(/^<!doctype html>/);
    expect(await asked('', 'text/markdown')).toMatch(/^# Data protection dossier\n/);
    expect(await asked('?format=markdown', 'text/html')).toMatch(/^# Data protection dossier\n/);
  });

  it('counts the erasures of the last 90 days, no day before', async () => {
    isNow('2025-06-01T12:00:00.000Z');
    bot = await service.registerBot({ name: 'Older' });
    await bot.hasCategory('profile');
    for (const day of ['2025-12-15', '2025-12-16', '2026-03-15']) {
      isNow(`${day}T10:00:00.000Z`);
      await bot.hasForgotten(await bot.hasUser());
    }
    isNow(START);
    for (const sealed of [false, true]) {
      if (sealed) await seal(service, bot);
      const { deletion, consent } = await dossier();
      const counted = { from: '2025-12-16', to: TODAY, requested: 2, completed: 2, failed: 0 };
      expect(deletion).toMatchObject({ ...counted, median_ms: 0, longest_ms: 0 });
      expect(consent).toMatchObject({ requested: 2, accepted: 2, revoked: 0 });
    }
  });

  it('has the median of all erasures, and not of days', async () => {
    const completed = (day: string, took: readonly number[]): Promise<void> =>
      service.app.get(UnitOfWork).write((tx) => {
        const completedAt = `2026-03-${day}T10:00:00.000Z`;
        const erasures = took.map((ms) => ({
          ...{ botId: bot.id, completedAt },
          createdAt: new Date(Date.parse(completedAt) - ms).toISOString(),
        }));
        return service.app.get(DomainEvents).publish(new ErasuresCompleted(tx, erasures));
      });
    // The longest is not of the last day, and one duration is of every day.
    await completed('12', [6_000, 10]);
    await completed('13', [10, 10]);
    await completed('14', [10, 5_000]);
    isNow('2026-03-15T10:30:00.000Z');
    expect((await dossier()).deletion).toMatchObject({ median_ms: 10, longest_ms: 6_000 });
    expect(await text('format=html')).toMatch(/10 milliseconds.*6 seconds/s);
    expect(await text('format=html&language=de')).toMatch(/10 Millisekunden.*6 Sekunden/s);
  });

  it('says that no erasure was completed in place of a median of nothing', async () => {
    expect(await text('format=markdown')).toContain(
      'Median time from request to end: no erasure was completed',
    );
    expect(await text('format=markdown&language=de')).toContain('keine Löschung abgeschlossen');
  });

  it('counts withdrawals, and no acts that the bot has posted itself', async () => {
    await bot.hasCategory('profile');
    const who = subject();
    await bot.hasConsent(who);
    await bot.hasRevoked(who);
    await bot.post('/audit/event', { ...who, event_type: 'consent_revoked' });
    expect((await dossier()).consent).toMatchObject({ requested: 1, accepted: 1, revoked: 1 });
  });

  it('says that a refusal is not counted and its request is, as it is', async () => {
    await bot.hasCategory('profile');
    const who = subject();
    await bot.post('/consents/request', { ...who, categories: ['profile'] });
    await bot.post('/consents/decline', who);
    const { consent } = await dossier();
    expect(consent).toMatchObject({ requested: 1, accepted: 0, revoked: 0 });
    expect(consent['statements']).toContain(
      'These are numbers of acts, not of users. A refusal is not counted; its request is. A restriction counts as a withdrawal, and its end as an acceptance.',
    );
  });

  it('counts a restriction as a withdrawal and its end as an acceptance, and says so', async () => {
    const who = subject();
    await bot.post('/data/restrict', who);
    await bot.post('/data/unrestrict', who);
    expect((await dossier()).consent).toMatchObject({ requested: 0, accepted: 1, revoked: 1 });
    expect((await read('language=de')).text).toContain(
      'Eine Einschränkung zählt als Widerruf, ihr Ende als Zustimmung.',
    );
  });

  it('begins its period with the registration of a younger bot', async () => {
    isNow('2026-03-20T10:30:00.000Z');
    expect((await dossier()).deletion).toMatchObject({ from: TODAY, to: '2026-03-20' });
  });

  it.each([
    // PostgreSQL has no key file: the tests give it a key.
    ...(engine === 'sqlite' ? [[{}, 'file', 'In a key file beside the data'] as const] : []),
    [
      { LETHE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') },
      'environment',
      'in the environment (LETHE_MASTER_KEY)',
    ] as const,
    [
      {
        LETHE_MASTER_KEY: '',
        LETHE_MASTER_KEY_COMMAND: `/bin/echo ${Buffer.alloc(32, 7).toString('base64')}`,
      },
      'command',
      'at each start (LETHE_MASTER_KEY_COMMAND)',
    ] as const,
  ])('says where the master key is, and never the key or a path: %#', async (given, custody, words) => {
    const found = await dossierWith(given);
    expect(found.data.encryption.master_key).toBe(custody);
    expect(found.text.replaceAll('\\', '')).toContain(words);
    expect(found.text + JSON.stringify(found.data)).not.toMatch(/BwcHBwcH|\.key\b|lethe\.db|\/tmp/);
  });

  it.each([
    ['0', 'no backups are kept'],
    ['1', 'keeps backups for 1 day '],
    ['90', 'keeps backups for 90 days '],
  ])('says with BACKUP_RETENTION_DAYS=%s: %s', async (days, words) => {
    const { data, text: markdown } = await dossierWith({ BACKUP_RETENTION_DAYS: days });
    expect(data.backups.retention_days).toBe(Number(days));
    expect(markdown).toContain(words);
  });

  it('links the privacy policy of the bot, else its public notice, else it is a task', async () => {
    const tasks = async () => (await dossier()).gaps.map(({ field: name }) => name);
    expect(await tasks()).toContain('notice_url');
    await sets({ ...WHOLE, public: true });
    const { privacy_policy: address } = await dossier();
    expect(address).toBe(`${service.url}/notice/${bot.id}`);
    expect((await fetch(String(address))).status).toBe(200);
    expect(await tasks()).not.toContain('notice_url');
    await sets({ notice_url: 'https://bot.example.org/privacy', public: false });
    expect((await dossier()).privacy_policy).toBe('https://bot.example.org/privacy');
    expect(await text('format=html')).toContain('href="https://bot.example.org/privacy"');
  });

  it('names what is missing as tasks, and none of them once it is declared', async () => {
    expect((await dossier()).gaps.map(({ field: name }) => name)).toStrictEqual([
      ...['controller_name', 'controller_address', 'controller_email', 'recipients', 'automated_decisions'],
      ...['notice_url', 'categories'],
    ]);
    await sets({ ...WHOLE, public: true });
    await bot.hasCategory('profile', [field('value')], DECLARED);
    expect((await dossier()).gaps).toStrictEqual([]);
  });

  it('is a page without scripts, that loads nothing, and shows texts of the bot as texts', async () => {
    const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
    await bot.put(`/bots/${bot.id}`, { name: hostile });
    await sets({ ...WHOLE, controller_name: hostile, recipients: [{ name: hostile, country: 'US' }] });
    await bot.hasCategory('profile', [{ ...field('value'), label_de: hostile }], { description: hostile });
    const answer = await read('format=html');
    expect(answer.text).not.toMatch(/<img|<script|onerror=alert\(1\)>/);
    expect(answer.text).toContain('&quot;&gt;&lt;img src=x');
    expect(answer.header('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(await text('format=markdown')).not.toMatch(/(?<!\\)[<[]/);
  });

  it('names no user', async () => {
    await bot.hasCategory('profile');
    const who = await bot.hasUser('a stored value');
    const erased = await bot.hasUser();
    await bot.hasForgotten(erased);
    for (const format of ['json', 'markdown', 'html']) {
      const shown = await text(`format=${format}`);
      for (const secret of [who.user_id, who.guild_id, erased.user_id, 'a stored value', bot.key])
        expect(shown).not.toContain(secret);
    }
  });

  it('shows categories and numbers of no other bot', async () => {
    const other = await service.registerBot();
    await other.hasCategory('foreign');
    await other.hasForgotten(await other.hasUser('x', 'foreign'));
    const found = await dossier();
    expect(found.activities).toStrictEqual([]);
    expect(found.deletion).toMatchObject({ requested: 0, completed: 0 });
  });

  it('lists every category, up to the 100 that a bot can declare', async () => {
    for (let at = 0; at < 100; at += 1) await bot.hasCategory(`c${at}`);
    expect((await dossier()).activities).toHaveLength(100);
    expect((await text('format=html')).match(/<h3>/g)).toHaveLength(100);
  });

  it.each(['xml', '', 'HTML'])('answers 400 naming format when it is %j', async (format) => {
    expectFaults(await read(`format=${format}`), 'format');
  });

  it.each(['fr', ''])('answers 400 naming language when it is %j', async (language) => {
    expectFaults(await read(`language=${language}`), 'language');
  });

  it('answers 400 for a bot_id that is no UUID', async () => {
    expectFaults(await bot.get('/bots/1/review-dossier'), 'bot_id');
  });

  it('answers the identical 404 for another bot and for none, in every form', async () => {
    const other = await service.registerBot();
    for (const query of ['', '?format=markdown', '?format=html']) {
      const refused = await bot.get(path(other) + query);
      expectFailure(refused, 404, 'not_found');
      expect(refused.text).toBe((await bot.get(`/bots/${UNKNOWN_UUID}/review-dossier${query}`)).text);
    }
  });

  it('answers 401 without a key', async () => {
    expectFailure(await service.anonymous.send('GET', PREFIX + path()), 401, 'unauthorized');
  });

  it.each([
    ['read', 200],
    ['write', 403],
    ['erase', 403],
    ['admin', 403],
  ])('answers a key with the scope %s with %i', async (scope, status) => {
    const { data } = await bot.post<{ api_key: string }>(`/bots/${bot.id}/keys`, { scopes: [scope] });
    const answer = await new Client(service.url, data.api_key).get(path());
    expect(answer.status).toBe(status);
    if (status === 200) expect(answer.data).toMatchObject({ generated_at: A_TIME });
  });

  it('carries the headers of every answer as a document too', async () => {
    const answer = await read('format=markdown');
    for (const name of ['x-request-id', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
      expect(answer.header(name)).toBeDefined();
  });
});
