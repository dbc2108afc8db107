import { Dispatcher } from '@app/webhooks';
import { type Bot, field } from '../support/bot';
import { act, get, unescaped } from '../support/privacy-page';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess();
// The JSON and the copy are compared: no call is tried between them, and none reaches a network.
beforeAll(() => service.app.get(Dispatcher).beforeApplicationShutdown());

/** What a copy to read leaves to the JSON: each is in the list at its end, by the name in the second place. */
const TECHNICAL: readonly (readonly [path: RegExp, name: string])[] = [
  [/^schema$/, 'schema'],
  [/^bot\.id$/, 'id'],
  [/^(consent|consent\.(pending|replaced)|consent_history|audit_events|webhook_deliveries)\.id$/, 'id'],
  [/^consent_history\.consent_id$/, 'consent_id'],
  [/^categories\.(fields\.)?key$|^consent_texts\.categories\.key$/, 'key'],
  [/^categories\.fields\.type$/, 'type'],
  [/^categories\.(fields\.)?label_de$/, 'label'],
  [/^categories\.(fields\.)?description(s\..*|_de)?$/, 'description'],
];

/** What the copy says in the place of a code. */
const WORDS: Readonly<Record<string, string>> = {
  ...{ requested: 'asked', categories_withdrawn: 'withdrawn in part', api: 'by the bot' },
  ...{ accepted: 'consented', revoked: 'withdrawn', declined: 'declined', shown: 'shown again' },
  ...{ consent_requested: 'You were asked for consent', consent_accepted: 'Consent was given' },
  ...{ consent_revoked: 'Consent was withdrawn', data_submitted: 'Data was stored' },
  ...{ data_exported: 'Data was exported', deletion_requested: 'An erasure was requested' },
  ...{ deletion_completed: 'An erasure was completed', user_forgotten: 'your data was erased' },
  ...{ full: 'everything', privacy_page: 'on your privacy page', completed: 'completed', pending: 'waits' },
  ...{ cancelled: 'cancelled', consent: 'consent (Art. 6(1)(a) GDPR)', true: 'yes', false: 'no' },
  ...{ service: 'What was done so far', client: 'The bot has noted: ' },
};

const day = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
const DAYS = new Intl.DateTimeFormat('en-GB', day);
const LANGUAGES = new Intl.DisplayNames('en', { type: 'language' });
const TIMES = new Intl.DateTimeFormat('en-GB', { ...day, hour: '2-digit', minute: '2-digit' });

/** What the copy may say for a leaf. */
function sayings(path: string, leaf: string | number | boolean): string[] {
  const text = String(leaf);
  if (/^\d{4}-\d\d-\d\dT/.test(text)) return [TIMES.format(new Date(text))];
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return [DAYS.format(new Date(text))];
  if (/\.language$/.test(path)) return [LANGUAGES.of(text) ?? text];
  if (text.startsWith('sha256:')) return [text.slice(7, 15)];
  if (path === 'audit_events.details.actor' && text.startsWith('key:')) return ['by the bot'];
  if (/(categories|category)$/.test(path)) return [`Category ${text}`];
  const inWords = path.startsWith('data.') && typeof leaf !== 'boolean' ? undefined : WORDS[text];
  return inWords === undefined ? [text] : [inWords];
}

type Leaf = readonly [path: string, leaf: string | number | boolean];

/** The leaves of an export with their paths. Nulls and empty lists say nothing. */
function leaves(value: unknown, path = ''): Leaf[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((each) => leaves(each, path));
  if (typeof value !== 'object') return [[path, value as Leaf[1]]];
  return Object.entries(value).flatMap(([key, each]) => leaves(each, path === '' ? key : `${path}.${key}`));
}

/** A user with everything that an export can have: an erasure, a consent in part, a refusal, values, webhook calls. */
async function lived(bot: Bot, who: SubjectIds): Promise<void> {
  const fields = [
    { ...field('word'), description_en: 'A word of yours' },
    ...[field('day', 'date'), field('flag', 'boolean'), field('number', 'number'), field('deep', 'json')],
  ];
  for (const key of ['alpha', 'beta', 'gamma'])
    await bot.hasCategory(key, fields, { description_en: `For ${key}`, retention_days: 31 });
  await bot.hasConsent(who);
  await bot.hasForgotten(who);
  const asked = { ...who, categories: ['alpha', 'beta', 'gamma'], language: 'en', source: 'button:ask' };
  const { id } = (await bot.post<{ id: string }>('/consents/request', asked)).data;
  await bot.post('/consents/accept', { consent_id: id, categories: ['alpha', 'beta'], source: 'button:yes' });
  const deep = { list: [17, null, 'inside', { last: false }], long: 'x'.repeat(2_000) };
  for (const key of ['alpha', 'beta'])
    await bot.hasData(who, key, { word: `“${key}” <b>`, day: '1986-07-16', flag: true, number: 1.5, deep });
  const details = { by: ['a <b>'], times: 3 };
  const noted = await bot.post('/audit/event', { ...who, event_type: 'data_exported', details });
  expect(noted.status).toBe(201);
  await bot.post('/consents/revoke', { ...who, categories: ['beta'] });
  const newer = { ...asked, consent_version: '2', language: 'de' };
  await bot.post('/consents/decline', {
    consent_id: (await bot.post<{ id: string }>('/consents/request', newer)).data.id,
  });
  await bot.post('/consents/revoke', who);
}

