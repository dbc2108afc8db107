import { type Bot, field } from '../support/bot';
import type { Json } from '../support/client';
import { category, expectFailure, expectFaults, expectSuccess } from '../support/expected';
import { useService } from '../support/shared-service';
import { subject } from '../support/snowflakes';

const service = useService();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot();
});

const LABELS = { fr: 'Profil (fr)', pt: 'Perfil', 'zh-Hant': '個人資料' };
const valid = (more: Json = {}): Json => ({
  key: 'profile',
  label_de: 'Profil',
  label_en: 'Profile',
  labels: LABELS,
  fields: [{ ...field('value'), labels: { fr: 'Valeur' }, description: null }],
  ...more,
});
const register = (more: Json = {}) => bot.post('/data/register', valid(more));
const read = () => bot.get('/data/categories/profile');

interface Asked {
  readonly version: string;
  readonly texts: { readonly title: string; readonly categories: readonly { key: string; label: string }[] };
}
const ask = (language?: string, keys: readonly string[] = ['profile']) =>
  bot.post<Asked>('/consents/request', {
    ...subject(),
    bot_id: bot.id,
    guild_id: undefined,
    categories: keys,
    language,
  });
const labelsIn = async (language?: string, keys?: readonly string[]) =>
  (await ask(language, keys)).data.texts.categories.map(({ label }) => label);

describe('the labels of a category in further languages', () => {
  it('are answered and listed as they were given, and are left out where none are', async () => {
    expectSuccess(await register(), 201, category(valid()));
    expectSuccess(await read(), 200, category(valid()));
    const list = await bot.get<{ categories: Json[] }>('/data/categories');
    expect(list.data.categories).toStrictEqual([category(valid())]);
    const bare = await register({ key: 'bare', labels: undefined });
    expect(bare.data).not.toHaveProperty('labels');
  });

  it('are replaced and removed by a change, and kept where it does not name them', async () => {
    await register();
    const change = (body: Json) => bot.put('/data/categories/profile', body);
    expectSuccess(await change({ label_de: 'Neu' }), 200, category(valid({ label_de: 'Neu' })));
    expect((await change({ labels: { it: 'Profilo' } })).data['labels']).toStrictEqual({ it: 'Profilo' });
    expect((await change({ labels: null })).data).not.toHaveProperty('labels');
    expect((await read()).data).not.toHaveProperty('labels');
  });

  it('of a field stay where a change does not mention them, as its description does, and end with null', async () => {
    const all = { labels: { fr: 'Valeur' }, description: 'Why' };
    await register({ fields: [{ ...field('value'), ...all }] });
    const change = async (more: Json) => {
      const fields = [{ ...field('value'), label_en: 'New', ...more }, field('other')];
      return (await bot.put<{ fields: Json[] }>('/data/categories/profile', { fields })).data.fields[0];
    };
    expect(await change({})).toStrictEqual({ ...field('value'), label_en: 'New', ...all });
    expect(await change({ labels: { it: 'Valore' } })).toMatchObject({ labels: { it: 'Valore' } });
    expect(await change({ labels: null, description: null })).toStrictEqual({
      ...{ ...field('value'), label_en: 'New', description: null },
    });
  });

  it.each([
    ['an empty object', {}],
    ['a list', ['fr']],
    ['a text', 'fr'],
    ['German, which has a label of its own', { de: 'Profil' }],
    ['English, which has a label of its own', { fr: 'Profil', en: 'Profile' }],
    ['no language tag', { french: 'Profil' }],
    ['a tag in another case', { FR: 'Profil' }],
    ['a name of JavaScript', JSON.parse('{"__proto__":"Profil"}')],
    ['an empty label', { fr: '' }],
    ['a label that is no text', { fr: 1 }],
    ['51 languages', Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`de-a${1000 + at}`, 'x']))],
  ])('are refused with 400 for %s', async (_, labels) => {
    expectFaults(await register({ labels }), 'labels');
    expectFaults(await register({ fields: [{ ...field('value'), labels }] }), 'fields[0].labels');
    expectFailure(await read(), 404, 'not_found');
  });

  it('count towards the size of a declaration', async () => {
    const labels = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [`de-a${1000 + at}`, 'x'.repeat(2_000)]),
    );
    expectFailure(await register({ labels }), 413, 'payload_too_large');
  });

  it('are taken in the shape with bot_id', async () => {
    const body = { bot_id: bot.id, categories: [{ name: 'levels', labels: { fr: 'Niveaux' } }] };
    const { data } = await bot.post<{ categories: Json[] }>('/data/register', body);
    expect(data.categories[0]).toMatchObject({ labels: { fr: 'Niveaux' } });
  });

  it('are shown where a request names the language, or a part of its tag; else the English ones', async () => {
    await register();
    await bot.hasCategory('notes');
    expect(await labelsIn('fr', ['profile', 'notes'])).toStrictEqual(['Profil (fr)', 'Category notes']);
    expect(await labelsIn('pt-BR')).toStrictEqual(['Perfil']);
    expect(await labelsIn('zh-Hant')).toStrictEqual(['個人資料']);
    expect(await labelsIn('de')).toStrictEqual(['Profil']);
    expect(await labelsIn()).toStrictEqual(['Profile']);
    const [french, english] = [await ask('fr'), await ask('en')];
    expect(french.data.texts.title).toBe(english.data.texts.title);
    expect(await labelsIn('zh-Hans')).toStrictEqual(['Profile']);
    expect((await ask('fr', ['notes'])).data.texts).toStrictEqual((await ask('en', ['notes'])).data.texts);
  });

  it('are part of the declaration: with others a request has another version', async () => {
    await register();
    const before = (await ask()).data.version;
    await bot.put('/data/categories/profile', { labels: { fr: 'Autre' } });
    expect((await ask()).data.version).not.toBe(before);
  });

  it('are in the receipt and in the full export', async () => {
    await register();
    const who = subject();
    await bot.hasRequest(who);
    const { data } = await bot.post<{ receipt: string }>('/consents/accept', {
      ...who,
      consent_version: '1.0',
    });
    const payload = Buffer.from(data.receipt.split('.')[1]!, 'base64url').toString();
    const { pii_processing: processing } = JSON.parse(payload) as { pii_processing: { purposes: Json[] } };
    expect(processing.purposes[0]).toMatchObject({
      purpose_label: { de: 'Profil', en: 'Profile', ...LABELS },
      pii_information: [{ pii_type_label: { fr: 'Valeur' } }],
    });
    await bot.hasData(who, 'profile', { value: 'a' });
    const full = await bot.export<{ categories: Json[] }>(who, '&format=full');
    expect(full.data.categories[0]).toMatchObject({ labels: LABELS, fields: [{ labels: { fr: 'Valeur' } }] });
  });
});

