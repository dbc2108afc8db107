import type { BotSeat } from '../support/discord-seats';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DiscordRest, reconcileGuilds, scopeOf, userDeauthorized } from '@lethe/discord';
import { HttpEvents } from '@lethe/discord/http';
import { Lethe } from '@lethe/sdk';
import { TWO, wordsOf } from '../support/discord-bot';
import { discordJsSeat, httpSeat, PUBLIC_KEY, signedRequest } from '../support/discord-seats';
import { DiscordUser } from '../support/discord-user';
import { useFakeDiscord } from '../support/fake-discord';
import { PATIENT_SERVER } from '../support/patient';
import { useServiceInProcess } from '../support/service';
import { BOT_WIDE, snowflake } from '../support/snowflakes';
import { until } from '../support/until';

// Users who have installed the app themselves, and take it where the bot is not.

const service = useServiceInProcess();
const discord = useFakeDiscord();
const errors: unknown[] = [];
const onError = (error: unknown): void => void errors.push(error);
/** Whether the service is reached. */
let isAway = false;
let lethe: Lethe;

beforeEach(async () => {
  [errors.length, isAway] = [0, false];
  discord.applicationId = snowflake();
  const { key } = await service.registerBot({ platform_bot_id: discord.applicationId });
  const through: typeof fetch = (...given) =>
    isAway ? Promise.reject(new TypeError('no service')) : fetch(...given);
  lethe = new Lethe({ url: service.url, key, fetch: through, retries: 0 });
  for (const category of TWO) await lethe.categories.register(category);
});

const consented = async (user_id: string, guild_id: string): Promise<void> => {
  const { id } = await lethe.consents.request({ user_id, guild_id, consent_version: '1' });
  await lethe.consents.accept({ consent_id: id });
};
const statusOf = async (user_id: string, guild_id: string) =>
  (await lethe.consents.status({ user_id, guild_id })).status;
/** Under which guilds anything is held about a user. */
const filedUnder = async (user_id: string): Promise<string[]> =>
  (await lethe.users.list({ user_id }).toArray()).map(({ guild_id }) => guild_id);

describe.each([
  [
    'discord.js',
    async (): Promise<BotSeat> =>
      discordJsSeat(discord, { lethe, onError }, async (interaction, kit) => {
        if (!interaction.isChatInputCommand()) return;
        const who = { user_id: interaction.user.id, guild_id: scopeOf(interaction) };
        await kit.ask(interaction, () => saved(who));
      }),
  ],
  [
    'signed HTTP',
    (): Promise<BotSeat> =>
      httpSeat(discord, {
        ...{ lethe, onError },
        others: async (interaction, ask) => {
          const user_id = (interaction.member ?? interaction).user?.id ?? '';
          return ask(() => saved({ user_id, guild_id: scopeOf(interaction) }));
        },
      }),
  ],
])('a bot with %s', (_, start) => {
  let seat: BotSeat;
  beforeEach(async () => (seat = await start()));
  afterEach(async () => {
    await seat.stop();
    expect(errors).toEqual([]);
  });

  const at = (guild: string | null, place: object, id = snowflake()) =>
    new DiscordUser({ discord, ...seat }, guild, 'en-US', id, place);

  it.each([
    ['a foreign guild', true],
    ['a private channel', false],
  ])('files every act of a user in %s bot-wide', async (_, isGuild) => {
    const [id, guild] = [snowflake(), snowflake()];
    // The bot is in a guild of the same user, and knows the foreign one by its id.
    await lethe.servers.register({ guild_id: guild });
    const home = snowflake();
    await consented(id, home);
    const member = { user: { id, username: 'robin', discriminator: '0' }, roles: [], permissions: '8' };
    const owners = { authorizing_integration_owners: { 1: id } };
    const robin = isGuild ? at(guild, { ...owners, member }, id) : at(null, { ...owners, context: 2 }, id);
    await robin.press(await robin.privacy('consent'), 'I agree');
    expect(await statusOf(id, BOT_WIDE)).toBe('accepted');
    expect(wordsOf(await robin.privacy('status'))).toContain('You agreed on');
    await saved({ user_id: id, guild_id: BOT_WIDE });
    const exported = (await robin.privacy('export')).files['privacy-export.json'] ?? '';
    expect(JSON.parse(exported)).toMatchObject({ guildId: BOT_WIDE });
    await robin.press(await robin.privacy('revoke'), 'Withdraw everything');
    expect(await statusOf(id, BOT_WIDE)).toBe('revoked');
    await robin.press(await robin.privacy('consent'), 'No, thank you');
    expect((await filedUnder(id)).sort()).toEqual([BOT_WIDE, home].sort());
    const sure = await robin.privacy('forget', { where: 'here' });
    expect(wordsOf(sure)).toContain(
      'in direct messages, in private channels and on servers that it is not on? This cannot be undone.',
    );
    await robin.press(sure, 'Erase my data');
    expect(await filedUnder(id)).toEqual([home]);
    expect(await statusOf(id, home)).toBe('accepted');
  });

  it('asks there for a command of the bot, which continues bot-wide', async () => {
    const [id, guild] = [snowflake(), snowflake()];
    const robin = at(guild, { authorizing_integration_owners: { 1: id } }, id);
    await robin.press(await robin.command('birthday', []), 'I agree');
    await until(() => discord.last?.content === 'Saved.');
    expect(await filedUnder(id)).toEqual([BOT_WIDE]);
  });

  it('files a user who has the app too under the guild, where the bot is in it', async () => {
    const [id, guild] = [snowflake(), snowflake()];
    const robin = at(guild, { authorizing_integration_owners: { 0: guild, 1: id } }, id);
    await robin.press(await robin.privacy('consent'), 'I agree');
    expect(await filedUnder(id)).toEqual([guild]);
  });
});