describe('the copy to read', () => {
  it('has every leaf of the JSON in words, but what its list leaves to the JSON', async () => {
    const bot = await service.registerBot({ webhook_url: 'https://example.org/hook' });
    const who = subject();
    await lived(bot, who);
    const { url } = (await bot.post<{ url: string }>('/privacy-links', { ...who, language: 'en' })).data;
    // Both say the same of the exports: the later one is made first.
    await act(url, 'export', 0);
    const json = JSON.parse((await act(url, 'export', 1)).text) as object;
    const copy = unescaped((await act(url, 'export', 0)).text);

    const found = leaves(json);
    const [, listed = ''] = copy.split('What only the JSON file has');
    for (const [, name] of TECHNICAL) expect(listed).toMatch(new RegExp(`[(, ]${name}[,)]`));
    const isTechnical = (path: string) => TECHNICAL.some(([each]) => each.test(path));
    const missing = found.filter(
      ([path, leaf]) => !isTechnical(path) && !sayings(path, leaf).every((text) => copy.includes(text)),
    );
    expect(missing).toEqual([]);
    for (const section of ['consent_history', 'consent_texts', 'audit_events', 'deletion_requests'])
      expect([section, found.some(([path]) => path.startsWith(section))]).toEqual([section, true]);
    expect(found.some(([path]) => path === 'webhook_deliveries.status')).toBe(true);
    expect(found.length).toBeGreaterThan(150);
    expect(copy).not.toMatch(/undefined|\[object|sha256:/);
  });

  it('names categories by their labels in every act: a request, an answer, a withdrawal, a restriction', async () => {
    const bot = await service.registerBot();
    const who = subject();
    await bot.hasCategory('alpha');
    await bot.hasCategory('beta');
    const asked = { ...who, consent_version: '1.0', categories: ['alpha', 'beta'], language: 'en' };
    const { id } = (await bot.post<{ id: string }>('/consents/request', asked)).data;
    await bot.post('/consents/accept', { consent_id: id });
    await bot.put('/data/categories/alpha', { label_en: 'Another word' });
    await bot.post('/consents/revoke', { ...who, categories: ['beta'] });
    await bot.post('/data/restrict', { ...who, category: 'alpha' });
    const { url } = (await bot.post<{ url: string }>('/privacy-links', { ...who, language: 'en' })).data;
    const copy = unescaped((await act(url, 'export', 0)).text);
    const [, done = ''] = copy.split('What was done so far');
    const names = done
      .split('<h4>')
      .map((each) => [...each.matchAll(/<bdi>((?:Category |Another )?(?:alpha|beta|word))<\/bdi>/g)])
      .map((found) => found.map(([, name]) => name))
      .filter(({ length }) => length > 0);
    expect(names).toEqual([
      ...[['Category alpha', 'Category beta'], ['Category alpha', 'Category beta'], ['Category beta']],
      // What is restricted is the category of today.
      ['Another word'],
    ]);
  });

  it('names the category of an act by its label of today where the user was shown several texts of the version', async () => {
    const bot = await service.registerBot();
    const who = subject();
    await bot.hasCategory('alpha');
    const asked = { ...who, consent_version: '1.0', categories: ['alpha'], language: 'en' };
    await bot.post('/consents/request', asked);
    await bot.put('/data/categories/alpha', { label_en: 'Another word' });
    const { id } = (await bot.post<{ id: string }>('/consents/request', asked)).data;
    await bot.post('/consents/accept', { consent_id: id });
    await bot.put('/data/categories/alpha', { label_en: 'Third word' });
    const { url } = (await bot.post<{ url: string }>('/privacy-links', { ...who, language: 'en' })).data;
    const [history = '', done = ''] = unescaped((await act(url, 'export', 0)).text).split(
      'What was done so far',
    );
    expect(history).toContain('<bdi>Another word</bdi>');
    expect(done).toContain('<bdi>Third word</bdi>');
    expect(done).not.toContain('<bdi>Another word</bdi>');
  });

  it.each([
    ['de', ['Kategorie alpha, warnings', 'Englisch', 'Der Bot hat vermerkt: Daten wurden exportiert']],
    ['en', ['Category alpha, warnings', 'English', 'The bot has noted: Data was exported']],
  ])(
    'has in its language %s what a store covers, the language of a text and what the bot has noted',
    async (language, said) => {
      const bot = await service.registerBot();
      const who = subject();
      await bot.hasCategory('alpha');
      const labels = { label_de: 'Datenbank', label_en: 'Database' };
      await bot.post('/holders', { key: 'own', kind: 'pull', covers: ['alpha', 'warnings'], ...labels });
      await bot.post('/consents/request', { ...who, categories: ['alpha'], language: 'en' });
      await bot.post('/audit/event', { ...who, event_type: 'data_exported' });
      const { url } = (await bot.post<{ url: string }>('/privacy-links', { ...who, language })).data;
      const copy = unescaped((await act(url, 'export', 0)).text);
      for (const text of said) expect(copy).toContain(`${text}</bdi>`);
      expect(copy).toContain(`(${said[1]})</bdi>`);
    },
  );

  it('says, like the page, which categories wait in a newer request beside a consent to everything', async () => {
    const bot = await service.registerBot();
    const who = subject();
    await bot.hasCategory('alpha');
    await bot.hasConsent(who);
    await bot.post('/consents/request', { ...who, consent_version: '2', categories: ['alpha'] });
    const about = { ...who, language: 'en', allow: ['export'] };
    const { url } = (await bot.post<{ url: string }>('/privacy-links', about)).data;
    const waits = /<li>\s*(?:<bdi>)?Category alpha(?:<\/bdi>)?:\s*asked\./;
    expect((await get(url)).text).toMatch(waits);
    expect((await act(url, 'export', 0)).text).toMatch(waits);
  });
});
