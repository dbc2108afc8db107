import { isDeepStrictEqual } from 'node:util';
import { DiscordRest, reconcileGuilds } from '@lethe/discord';
import { DiscordJsPrivacy } from '@lethe/discord/discord-js';
import { Lethe, NetworkError } from '@lethe/sdk';
import type { Client } from 'discord.js';
import { discordJsClient } from '../support/discord-seats';
import { useFakeDiscord } from '../support/fake-discord';
import { useService } from '../support/shared-service';
import { BOT_WIDE, snowflake } from '../support/snowflakes';
import { until } from '../support/until';

// What happens to the data of a guild that the bot leaves.

const service = useService();
const discord = useFakeDiscord();
/** The pauses between guilds, which no test waits for. */
const later = (_ms: number, run: () => void) => (run(), () => undefined);
const get = (path: string) => new DiscordRest({ api: `${discord.url}/v10`, token: 'x' }).get(path);

/** The token is that of the bot, unless it is registered by another id. */
async function newBot(platformBotId = (discord.applicationId = snowflake())) {
  const bot = await service.registerBot({ platform_bot_id: platformBotId });
  const lethe = new Lethe({ url: service.url, key: bot.key });
  const hasUser = (guild_id: string) => bot.hasConsent({ user_id: snowflake(), guild_id });
  const scheduled = async () =>
    Object.fromEntries(
      (await lethe.servers.list().toArray()).map((one) => [
        one.guild_id,
        one.deletion_scheduled_for !== null,
      ]),
    );
  return { lethe, scheduled, hasUser };
}

const guildOf = (id: string) => ({
  id,
  name: 'G',
  channels: [],
  members: [],
  roles: [],
  emojis: [],
  stickers: [],
  unavailable: false,
});

