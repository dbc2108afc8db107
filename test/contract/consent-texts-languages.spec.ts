import type { Bot } from '../support/bot';
import type { Json } from '../support/client';
import { A_DIGEST, A_TIME, expectFailure, expectFaults, expectSuccess } from '../support/expected';
import { useService } from '../support/shared-service';
import { subject } from '../support/snowflakes';

const service = useService();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot();
});

const GERMAN = { title: 'Dürfen wir?', body: 'Wir speichern deinen Spitznamen.', categories: [] };
const FRENCH = {
  title: 'Pouvons-nous ?',
  body: 'Nous gardons ton pseudo.',
  categories: [],
  accept_label: 'Oui',
};
const ITALIAN = {
  title: 'Possiamo?',
  body: 'Conserviamo il tuo soprannome.',
  categories: [],
  jurisdiction: 'IT',
};
const register = (texts: unknown, more: Json = {}) =>
  bot.post('/consents/texts', { consent_version: '1', language: 'de', ...GERMAN, texts, ...more });
const shown = (language: string, text: Json) => ({
  ...{ consent_version: '1', language, digest: A_DIGEST, ...text, created_at: A_TIME },
});
const listed = async () => (await bot.get<{ texts: Json[] }>('/consents/texts')).data.texts;

describe('POST /api/v1/consents/texts with texts in further languages', () => {
  it('registers each as a text of its own, and answers all, again for a repeat', async () => {
    const all = { ...shown('de', GERMAN), texts: { it: shown('it', ITALIAN), fr: shown('fr', FRENCH) } };
    expectSuccess(await register({ it: ITALIAN, fr: FRENCH }), 201, all);
    expectSuccess(await register({ it: ITALIAN, fr: FRENCH }), 201, all);
    expect(await listed()).toStrictEqual([shown('de', GERMAN), shown('fr', FRENCH), shown('it', ITALIAN)]);
    expectSuccess(await register(undefined), 201, shown('de', GERMAN));
  });

  it('shows the one that a request names', async () => {
    await bot.hasCategory('profile');
    await register({ fr: FRENCH });
    const body = { ...subject(), consent_version: '1', categories: ['profile'], language: 'fr' };
    expect((await bot.post('/consents/request', body)).data['texts']).toStrictEqual(FRENCH);
  });

  it('registers none when one is refused', async () => {
    await register(undefined, { language: 'fr', ...FRENCH });
    const other = await register({ it: ITALIAN, fr: { ...FRENCH, body: 'Autre' } });
    expectFailure(other, 409, 'conflict', { reason: 'text_exists' });
    const large = { ...ITALIAN, body: 'x'.repeat(20_000), withdrawal_method: 'é'.repeat(1_000) };
    const categories = [1, 2].map((key) => ({ key: `${key}`, label: 'l', text: 'x'.repeat(9_000) }));
    expectFailure(await register({ it: { ...large, categories } }), 413, 'payload_too_large');
    expect(await listed()).toStrictEqual([shown('fr', FRENCH)]);
  });

  it('names every bad field by its path', async () => {
    const bad = {
      fr: { title: '' },
      it: { ...ITALIAN, categories: [{}] },
      Italian: ITALIAN,
      de: GERMAN,
      nl: 'x',
    };
    expectFaults(
      await register(bad),
      ...['texts.fr.title', 'texts.fr.body', 'texts.Italian', 'texts.de', 'texts.nl'],
      ...['texts.it.categories[0].key', 'texts.it.categories[0].label', 'texts.it.categories[0].text'],
    );
    for (const texts of [[], 'fr', 1]) expectFaults(await register(texts), 'texts');
    expect(await listed()).toStrictEqual([]);
  });

  it('answers 409 too_many_languages for more than 50, and keeps none', async () => {
    const tags = Array.from({ length: 50 }, (_, at) => [`de-a${1000 + at}`, { title: 'a', body: 'b' }]);
    const refused = await register(Object.fromEntries(tags));
    expectFailure(refused, 409, 'conflict', { reason: 'too_many_languages' });
    expect(await listed()).toStrictEqual([]);
  });

  it('is done once for an Idempotency-Key, and its whole answer is replayed', async () => {
    const body = { consent_version: '1', language: 'de', ...GERMAN, texts: { fr: FRENCH } };
    const send = () => bot.post('/consents/texts', body, { 'idempotency-key': 'x' });
    const [first, second] = [await send(), await send()];
    expect([second.text, second.header('idempotent-replayed')]).toStrictEqual([first.text, 'true']);
  });
});
