import { type Bot, field } from '../support/bot';
import { PREFIX } from '../support/client';
import { exportRecord, expectFailure, expectFaults, expectSuccess } from '../support/expected';
import { BAD_SNOWFLAKE_TEXTS } from '../support/inputs';
import { useService } from '../support/shared-service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useService();
let bot: Bot;
let who: SubjectIds;
beforeEach(async () => {
  bot = await service.registerBot({ name: 'Exporter' });
  who = subject();
});

describe('GET /api/v1/data/export/{user_id}', () => {
  it('answers 200 with the export record: bot, consent and all values by category', async () => {
    await bot.hasCategory('profile', [field('name'), field('age', 'number')]);
    await bot.hasCategory('settings', [field('prefs', 'json')]);
    await bot.hasCategory('unused');
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { name: 'Ada', age: 36 });
    await bot.hasData(who, 'settings', { prefs: { theme: 'dark', list: [1, null] } });
    const data = {
      profile: { name: 'Ada', age: 36 },
      settings: { prefs: { theme: 'dark', list: [1, null] } },
    };
    expectSuccess(await bot.export(who), 200, exportRecord(who, bot, { data }));
  });

  it('answers the fields in the order of the contract', async () => {
    await bot.hasConsent(who);
    const { data } = await bot.export(who);
    expect(Object.keys(data)).toStrictEqual(['userId', 'guildId', 'exportedAt', 'bot', 'consent', 'data']);
  });

  it('answers 200 with a consent and no data', async () => {
    await bot.hasConsent(who);
    expectSuccess(await bot.export(who), 200, exportRecord(who, bot));
  });

  it('answers 200 with a pending request, which has no acceptedAt', async () => {
    await bot.hasRequest(who, '7');
    const consent = { status: 'pending', version: '7', acceptedAt: null };
    expectSuccess(await bot.export(who), 200, exportRecord(who, bot, { consent }));
  });

  it('answers 500 where a value is not encrypted, and shows nothing of it; stored anew it is whole', async () => {
    await bot.hasCategory('profile', [field('value'), field('extra')]);
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'x' });
    const sql = 'UPDATE user_data SET value = ? WHERE bot_id = ? AND user_id = ?';
    const { user_id: userId } = service.stored(bot, who);
    await service.database.run(sql, '{"value":"not encrypted"}', bot.id, userId);
    const refused = await bot.export(who);
    expectFailure(refused, 500, 'internal_error');
    expect(refused.text).not.toContain('not encrypted');
    const merged = { ...who, category: 'profile', data: { extra: 'y' }, mode: 'merge' };
    expectFailure(await bot.post('/data/submit', merged), 500, 'internal_error');
    await bot.hasData(who, 'profile', { value: 'y' });
    expect((await bot.export(who)).data).toMatchObject({ data: { profile: { value: 'y' } } });
  });

  it('answers 200 after a revocation, with the data and the acceptedAt of then', async () => {
    await bot.hasCategory('profile');
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'x' });
    const before = (await bot.export<{ consent: object }>(who)).data.consent;
    await bot.hasRevoked(who);
    const consent = { ...before, status: 'revoked' };
    expectSuccess(
      await bot.export(who),
      200,
      exportRecord(who, bot, { consent, data: { profile: { value: 'x' } } }),
    );
  });

  it('answers the name that the bot has now', async () => {
    await bot.hasConsent(who);
    await bot.put(`/bots/${bot.id}`, { name: 'Renamed' });
    expect((await bot.export(who)).data).toMatchObject({ bot: { id: bot.id, name: 'Renamed' } });
  });

  it('answers 404 when nothing is held', async () => {
    expectFailure(await bot.export(who), 404, 'not_found');
  });

  it.each(['', '&format=full'])('records nothing for HEAD, which has no body (%j)', async (more) => {
    const path = (query: string) => `${PREFIX}/data/export/${who.user_id}?${query}${more}`;
    const headsOf = async () => {
      const heads = [];
      for (const query of [`guild_id=${who.guild_id}`, 'scope=all_guilds'])
        heads.push(await bot.send('HEAD', path(query)));
      return heads.map((head) => [head.status, head.text, head.header('content-type')]);
    };
    const type = 'application/json; charset=utf-8';
    expect(await headsOf()).toStrictEqual(Array(2).fill([404, '', type]));
    await bot.hasConsent(who);
    const before = await bot.eventTypes(who);
    expect(await headsOf()).toStrictEqual(Array(2).fill([200, '', type]));
    expect(await bot.eventTypes(who)).toStrictEqual(before);
  });

  it("answers 404 when only audit events are held, which are the bot's evidence", async () => {
    await bot.post('/audit/event', { ...who, event_type: 'data_exported' });
    expectFailure(await bot.export(who), 404, 'not_found');
  });

  it('answers 404 after an erasure', async () => {
    await bot.hasConsent(who);
    await bot.hasForgotten(who);
    expectFailure(await bot.export(who), 404, 'not_found');
  });

  it('answers the identical 404 for a user of another bot, of another guild, and for an unknown user', async () => {
    const other = await service.registerBot();
    await other.hasConsent(who);
    await bot.hasConsent({ ...subject(), user_id: who.user_id });
    const [theirs, nobodys] = [await bot.export(who), await bot.export(subject())];
    expectFailure(theirs, 404, 'not_found');
    expect(theirs.text).toBe(nobodys.text);
  });

  it('answers 200 with everything of a large export, never cut', async () => {
    await bot.hasConsent(who);
    const value = 'ä😀'.repeat(10_000);
    const keys = Array.from({ length: 40 }, (_, index) => `c${index}`);
    for (const key of keys) {
      await bot.hasCategory(key);
      await bot.hasData(who, key, { value });
    }
    const { data } = await bot.export<{ data: Record<string, { value: string }> }>(who);
    expect(Object.keys(data.data).sort()).toStrictEqual(keys.sort());
    expect(Object.values(data.data).every((stored) => stored.value === value)).toBe(true);
    expect(await bot.eventTypes(who)).toContain('data_exported');
  });

  it('is on record: one data_exported for each export', async () => {
    await bot.hasConsent(who);
    await bot.export(who);
    await bot.export(who);
    expect((await bot.eventTypes(who)).slice(2)).toStrictEqual(['data_exported', 'data_exported']);
  });

  it('answers 400 naming user_id when it is no PlatformId', async () => {
    for (const [, text] of BAD_SNOWFLAKE_TEXTS) {
      const answer = await bot.get(
        `/data/export/${encodeURIComponent(String(text))}?guild_id=${who.guild_id}`,
      );
      expectFaults(answer, 'user_id');
    }
  });

  it.each([...BAD_SNOWFLAKE_TEXTS, ['empty', ''] as const])(
    'answers 400 naming guild_id (%s)',
    async (_, text) => {
      expectFaults(
        await bot.get(`/data/export/${who.user_id}?guild_id=${encodeURIComponent(String(text))}`),
        'guild_id',
      );
    },
  );

  it('answers 400 naming guild_id when it is missing', async () => {
    expectFaults(await bot.get(`/data/export/${who.user_id}`), 'guild_id');
  });

  it.each(['xml', '', 'FULL'])('answers 400 naming format when it is %j', async (format) => {
    expectFaults(await bot.export(who, `&format=${format}`), 'format');
  });

  it('answers 401 without a key', async () => {
    expectFailure(
      await service.anonymous.get(`/data/export/${who.user_id}?guild_id=${who.guild_id}`),
      401,
      'unauthorized',
    );
  });
});