async function saved(who: { user_id: string; guild_id: string }): Promise<string> {
  await lethe.data.submit({ ...who, category: 'birthday', data: { value: 'x' } });
  return 'Saved.';
}

describe('a bot without a gateway', () => {
  const DAY_MS = 86_400_000;
  const token = 'x';
  const get = (path: string) => new DiscordRest({ api: `${discord.url}/v10`, token }).get(path);
  let nowMs = 0;
  let seat: Awaited<ReturnType<typeof httpSeat>>;
  let registering: jest.SpiedFunction<Lethe['servers']['register']>;
  beforeEach(async () => {
    nowMs = Date.parse('2026-01-01T00:00:00Z');
    registering = jest.spyOn(lethe.servers, 'register');
    seat = await httpSeat(discord, { lethe, onError, token, now: () => nowMs });
  });
  afterEach(() => seat.stop());

  const userIn = (guild: string, place: object = { authorizing_integration_owners: { 0: guild } }) =>
    new DiscordUser({ discord, ...seat }, guild, 'en-US', snowflake(), place);
  const registrations = async (): Promise<number> => {
    await seat.handler.settled();
    return registering.mock.calls.length;
  };

  it('erases a guild that it has joined and left between two comparisons', async () => {
    const guild = snowflake();
    discord.guilds = [guild];
    await userIn(guild).privacy('about');
    await seat.handler.settled();
    discord.guilds = [];
    expect(await reconcileGuilds({ lethe }, get)).toEqual({ joined: [], left: [guild] });
    expect(await lethe.servers.list().toArray()).toEqual([
      expect.objectContaining({ guild_id: guild, deletion_scheduled_for: expect.any(String) }),
    ]);
    expect(errors).toEqual([]);
  });

  it('registers a guild in which it is used, once a day, and again after a failure, which changes no answer', async () => {
    const guild = snowflake();
    discord.guilds = [guild];
    const robin = userIn(guild);
    registering.mockRejectedValueOnce(new Error('no service'));
    expect(wordsOf(await robin.privacy('about'))).toContain('Birthday');
    expect([await registrations(), errors.splice(0)]).toEqual([1, [new Error('no service')]]);
    for (const expected of [2, 2]) {
      await robin.privacy('about');
      expect(await registrations()).toBe(expected);
    }
    nowMs += DAY_MS - 1;
    await robin.privacy('about');
    expect(await registrations()).toBe(2);
    nowMs += 1;
    await robin.privacy('about');
    expect(await registrations()).toBe(3);
    expect(new Set(registering.mock.calls.map(([{ guild_id }]) => guild_id))).toEqual(new Set([guild]));
    expect(errors).toEqual([]);
  });

  it('registers twelve guilds a minute, and the others by a later interaction', async () => {
    discord.guilds = Array.from({ length: 13 }, () => snowflake());
    for (const guild of discord.guilds) await userIn(guild).privacy('about');
    expect(await registrations()).toBe(12);
    nowMs += 60_000;
    for (const guild of discord.guilds) await userIn(guild).privacy('about');
    expect(await registrations()).toBe(13);
  });

  it('registers guilds by a clock that was set back', async () => {
    const [known, ...others] = Array.from({ length: 13 }, () => snowflake()) as [string, ...string[]];
    discord.guilds = [known, ...others];
    for (const guild of [known, ...others.slice(1)]) await userIn(guild).privacy('about');
    expect(await registrations()).toBe(12);
    nowMs -= 3_600_000;
    // The day of the known guild is over, and its minute begins anew with what was registered in it.
    await userIn(known).privacy('about');
    expect(await registrations()).toBe(12);
    nowMs += 60_000;
    for (const guild of [known, ...others.slice(0, 1)]) await userIn(guild).privacy('about');
    expect(await registrations()).toBe(14);
  });

  it('asks again after an hour about a guild that Discord has not listed', async () => {
    const guild = snowflake();
    discord.guilds = [];
    await userIn(guild).privacy('about');
    await seat.handler.settled();
    discord.guilds = [guild];
    for (const [ms, expected] of [
      [3_599_999, 0],
      [1, 1],
    ] as const) {
      nowMs += ms;
      await userIn(guild).privacy('about');
      expect(await registrations()).toBe(expected);
    }
  });

  it('registers no guild that Discord does not list, and no guild of a user who brings the bot along', async () => {
    const [guild, other] = [snowflake(), snowflake()];
    discord.guilds = [other];
    await userIn(guild).privacy('about');
    await userIn(other, { authorizing_integration_owners: { 1: snowflake() } }).privacy('about');
    expect(await registrations()).toBe(0);
    expect(errors).toEqual([]);
  });

  it('registers no guild without the token of the bot', async () => {
    const without = await httpSeat(discord, { lethe, onError, now: () => nowMs });
    const guild = snowflake();
    discord.guilds = [guild];
    const place = { authorizing_integration_owners: { 0: guild } };
    await new DiscordUser({ discord, ...without }, guild, 'en-US', snowflake(), place).privacy('about');
    await without.handler.settled();
    expect(registering).not.toHaveBeenCalled();
    await without.stop();
  });
});

