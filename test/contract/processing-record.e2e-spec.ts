import document from '../../openapi.json';
import { type Bot, field } from '../support/bot';
import { A_TEXT, A_TIME, expectFailure, expectFaults, expectSuccess } from '../support/expected';
import { UNKNOWN_UUID } from '../support/inputs';
import { Service } from '../support/service';
import { useService } from '../support/shared-service';
import { type Json, PREFIX } from '../support/client';

const service = useService();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot({ name: 'Greeter' });
});

const path = () => `/bots/${bot.id}/processing-record`;
const markdown = () => bot.get(`${path()}?format=markdown`);

describe('GET /api/v1/bots/{bot_id}/processing-record', () => {
  it('answers 200 with what Art. 30(1) asks for: controller, purposes, categories, recipients, limits, measures', async () => {
    await bot.put(`/bots/${bot.id}`, {
      privacy_contact: 'privacy@example.org',
      webhook_url: 'https://bot.example.org:8443/gdpr?token=hidden',
    });
    const purpose = { description: 'Shown on the card', retention_days: 90, legal_basis: 'contract' };
    await bot.hasCategory('profile', [field('nickname'), field('born', 'date')], purpose);
    await bot.hasCategory('levels');
    const answer = await bot.get(path());
    expectSuccess(answer, 200, {
      generated_at: A_TIME,
      controller: {
        bot_id: bot.id,
        platform_bot_id: bot.platformBotId,
        name: 'Greeter',
        privacy_contact: 'privacy@example.org',
      },
      data_subjects: A_TEXT,
      recipients: [
        { recipient: A_TEXT, host: null, receives: A_TEXT },
        { recipient: A_TEXT, host: 'bot.example.org:8443', receives: A_TEXT },
      ],
      transfers: A_TEXT,
      time_limits: [30, 1095, 30, null, 35].map((days) => ({ applies_to: A_TEXT, days })),
      security_measures: expect.arrayContaining([A_TEXT]) as unknown,
      activities: [
        {
          category: 'levels',
          label_de: 'Kategorie levels',
          label_en: 'Category levels',
          purpose: null,
          legal_basis: 'consent',
          retention_days: null,
          fields: [{ ...field('value'), description: null }],
        },
        {
          category: 'profile',
          label_de: 'Kategorie profile',
          label_en: 'Category profile',
          purpose: 'Shown on the card',
          legal_basis: 'contract',
          retention_days: 90,
          fields: [field('nickname'), field('born', 'date')].map((one) => ({ ...one, description: null })),
        },
      ],
    });
    expect(answer.text).not.toContain('hidden');
  });

  it('has each purpose in both languages, of a field too, where they are declared', async () => {
    const meaning = { description_de: 'Wie du heißt', description_en: 'How you are called' };
    await bot.hasCategory('profile', [{ ...field('value'), ...meaning }], {
      ...{ description: 'Any', description_de: 'Zum Gruß', description_en: 'To greet' },
    });
    await bot.hasCategory('german', [field('value')], { description: 'Any', description_de: 'Nur so' });
    const { data } = await bot.get<{ activities: Json[] }>(path());
    const [german, profile] = data.activities;
    expect(german).toMatchObject({ purpose: 'Any', purpose_de: 'Nur so' });
    expect(german).not.toHaveProperty('purpose_en');
    expect(profile).toMatchObject({
      ...{ purpose: 'To greet', purpose_de: 'Zum Gruß', purpose_en: 'To greet', fields: [meaning] },
    });
    const { text } = await markdown();
    expect(text).toContain('- Purpose: To greet / Zum Gruß\n');
    expect(text).toContain('- Purpose: Any / Nur so\n');
    expect(text).toContain('| How you are called / Wie du heißt |');
  });

  it('has labels and purposes in further languages, and what users may correct, in fields that its schema declares', async () => {
    const meaning = { description_de: 'Wozu', descriptions: { fr: 'Pour saluer' } };
    const words = { labels: { fr: 'Profil' }, ...meaning };
    await bot.hasCategory('profile', [{ ...field('value', 'string', { editable: true }), ...words }], words);
    const { data } = await bot.get<{ activities: [Json & { fields: [Json] }] }>(path());
    const [activity] = data.activities;
    expect(activity).toMatchObject({ labels: words.labels, purposes: meaning.descriptions });
    expect(activity.fields[0]).toMatchObject(words);
    const { ActivityView, FieldView } = document.components.schemas;
    expect(Object.keys(ActivityView.properties)).toEqual(expect.arrayContaining(Object.keys(activity)));
    expect(Object.keys(FieldView.properties)).toEqual(
      expect.arrayContaining(Object.keys(activity.fields[0])),
    );
  });

  it('answers 200 with no activities where nothing is declared, and one recipient without a webhook URL', async () => {
    const { data } = await bot.get<{ activities: unknown[]; recipients: unknown[] }>(path());
    expect(data.activities).toStrictEqual([]);
    expect(data.recipients).toHaveLength(1);
    expect((await markdown()).text).toContain('No data category is declared');
  });

  it('has every category, also where there are more than are read at once', async () => {
    const keys = Array.from({ length: 45 }, (_, index) => `c${String(index).padStart(2, '0')}`);
    await Promise.all(keys.map((key) => bot.hasCategory(key)));
    const { data } = await bot.get<{ activities: { category: string }[] }>(path());
    expect(data.activities.map(({ category }) => category)).toStrictEqual(keys);
    const { text } = await markdown();
    for (const key of keys) expect(text).toContain(`- Key: ${key}\n`);
  });

  it.each([
    ['?format=markdown', undefined, 'text/markdown; charset=utf-8'],
    ['?format=markdown', 'application/json', 'text/markdown; charset=utf-8'],
    ['', 'text/markdown', 'text/markdown; charset=utf-8'],
    ['', 'text/markdown;q=0.9, application/json;q=0.5', 'text/markdown; charset=utf-8'],
    ['', 'text/markdown;q=0.5, application/json', 'application/json; charset=utf-8'],
    ['', '*/*', 'application/json; charset=utf-8'],
    ['', undefined, 'application/json; charset=utf-8'],
    ['', 'image/png', 'application/json; charset=utf-8'],
    ['?format=json', 'text/markdown', 'application/json; charset=utf-8'],
    ['?format=html', undefined, 'text/html; charset=utf-8'],
    ['', 'text/html,application/xhtml+xml,*/*;q=0.8', 'text/html; charset=utf-8'],
  ])('asked for with %j and Accept %j is %s', async (query, accept, type) => {
    const answer = await bot.get(path() + query, accept === undefined ? {} : { accept });
    expect({ status: answer.status, type: answer.header('content-type') }).toStrictEqual({
      status: 200,
      type,
    });
    expect(answer.text.startsWith('# Record of processing activities\n')).toBe(
      type.startsWith('text/markdown'),
    );
  });

  it("shows the bot's own texts as texts: nothing in them is Markdown or HTML, or begins a line", async () => {
    const hostile =
      '# x | y <img src=x onerror=alert(1)> [a](javascript:b) **c** `d`\n\n## Fake heading\u202e';
    await bot.put(`/bots/${bot.id}`, { name: hostile.slice(0, 99) });
    await bot.post('/data/register', {
      key: 'profile',
      label_de: hostile,
      label_en: hostile,
      description: hostile,
      fields: [{ ...field('value'), label_de: hostile, label_en: hostile, description: hostile }],
    });
    const { text } = await markdown();
    expect(text).toContain('\\# x \\| y \\<img src\\=x onerror\\=alert\\(1\\)\\>');
    expect(text).not.toMatch(/(?<!\\)[<`[]|(?<!\\)\*\*|\u202e|^## Fake/m);
    const rows = text.split('\n').filter((line) => line.startsWith('| value'));
    expect(rows).toHaveLength(1);
    expect(rows[0]?.match(/(?<!\\)\|/g)).toHaveLength(6);
  });

  it('escapes addresses of the web and of mail, of which readers make links', async () => {
    await bot.hasCategory('profile', [field('value')], {
      description: 'www.evil.example, x@y.example, WWW.a',
    });
    expect((await markdown()).text).toContain('- Purpose: www\\.evil.example, x\\@y.example, WWW\\.a\n');
  });

  it('says so where data outlives the withdrawal of its consent', async () => {
    const other = await new Service({
      REVOKED_DATA_GRACE_DAYS: 'off',
      EVIDENCE_RETENTION_DAYS: '400',
    }).start();
    const its = await other.registerBot();
    const { text } = await its.get(`/bots/${its.id}/processing-record?format=markdown`);
    await other.stop();
    expect(text).toMatch(/after its withdrawal: no limit by time\n/);
    expect(text).toMatch(/audit events: 400 days\n/);
  });

  it.each(['xml', '', 'MARKDOWN'])('answers 400 naming format when it is %j', async (format) => {
    expectFaults(await bot.get(`${path()}?format=${format}`), 'format');
  });

  it('answers 400 for a bot_id that is no UUID', async () => {
    expectFaults(await bot.get('/bots/1/processing-record'), 'bot_id');
  });

  it('answers the identical 404 for another bot and for none, in the envelope also where Markdown is asked for', async () => {
    const other = await service.registerBot();
    for (const query of ['', '?format=markdown']) {
      const refused = await bot.get(`/bots/${other.id}/processing-record${query}`);
      expectFailure(refused, 404, 'not_found');
      expect(refused.text).toBe((await bot.get(`/bots/${UNKNOWN_UUID}/processing-record${query}`)).text);
    }
  });

  it('answers 401 without a key', async () => {
    expectFailure(await service.anonymous.send('GET', PREFIX + path()), 401, 'unauthorized');
  });

  it('carries the headers of every answer as Markdown too', async () => {
    const answer = await markdown();
    for (const name of ['x-request-id', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
      expect(answer.header(name)).toBeDefined();
  });

  it('shows no category of another bot', async () => {
    const other = await service.registerBot();
    await other.hasCategory('theirs');
    expect((await bot.get(path())).text).not.toContain('theirs');
  });
});
