import { type Bot, field } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { A_TIME, expectFailure, expectFaults, expectSuccess } from '../support/expected';
import { BAD_SNOWFLAKE_TEXTS } from '../support/inputs';
import { useService } from '../support/shared-service';
import { BOT_WIDE, snowflake, subject } from '../support/snowflakes';

const service = useService();
let bot: Bot;
let userId: string;
beforeEach(async () => {
  bot = await service.registerBot({ name: 'Exporter' });
  userId = snowflake();
});

const inGuild = (guildId: string) => ({ user_id: userId, guild_id: guildId });
const everywhere = (more = ''): Promise<Answer<{ guilds: Json[] }>> =>
  bot.get(`/data/export/${userId}?scope=all_guilds${more}`);
const ACCEPTED = { status: 'accepted', version: '1.0', acceptedAt: A_TIME };

/** Guild ids in the order of their bytes, as in the answer. */
const guilds = (count: number): string[] => Array.from({ length: count }, () => snowflake()).sort();

describe('GET /api/v1/data/export/{user_id}?scope=all_guilds', () => {
  it('answers 200 with the user in every guild where anything is held, the bot-wide scope included', async () => {
    await bot.hasCategory('profile');
    const [one = '', other = ''] = guilds(2);
    for (const guildId of [one, other, BOT_WIDE]) await bot.hasConsent(inGuild(guildId));
    await bot.hasData(inGuild(one), 'profile', { value: 'one' });
    await bot.hasData(inGuild(BOT_WIDE), 'profile', { value: 'wide' });
    expectSuccess(await everywhere(), 200, {
      userId,
      exportedAt: A_TIME,
      bot: { id: bot.id, name: 'Exporter' },
      guilds: [
        { guildId: BOT_WIDE, consent: ACCEPTED, data: { profile: { value: 'wide' } } },
        { guildId: one, consent: ACCEPTED, data: { profile: { value: 'one' } } },
        { guildId: other, consent: ACCEPTED, data: {} },
      ],
    });
  });

  it('answers for each guild what the export of that guild answers, in full too', async () => {
    await bot.hasCategory('profile', [field('value')]);
    const ids = guilds(3);
    for (const guildId of ids) {
      await bot.hasConsent(inGuild(guildId));
      await bot.hasData(inGuild(guildId), 'profile', { value: guildId });
    }
    const all = (await everywhere('&format=full')).data as unknown as Json & { guilds: Json[] };
    expect(all['schema']).toBe('lethe-export/1');
    for (const [at, guildId] of ids.entries()) {
      const single = (await bot.export(inGuild(guildId), '&format=full')).data;
      const { schema, userId: of, exportedAt, bot: by, ...rest } = single;
      expect({ schema, of, exportedAt, by }).toMatchObject({ of: userId });
      // The export itself has written an event.
      const { audit_events: events, ...record } = rest as { audit_events: Json[] };
      expect(all.guilds[at]).toStrictEqual({ ...record, audit_events: events.slice(0, -1) });
      expect(events.at(-1)).toMatchObject({
        event_type: 'data_exported',
        details: { format: 'full', scope: 'all_guilds' },
      });
    }
  });

  it('has every guild, also where there are more than are read at once', async () => {
    const ids = guilds(520);
    await Promise.all(ids.map((guildId) => bot.hasRequest(inGuild(guildId))));
    const { data } = await everywhere();
    expect(data.guilds.map(({ guildId }) => guildId)).toStrictEqual(ids);
  });

  it('is streamed where a guild is too large to be held: every guild whole, in its place, with this very export', async () => {
    await bot.hasCategory('profile');
    const ids = guilds(3);
    for (const guildId of ids) await bot.hasConsent(inGuild(guildId));
    const event = {
      ...inGuild(ids[1] ?? ''),
      event_type: 'data_submitted',
      details: { text: 'ä'.repeat(4_000) },
    };
    await Promise.all(Array.from({ length: 300 }, () => bot.post('/audit/event', event)));
    const { data } = await everywhere('&format=full');
    expect(data.guilds.map(({ guildId }) => guildId)).toStrictEqual(ids);
    expect(data.guilds.map((guild) => (guild['audit_events'] as Json[]).length)).toStrictEqual([2, 303, 2]);
  });

  it('leaves out a guild of which only evidence is left', async () => {
    const [kept = '', erased = ''] = guilds(2);
    for (const guildId of [kept, erased]) await bot.hasConsent(inGuild(guildId));
    await bot.hasForgotten(inGuild(erased));
    expect((await everywhere()).data.guilds.map(({ guildId }) => guildId)).toStrictEqual([kept]);
  });

  it('leaves out a guild in which the user is being erased', async () => {
    const [open = '', closed = ''] = guilds(2);
    for (const guildId of [open, closed]) await bot.hasConsent(inGuild(guildId));
    const { guild_id: guildId, user_id: stored } = service.stored(bot, inGuild(closed));
    await service.database.run(
      `INSERT INTO deletion_requests (bot_id, id, guild_id, user_id, status, webhook_sent, created_at)
       VALUES (?, ?, ?, ?, 'processing', 0, ?)`,
      ...[bot.id, bot.id, guildId, stored, new Date().toISOString()],
    );
    expect((await everywhere()).data.guilds.map((guild) => guild['guildId'])).toStrictEqual([open]);
  });

  it('shows no other user and no other bot', async () => {
    const other = await service.registerBot();
    const guildId = snowflake();
    await bot.hasConsent(inGuild(guildId));
    await other.hasConsent(inGuild(snowflake()));
    await bot.hasConsent({ ...subject(), guild_id: guildId });
    expect((await everywhere()).data.guilds).toStrictEqual([{ guildId, consent: ACCEPTED, data: {} }]);
  });

  it('is on record: one data_exported in every guild that was handed out, and nowhere else', async () => {
    const [held = '', erased = ''] = guilds(2);
    for (const guildId of [held, erased]) await bot.hasConsent(inGuild(guildId));
    await bot.hasForgotten(inGuild(erased));
    await everywhere();
    const count = async (guildId: string) =>
      (await bot.eventTypes(inGuild(guildId))).filter((type) => type === 'data_exported').length;
    expect([await count(held), await count(erased)]).toStrictEqual([1, 0]);
  });

  it('answers 404 when nothing is held in any guild, like the export of one guild', async () => {
    const refused = await everywhere();
    expectFailure(refused, 404, 'not_found');
    expect(refused.text).toBe((await bot.export(subject())).text);
    await bot.hasConsent(inGuild(BOT_WIDE));
    await bot.hasForgotten(inGuild(BOT_WIDE));
    expect((await everywhere()).text).toBe(refused.text);
  });

  it('answers 400 naming guild_id when it is given as well', async () => {
    expectFaults(await everywhere(`&guild_id=${snowflake()}`), 'guild_id');
  });

  it.each(['guild', '', 'ALL_GUILDS'])('answers 400 naming scope when it is %j', async (scope) => {
    expectFaults(await bot.get(`/data/export/${userId}?scope=${scope}`), 'scope');
  });

  it('answers 400 naming user_id when it is no PlatformId', async () => {
    for (const [, text] of BAD_SNOWFLAKE_TEXTS)
      expectFaults(
        await bot.get(`/data/export/${encodeURIComponent(String(text))}?scope=all_guilds`),
        'user_id',
      );
  });

  it('answers 401 without a key', async () => {
    const answer = await service.anonymous.get(`/data/export/${userId}?scope=all_guilds`);
    expectFailure(answer, 401, 'unauthorized');
  });
});