const PURPOSES = {
  description: 'Greeting',
  description_de: 'Damit wir dich begrüßen',
  description_en: 'To greet you',
  descriptions: { fr: 'Pour te saluer' },
};
const OF_THE_FIELD = { ...PURPOSES, description_en: 'Your name', descriptions: { fr: 'Ton nom' } };
const described = (more: Json = {}): Json =>
  valid({ ...PURPOSES, fields: [{ ...field('value'), ...OF_THE_FIELD }], ...more });

describe('the purpose of a category in several languages', () => {
  const textIn = async (language?: string) => {
    const { data } = await ask(language);
    return (data.texts.categories[0] as { text?: string }).text?.split('. ')[0];
  };

  it('is answered and listed as it was given, of a field too', async () => {
    expectSuccess(await bot.post('/data/register', described()), 201, category(described()));
    expectSuccess(await read(), 200, category(described()));
    const list = await bot.get<{ categories: Json[] }>('/data/categories');
    expect(list.data.categories).toStrictEqual([category(described())]);
    const body = { bot_id: bot.id, categories: [{ name: 'levels', ...PURPOSES }] };
    const { data } = await bot.post<{ categories: Json[] }>('/data/register', body);
    expect(data.categories[0]).toMatchObject(PURPOSES);
  });

  it('is nowhere where none is declared', async () => {
    const bare = JSON.stringify([(await register()).text, (await read()).text, (await ask()).text]);
    expect(bare).not.toMatch(/description_|descriptions/);
  });

  it('stays where a change does not mention it, of a field too, and ends with null', async () => {
    await bot.post('/data/register', described());
    const change = (body: Json) => bot.put('/data/categories/profile', body);
    const fields = [field('value')];
    expectSuccess(await change({ description: 'New' }), 200, category(described({ description: 'New' })));
    expectSuccess(await change({ fields }), 200, category(described({ description: 'New' })));
    const german = { description_de: 'Neu' };
    expectSuccess(await change({ ...german, description: 'Greeting' }), 200, category(described(german)));
    const none = { description_de: null, description_en: null, descriptions: null };
    const { data } = await change({ ...none, fields: [{ ...field('value'), ...none }] });
    const { description } = PURPOSES;
    const bare = [{ ...field('value'), description }];
    expect(data).toStrictEqual(category(valid({ description, fields: bare })));
  });

  it('has the limits of a description', async () => {
    const refused = async (name: string, value: unknown) => {
      expectFaults(await register({ [name]: value }), name);
      expectFaults(await register({ fields: [{ ...field('value'), [name]: value }] }), `fields[0].${name}`);
    };
    for (const name of ['description_de', 'description_en'])
      for (const value of ['\u200b', 1, {}]) await refused(name, value);
    for (const value of [{}, { de: 'Deutsch' }, { french: 'x' }, { fr: '' }])
      await refused('descriptions', value);
    expectFailure(await read(), 404, 'not_found');
    const long = { description_de: 'x'.repeat(10_000), description_en: 'x'.repeat(10_000) };
    expectFailure(
      await register({ ...long, descriptions: { fr: 'é'.repeat(10_000) } }),
      413,
      'payload_too_large',
    );
    expectSuccess(await register({ description_de: '' }), 201, category(valid({ description_de: '' })));
  });

  it('is asked for in the language of the request, else in English, else in the one without a language', async () => {
    await bot.post('/data/register', described());
    expect(await textIn('de')).toBe('Damit wir dich begrüßen');
    expect(await textIn('fr-CA')).toBe('Pour te saluer');
    expect(await textIn('pt')).toBe('To greet you');
    await bot.put('/data/categories/profile', { description_en: null });
    expect(await textIn()).toBe('Greeting');
    await bot.put('/data/categories/profile', { description: null });
    expect(await textIn()).toBe('Damit wir dich begrüßen');
    await bot.put('/data/categories/profile', { description: 'Greeting', description_de: '' });
    expect(await textIn('de')).toBe('Greeting');
    await bot.put('/data/categories/profile', { description: '', description_de: 'Zum Begrüßen' });
    expect(await textIn('en')).toBe('Zum Begrüßen');
  });

  it.each(Object.keys(PURPOSES))(
    'is part of the declaration: with another %s the version is another',
    async (name) => {
      await bot.post('/data/register', described());
      const before = (await ask()).data.version;
      const value = name === 'descriptions' ? { fr: 'Autre' } : 'Other';
      await bot.put('/data/categories/profile', { [name]: value });
      const changed = (await ask()).data.version;
      expect(changed).not.toBe(before);
      await bot.put('/data/categories/profile', { fields: [{ ...field('value'), [name]: value }] });
      expect((await ask()).data.version).not.toBe(changed);
    },
  );

  it('is in the receipt, in the language of the request and in all, and in the full export', async () => {
    await bot.post('/data/register', described());
    const who = subject();
    const { data: asked } = await bot.post<{ consent_id: string }>('/consents/request', {
      ...{ ...who, categories: ['profile'], language: 'de' },
    });
    const { data } = await bot.post<{ receipt: string }>('/consents/accept', {
      consent_id: asked.consent_id,
    });
    const payload = Buffer.from(data.receipt.split('.')[1]!, 'base64url').toString();
    const { pii_processing: processing } = JSON.parse(payload) as { pii_processing: { purposes: Json[] } };
    expect(processing.purposes[0]).toMatchObject({
      purpose_description: 'Damit wir dich begrüßen',
      purpose_descriptions: { de: 'Damit wir dich begrüßen', en: 'To greet you', fr: 'Pour te saluer' },
    });
    await bot.hasData(who, 'profile', { value: 'a' });
    const full = await bot.export<{ categories: Json[] }>(who, '&format=full');
    expect(full.data.categories[0]).toMatchObject({ ...PURPOSES, fields: [OF_THE_FIELD] });
  });
});
