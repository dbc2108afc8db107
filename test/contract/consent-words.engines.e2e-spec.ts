import { hash } from 'node:crypto';
import { Bot, field } from '../support/bot';
import type { Json } from '../support/client';
import { expectFailure, expectFaults, expectSuccess } from '../support/expected';
import { Service } from '../support/service';
import { useService } from '../support/shared-service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useService();
let bot: Bot;
let who: SubjectIds;
beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
});

interface Entry {
  readonly action: string;
  readonly texts: readonly { language: string; digest: string }[];
}

const ask = async (categories: readonly string[], more: Json = {}, whom = who) => {
  const body = { ...whom, consent_version: '1.0', categories, ...more };
  return (await bot.post<{ texts: Json }>('/consents/request', body)).data.texts;
};
const accept = () => bot.post('/consents/accept', { ...who, consent_version: '1.0' });
const words = (digest: string, of: Bot = bot) => of.get(`/consents/texts/${digest}`);
const kept = () => service.database.rows('SELECT 1 FROM consent_words WHERE bot_id = ?', bot.id);

/** The digests of the texts of some actions, oldest first. */
async function shownBy(...actions: string[]): Promise<string[]> {
  const query = `user_id=${who.user_id}&guild_id=${who.guild_id}&page_size=100`;
  const { entries } = (await bot.get<{ entries: Entry[] }>(`/consents/history?${query}`)).data;
  return entries
    .filter(({ action }) => actions.includes(action))
    .flatMap(({ texts }) => texts.map(({ digest }) => digest))
    .reverse();
}

describe('the words that Lethe has made of categories', () => {
  it('are answered for the digest that the acceptance names, after every change of what they were made of', async () => {
    for (const key of ['profile', 'notes']) await bot.hasCategory(key);
    const texts = await ask(['notes', 'profile']);
    await accept();
    await bot.put('/data/categories/notes', { label_en: 'Other', retention_days: 30 });
    await bot.put(`/bots/${bot.id}`, { name: 'Renamed' });
    await bot.delete('/data/categories/profile');
    const [digest] = await shownBy('accepted');
    expectSuccess(await words(digest!), 200, { digest, ...texts });
  });

  it('name the purpose, the fields and the retention of each category in the language, and no fields where it has none', async () => {
    const french = { ...field('day', 'date'), labels: { fr: 'Jour' } };
    const fields = [french, field('place')];
    await bot.hasCategory('birthday', fields);
    await bot.put('/data/categories/birthday', { description: 'To congratulate you', retention_days: 30 });
    await bot.hasCategory('notes', [field('text')]);
    const body = {
      bot_id: bot.platformBotId,
      categories: [{ name: 'levels', description: 'Why?', retention_days: 1 }],
    };
    expect(await bot.post('/data/register', body)).toMatchObject({ status: 201 });
    const keys = ['birthday', 'notes', 'levels'];
    const textsIn = async (language: string) => {
      const { categories } = (await ask(keys, { language })) as unknown as { categories: { text: string }[] };
      return categories.map(({ text }) => text);
    };
    expect(await textsIn('en')).toEqual([
      'To congratulate you. Data: Field day, Field place. Kept for 30 days after the last change.',
      'Data: Field text. Kept until you have it erased, or until 30 days after you withdraw your consent.',
      'Why? Kept for 1 day after the last change.',
    ]);
    expect((await textsIn('de')).slice(1)).toEqual([
      'Daten: Feld text. Wird gespeichert, bis du die Löschung verlangst oder bis 30 Tage nach deinem Widerruf.',
      'Why? Wird nach der letzten Änderung noch einen Tag gespeichert.',
    ]);
  });

  it.each([
    ['0', 'Kept until you withdraw your consent or have it erased.', 'until_withdrawn'],
    ['1', 'or until one day after you withdraw your consent.', 'until_P1D_after_withdrawal'],
    ['off', 'Kept until you have it erased.', 'until_erased'],
  ])(
    'stay as they were shown when REVOKED_DATA_GRACE_DAYS becomes %s, and are others from then on',
    async (days, said, period) => {
      const one = await new Service().start();
      bot = await one.registerBot();
      const { id, platformBotId: platform_bot_id, name, key: api_key, webhookSecret: webhook_secret } = bot;
      await bot.hasCategory('notes');
      const texts = await ask(['notes']);
      await accept();
      const [digest] = await shownBy('accepted');
      await one.app.close();
      const again = await new Service({ REVOKED_DATA_GRACE_DAYS: days }, one.database).start();
      bot = new Bot(again.url, { id, platform_bot_id, name, api_key, api_key_prefix: '', webhook_secret });
      expectSuccess(await words(digest!), 200, { digest, ...texts });
      expect(await shownBy('accepted')).toEqual([digest]);
      expect(JSON.stringify(texts)).toContain('until 30 days after you withdraw your consent.');
      const query = `user_id=${who.user_id}&guild_id=${who.guild_id}`;
      const { data } = await bot.get(`/consents/receipt?${query}`);
      expect(JSON.stringify(data)).toContain(`"retention_period":"${period}"`);
      expect(JSON.stringify(await ask(['notes'], {}, subject()))).toContain(said);
      await again.app.close();
      await one.remove();
    },
  );

  it('are kept in each language and form that was shown, with the parts that they share once', async () => {
    for (const key of ['a', 'b', 'c']) await bot.hasCategory(key);
    const texts = [await ask(['a', 'b'])];
    // The text, its frame and two categories.
    expect(await kept()).toHaveLength(4);
    texts.push(await ask(['b', 'a']));
    expect(await kept()).toHaveLength(5);
    await ask(['a', 'b'], {}, subject());
    expect(await kept()).toHaveLength(5);
    texts.push(await ask(['a', 'b', 'c'], { language: 'de' }));
    const digests = await shownBy('requested', 'shown');
    expect(digests).toHaveLength(3);
    for (const [at, digest] of digests.entries())
      expectSuccess(await words(digest), 200, { digest, ...texts[at] });
  });

  it('are kept by simultaneous requests once', async () => {
    for (const key of ['a', 'b']) await bot.hasCategory(key);
    const asked = await Promise.all(
      Array.from({ length: 12 }, (_, at) => ask(at % 2 === 0 ? ['a', 'b'] : ['b', 'a'], {}, subject())),
    );
    expect(asked.every((texts) => texts !== undefined)).toBe(true);
    expect(await kept()).toHaveLength(5);
  });

  it('are in the full export, each once, with the registered ones', async () => {
    await bot.hasCategory('a');
    const made = await ask(['a']);
    await accept();
    const text = { title: 'x', body: 'y', categories: [], jurisdiction: 'DE' };
    await bot.post('/consents/texts', { consent_version: '2', language: 'en', ...text });
    await bot.hasConsent(who, '2');
    const { data } = await bot.export<{ consent_texts: Json[] }>(who, '&format=full');
    const texts = data.consent_texts.map((each) => {
      const rest = { ...each };
      delete rest['digest'];
      return rest;
    });
    expect(texts).toStrictEqual([made, text]);
    for (const { digest, ...rest } of data.consent_texts) expect(digest).toBe(digestOf(rest));
  });

  it('outlive an erasure, since they name no user, and are removed with the bot', async () => {
    await bot.hasCategory('a');
    await ask(['a']);
    const [digest] = await shownBy('requested');
    await bot.hasForgotten(who);
    expect((await words(digest!)).status).toBe(200);
    await bot.delete(`/bots/${bot.id}`);
    expect(await kept()).toStrictEqual([]);
  });
});