describe('with discord.js', () => {
  let bot: Awaited<ReturnType<typeof newBot>>;
  let client: ReturnType<typeof discordJsClient>;
  const errors: unknown[] = [];
  const becomes = (expected: Readonly<Record<string, boolean>>) =>
    until(async () => isDeepStrictEqual(await bot.scheduled(), expected));

  beforeEach(async () => {
    errors.length = 0;
    bot = await newBot();
    client = discordJsClient(discord);
    const { lethe } = bot;
    new DiscordJsPrivacy({ lethe, onError: (error) => void errors.push(error) }).watchGuilds(client.client);
  });
  afterEach(async () => {
    await client.client.destroy();
    expect(errors).toEqual([]);
  });

  it('schedules the deletion of a guild that the bot has left, and cancels it when it is back', async () => {
    const id = snowflake();
    client.packet('GUILD_CREATE', guildOf(id));
    await becomes({ [id]: false });
    client.packet('GUILD_DELETE', { id });
    await becomes({ [id]: true });
    const [server] = await bot.lethe.servers.list().toArray();
    const days = (Date.parse(server?.deletion_scheduled_for ?? '') - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(7);
    client.packet('GUILD_CREATE', guildOf(id));
    await becomes({ [id]: false });
  });

  it('schedules it for a guild with users that was not registered, and not for an outage', async () => {
    const [left, away] = [snowflake(), snowflake()];
    for (const id of [left, away]) client.packet('GUILD_CREATE', guildOf(id));
    await becomes({ [left]: false, [away]: false });
    await bot.lethe.servers.delete({ guild_id: left });
    await bot.hasUser(left);
    client.packet('GUILD_DELETE', { id: away, unavailable: true });
    client.packet('GUILD_DELETE', { id: left });
    await becomes({ [left]: true, [away]: false });
  });
});

describe('days of grace', () => {
  it('are refused at the start where the service would refuse them when the bot leaves a guild', () => {
    const lethe = new Lethe({ url: service.url, key: 'sk_live_x' });
    for (const graceDays of [-1, 91])
      expect(() => new DiscordJsPrivacy({ lethe, graceDays })).toThrow(
        `graceDays must be a number from 0 to 90, not ${graceDays}.`,
      );
  });
});

describe('while the service is away', () => {
  it('an event waits for it, and the deletion of a guild that the bot is back in is cancelled', async () => {
    const guild = snowflake();
    discord.applicationId = snowflake();
    const { key } = await service.registerBot({ platform_bot_id: discord.applicationId });
    const there = new Lethe({ url: service.url, key });
    await there.servers.register({ guild_id: guild });
    await there.servers.delete({ guild_id: guild, grace_days: 7 });
    let isAway = true;
    const lost: typeof fetch = (...given) =>
      isAway ? Promise.reject(new TypeError('fetch failed')) : fetch(...given);
    const lethe = new Lethe({ url: service.url, key, fetch: lost, retries: 0 });
    const errors: unknown[] = [];
    const waits: (() => void)[] = [];
    const options = { lethe, onError: (error: unknown) => void errors.push(error) };
    const kit = new DiscordJsPrivacy({ ...options, later: (_, run) => (waits.push(run), () => undefined) });
    const { client, packet } = discordJsClient(discord);
    kit.watchGuilds(client);
    packet('GUILD_CREATE', guildOf(guild));
    await until(() => waits.length === 1);
    expect(errors).toEqual([expect.any(NetworkError)]);
    isAway = false;
    waits[0]?.();
    await until(async () => (await there.servers.list().toArray())[0]?.deletion_scheduled_for === null);
    expect(errors).toHaveLength(1);
    await client.destroy();
  });
});

describe('after a time without the bot', () => {
  it.each([
    ['its application', undefined],
    ['its application, which its user does not have', snowflake()],
  ])(
    'the guilds of Discord and of the service are compared, for a bot with the id of %s',
    async (_, userId) => {
      discord.userId = userId;
      const { lethe, scheduled } = await newBot();
      const [stayed, left, back, fresh] = Array.from({ length: 4 }, snowflake) as [
        string,
        string,
        string,
        string,
      ];
      for (const guild_id of [stayed, left, back, BOT_WIDE]) await lethe.servers.register({ guild_id });
      await lethe.servers.delete({ guild_id: back, grace_days: 3 });
      // More than one page of guilds.
      discord.guilds = [stayed, back, fresh, ...Array.from({ length: 210 }, snowflake)];
      const found = await reconcileGuilds({ lethe, later }, get);
      expect(found.left).toEqual([left]);
      expect(found.joined).toHaveLength(212);
      const after = await scheduled();
      expect(after).toMatchObject({
        [stayed]: false,
        [left]: true,
        [back]: false,
        [fresh]: false,
        [BOT_WIDE]: false,
      });
      expect(await reconcileGuilds({ lethe }, get)).toEqual({ joined: [], left: [] });
      await lethe.bots.delete({});
      discord.userId = undefined;
    },
  );

  it('nothing is scheduled with the token of another bot, or while Discord does not answer', async () => {
    const { lethe, scheduled } = await newBot(snowflake());
    const guild = snowflake();
    await lethe.servers.register({ guild_id: guild });
    discord.guilds = [];
    await expect(reconcileGuilds({ lethe }, get)).rejects.toThrow('The key of Lethe is that of bot');
    const me = await lethe.bots.me();
    const failing = async (path: string) => {
      if (path === '/users/@me') return { id: me.platform_bot_id };
      throw new Error('no answer');
    };
    await expect(reconcileGuilds({ lethe }, failing)).rejects.toThrow('no answer');
    expect(await scheduled()).toEqual({ [guild]: false });
  });

  it.each([
    ['becomes ready', false],
    ['was ready before', true],
  ])('discord.js does it once it is watched and %s', async (_, wasReady) => {
    const { lethe, scheduled } = await newBot();
    const guild = snowflake();
    await lethe.servers.register({ guild_id: guild });
    discord.guilds = [];
    const { client } = discordJsClient(discord);
    const kit = new DiscordJsPrivacy({ lethe, graceDays: 1 });
    Object.assign(client, { isReady: () => wasReady });
    kit.watchGuilds(client);
    if (!wasReady) client.emit('clientReady', client as Client<true>);
    await until(async () => (await scheduled())[guild] === true);
    await client.destroy();
  });
});