describe('GET /api/v1/data/export/{user_id}?format=full', () => {
  it('answers 200 with the record and besides it history, audit events and what each category is for', async () => {
    const purpose = { retention_days: 30, legal_basis: 'contract' };
    await bot.hasCategory('profile', [field('value')], purpose);
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'x' });
    const { data } = await bot.export(who, '&format=full');
    expect(data).toMatchObject(exportRecord(who, bot, { data: { profile: { value: 'x' } } }));
    const text = JSON.stringify(data);
    for (const word of [
      'consent_requested',
      'consent_accepted',
      'data_submitted',
      'Category profile',
      'contract',
      '30',
    ])
      expect(text).toContain(word);
  });

  it('shows no event of another user, guild or bot', async () => {
    const other = await service.registerBot();
    await bot.hasConsent(who);
    for (const [caller, one] of [
      [bot, { ...who, user_id: subject().user_id }],
      [bot, { ...who, guild_id: subject().guild_id }],
      [other, who],
    ] as const)
      await caller.post('/audit/event', { ...one, event_type: 'data_deleted', details: { foreign: true } });
    expect((await bot.export(who, '&format=full')).text).not.toContain('foreign');
  });

  it('answers 404 when nothing is held', async () => {
    expectFailure(await bot.export(who, '&format=full'), 404, 'not_found');
  });
});