describe('GET /api/v1/consents/texts/{digest}', () => {
  it('answers a registered text with its notice', async () => {
    const text = { title: 'x', body: 'y', categories: [], accept_label: 'Ja', jurisdiction: 'DE' };
    const given = { consent_version: '1', language: 'de', ...text };
    const { digest } = (await bot.post<{ digest: string }>('/consents/texts', given)).data;
    expectSuccess(await words(digest), 200, { digest, ...text });
  });

  it('answers 404 for an unknown digest, for that of a part, and for that of another bot', async () => {
    await bot.hasCategory('a');
    await ask(['a']);
    const [digest] = await shownBy('requested');
    const rows = await service.database.rows<{ digest: string }>(
      'SELECT digest FROM consent_words WHERE bot_id = ?',
      bot.id,
    );
    for (const row of rows)
      if (row.digest !== digest) expectFailure(await words(row.digest), 404, 'not_found');
    expectFailure(await words(`sha256:${'0'.repeat(64)}`), 404, 'not_found');
    expectFailure(await words(digest!, await service.registerBot()), 404, 'not_found');
  });

  it.each(['x', 'sha256:', `sha256:${'A'.repeat(64)}`])('answers 400 for %s', async (digest) => {
    expectFaults(await words(digest), 'digest');
  });
});

/** The recipe of docs/consent.md: sorted keys, no white space, UTF-8. */
function digestOf(text: Json): string {
  const inOrder = (_: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return `sha256:${hash('sha256', Buffer.from(JSON.stringify(text, inOrder)), 'hex')}`;
}