describe('the receiver of webhook events', () => {
  const APP = '987654321098765432';
  const bodyOf = (userId: string | undefined, timestamp?: string, type = 'APPLICATION_DEAUTHORIZED') =>
    JSON.stringify({
      ...{ version: 1, application_id: APP, type: 1 },
      event: { type, timestamp, data: userId === undefined ? {} : { user: { id: userId } } },
    });
  const PING = JSON.stringify({ version: 1, application_id: APP, type: 0 });
  const others = jest.fn<Promise<unknown>, [object]>();
  let events: HttpEvents;
  let url: string;
  let stop: () => Promise<void>;

  beforeEach(async () => {
    others.mockReset();
    events = new HttpEvents({ lethe, publicKey: PUBLIC_KEY, others, onError });
    // Discord waits for seconds, and a process of tests can stop for as long.
    const { consents } = lethe;
    const [status, revoke] = [consents.status.bind(consents), consents.revoke.bind(consents)];
    jest.spyOn(consents, 'status').mockImplementation((given) => status(given));
    jest.spyOn(consents, 'revoke').mockImplementation((given) => revoke(given));
    const server = createServer((request, response) => void events.node(request, response));
    Object.assign(server, PATIENT_SERVER);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    stop = async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    };
  });
  afterEach(() => stop());

  const sent = async (body: string): Promise<number> => {
    const answer = await fetch(url, signedRequest(body));
    const text = await answer.text();
    // Discord takes no 204 with a body.
    if (answer.status === 204) expect(text).toBe('');
    return answer.status;
  };
  const historyOf = async (user_id: string) =>
    (await lethe.consents.history({ user_id, guild_id: BOT_WIDE }).toArray()).map(
      ({ action, source }) => `${action} ${source}`,
    );

  it('answers PING with 204, to node:http and as a Response', async () => {
    expect(await sent(PING)).toBe(204);
    const answer = await events.fetch(new Request('https://bot.example/', signedRequest(PING)));
    expect([answer.status, answer.body]).toEqual([204, null]);
    expect(errors).toEqual([]);
  });

  it('withdraws the bot-wide consent of the user, starts the days of grace, and touches no guild and no other user', async () => {
    const [robin, kim, guild] = [snowflake(), snowflake(), snowflake()];
    for (const where of [BOT_WIDE, guild]) await consented(robin, where);
    await consented(kim, BOT_WIDE);
    await saved({ user_id: robin, guild_id: BOT_WIDE });
    expect(await sent(bodyOf(robin, new Date().toISOString()))).toBe(204);
    const { status, revoked_at, data_erased_at } = await lethe.consents.status({
      ...{ user_id: robin, guild_id: BOT_WIDE },
    });
    const days = (Date.parse(data_erased_at ?? '') - Date.parse(revoked_at ?? '')) / 86_400_000;
    expect([status, days]).toEqual(['revoked', 30]);
    expect([await statusOf(robin, guild), await statusOf(kim, BOT_WIDE)]).toEqual(['accepted', 'accepted']);
    await expect(saved({ user_id: robin, guild_id: BOT_WIDE })).rejects.toMatchObject({ status: 403 });
    expect(errors).toEqual([]);
  });

  it('acts once, however often the event arrives, also at the same time, and for a user who never agreed', async () => {
    const robin = snowflake();
    const event = bodyOf(robin, new Date().toISOString());
    expect(await sent(event)).toBe(204);
    expect(await filedUnder(robin)).toEqual([]);
    await consented(robin, BOT_WIDE);
    const now = bodyOf(robin, new Date().toISOString());
    const statuses = await Promise.all(Array.from({ length: 5 }, () => sent(now)));
    expect([...statuses, await sent(now)]).toEqual(Array(6).fill(204));
    expect((await historyOf(robin)).filter((one) => one.startsWith('revoked'))).toEqual([
      'revoked discord_deauthorized',
    ]);
    expect(errors).toEqual([]);
  });

  it('is no withdrawal of a consent that is newer than the event, whose time is in UTC without a zone', async () => {
    const robin = snowflake();
    await consented(robin, BOT_WIDE);
    const { accepted_at } = await lethe.consents.status({ user_id: robin, guild_id: BOT_WIDE });
    const [before = '', after = ''] = [-1_000, 1_000].map((ms) =>
      new Date(Date.parse(accepted_at ?? '') + ms).toISOString(),
    );
    for (const timestamp of [before, before.replace('Z', '064'), before.replace('Z', '+00:00')])
      expect(await sent(bodyOf(robin, timestamp))).toBe(204);
    expect(await statusOf(robin, BOT_WIDE)).toBe('accepted');
    expect(await sent(bodyOf(robin, after.replace('Z', '064')))).toBe(204);
    expect(await statusOf(robin, BOT_WIDE)).toBe('revoked');
  });

  it.each([
    'yesterday',
    '',
    null,
    5,
    {},
    '2026-02-30T00:00:00',
    '2026-01-01T25:00:00Z',
    '2026-01-01',
    '2026-01-01T00:00:00+99:00',
  ])('withdraws by an event whose time cannot be read: %j', async (timestamp) => {
    const robin = snowflake();
    await consented(robin, BOT_WIDE);
    expect(await sent(bodyOf(robin, timestamp as string))).toBe(204);
    expect(await statusOf(robin, BOT_WIDE)).toBe('revoked');
    expect(errors).toEqual([]);
  });

  it('answers 500 while the service is away, so that Discord repeats the event, and does it then', async () => {
    const robin = snowflake();
    await consented(robin, BOT_WIDE);
    const event = bodyOf(robin, new Date().toISOString());
    isAway = true;
    expect(await sent(event)).toBe(500);
    expect(errors).toEqual([expect.objectContaining({ name: 'NetworkError' })]);
    isAway = false;
    expect(await statusOf(robin, BOT_WIDE)).toBe('accepted');
    expect(await sent(event)).toBe(204);
    expect(await statusOf(robin, BOT_WIDE)).toBe('revoked');
  });

  it('does nothing for what Discord has not signed, for other methods, and for bodies that are too large', async () => {
    const robin = snowflake();
    await consented(robin, BOT_WIDE);
    const event = bodyOf(robin, new Date().toISOString());
    const good = signedRequest(event);
    const statuses = [];
    for (const request of [
      { ...good, body: event.replace('"version":1', '"version":2') },
      { method: 'POST', body: event },
      signedRequest(event, undefined, 0),
      { method: 'GET' },
      signedRequest('x'.repeat(300_000)),
    ])
      statuses.push((await fetch(url, request)).status);
    expect(statuses).toEqual([401, 401, 401, 405, 413]);
    expect(await statusOf(robin, BOT_WIDE)).toBe('accepted');
    expect(errors).toEqual([]);
  });

  it('hands on every other event, and answers 500 where the bot fails, or the event names no user', async () => {
    const robin = snowflake();
    await consented(robin, BOT_WIDE);
    const other = bodyOf(robin, new Date().toISOString(), 'APPLICATION_AUTHORIZED');
    expect(await sent(other)).toBe(204);
    expect(others).toHaveBeenCalledWith(expect.objectContaining({ type: 'APPLICATION_AUTHORIZED' }));
    others.mockRejectedValueOnce(new Error('no entitlement'));
    expect(await sent(other)).toBe(500);
    expect(await sent(bodyOf(undefined))).toBe(500);
    const NO_EVENT: readonly unknown[] = [undefined, null, [], 'x', {}];
    for (const event of NO_EVENT)
      expect(await sent(JSON.stringify({ version: 1, type: 1, event }))).toBe(500);
    expect(await sent('null')).toBe(500);
    expect(errors.map((error) => (error as Error).message)).toEqual([
      'no entitlement',
      'APPLICATION_DEAUTHORIZED names no user.',
      ...NO_EVENT.map(() => 'A webhook of type 1 has no event.'),
      'A webhook of type undefined has no event.',
    ]);
    expect(others).toHaveBeenCalledTimes(2);
    expect(await statusOf(robin, BOT_WIDE)).toBe('accepted');
  });
});

describe('userDeauthorized', () => {
  it('says whether a consent was withdrawn, for a bot that hears of it in another way', async () => {
    const robin = snowflake();
    expect(await userDeauthorized({ lethe }, robin)).toBe(false);
    await consented(robin, BOT_WIDE);
    expect(await userDeauthorized({ lethe }, robin)).toBe(true);
    expect(await userDeauthorized({ lethe }, robin)).toBe(false);
  });

  it('withdraws a consent whose time is of a clock that was more than five minutes ahead, and leaves one of less', async () => {
    const robin = snowflake();
    await consented(robin, BOT_WIDE);
    const now = new Date();
    const status = await lethe.consents.status({ user_id: robin, guild_id: BOT_WIDE });
    for (const [seconds, expected] of [
      [240, false],
      [86_400, true],
    ] as const) {
      const accepted_at = new Date(now.getTime() + seconds * 1_000).toISOString();
      jest.spyOn(lethe.consents, 'status').mockResolvedValueOnce({ ...status, accepted_at });
      expect(await userDeauthorized({ lethe }, robin, { at: now.toISOString() })).toBe(expected);
    }
    expect(await statusOf(robin, BOT_WIDE)).toBe('revoked');
  });
});
