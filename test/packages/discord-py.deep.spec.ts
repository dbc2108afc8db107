import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { Privacy } from '@lethe/discord';
import { Lethe } from '@lethe/sdk';
import { agreed, idsOf, TWO } from '../support/discord-bot';
import { discordPySeat, HAS_DISCORD_PY, type PythonSeat } from '../support/discord-py-seat';
import { coreSeat } from '../support/discord-seats';
import { componentsOf, DiscordUser } from '../support/discord-user';
import { type DiscordMessage, useFakeDiscord } from '../support/fake-discord';
import { useService } from '../support/shared-service';
import { BOT_WIDE, snowflake } from '../support/snowflakes';
import { until } from '../support/until';

// lethe_discord with discord.py: what other suites of the conversation do not try with it.

const service = useService();
const discord = useFakeDiscord();
const describeWithDiscordPy = HAS_DISCORD_PY ? describe : describe.skip;

let seat: PythonSeat | undefined;
afterEach(async () => {
  await seat?.stop();
  seat = undefined;
  discord.guilds = [];
  discord.userId = undefined;
});

async function newBot(platformBotId?: string) {
  discord.applicationId = snowflake();
  const contact = { privacy_contact: 'privacy@bot.example' };
  const id = platformBotId ?? discord.applicationId;
  const { key } = await service.registerBot({ platform_bot_id: id, ...contact });
  const lethe = new Lethe({ url: service.url, key });
  for (const category of TWO) await lethe.categories.register(category);
  const start = async (options: object = {}) =>
    (seat = await discordPySeat(discord, { url: service.url, key }, options));
  return { lethe, start };
}

/** The ids of the components, without the time at which one expires. */
const actsOf = (message: DiscordMessage): string[] =>
  componentsOf(message).map(({ custom_id: id }) => id.replace(/^(lethe1:f:here:).*/, '$1'));

describeWithDiscordPy('lethe_discord', () => {
  it('declares the same command as @lethe/discord, in the languages of the bot too', async () => {
    const { lethe, start } = await newBot();
    const texts = { 'pt-BR': { command: 'O que este bot guarda', where_here: 'Este servidor' } };
    await start({ texts });
    const declared = discord.commands.find(({ name }) => name === 'privacy');
    expect(declared).toEqual(JSON.parse(JSON.stringify(new Privacy({ lethe, texts }).command)));
  });

  it('answers the buttons of another process, and those of @lethe/discord', async () => {
    const { lethe, start } = await newBot();
    const first = await start();
    const asked: [DiscordUser, DiscordMessage][] = [];
    for (const deliver of [coreSeat(discord, { lethe }).deliver, first.deliver]) {
      const user = new DiscordUser({ discord, deliver });
      asked.push([user, await user.privacy('consent')]);
    }
    const [ids, same] = asked.map(([, message]) => actsOf(message));
    expect(ids).toEqual(same);
    await first.stop();
    const later = await start();
    for (const [{ guildId, id }, message] of asked) {
      const user = new DiscordUser({ discord, ...later }, guildId, 'en-US', id);
      const chosen = await user.select(message, ['Birthday']);
      expect(chosen.content).not.toContain('has changed');
      await user.press(chosen, 'I agree');
      expect((await lethe.consents.status(idsOf(user))).status).toBe('accepted');
      const other = new DiscordUser({ discord, ...coreSeat(discord, { lethe }) }, guildId, 'en-US', id);
      for (const command of ['revoke', 'forget']) {
        const shown = [await user.privacy(command), await other.privacy(command)];
        expect(actsOf(shown[0] as DiscordMessage)).toEqual(actsOf(shown[1] as DiscordMessage));
      }
    }
    expect(later.errors).toEqual([]);
  });

  it('files who uses it where the bot is not installed in the bot-wide scope, and declares itself for them', async () => {
    const { lethe, start } = await newBot();
    await start({ user_install: true });
    const declared = discord.commands.find(({ name }) => name === 'privacy');
    expect(declared).toMatchObject({ contexts: [0, 1, 2], integration_types: [0, 1] });
    const [id, foreign] = [snowflake(), snowflake()];
    const robin = new DiscordUser({ discord, ...(seat as PythonSeat) }, foreign, 'en-US', id, {
      authorizing_integration_owners: { 1: id },
    });
    await agreed(robin);
    const stateIn = async (guild_id: string) =>
      (await lethe.consents.status({ user_id: id, guild_id })).status;
    expect([await stateIn(foreign), await stateIn(BOT_WIDE)]).toEqual(['none', 'accepted']);
    const sure = await robin.privacy('forget');
    await robin.press(sure, 'Erase my data');
    expect(await stateIn(BOT_WIDE)).toBe('none');
    expect(seat?.errors).toEqual([]);
  });

  it('erases nothing by a button that has expired', async () => {
    const { lethe, start } = await newBot();
    await start();
    const robin = new DiscordUser({ discord, ...(seat as PythonSeat) });
    await agreed(robin);
    const sure = await robin.privacy('forget');
    for (const expired of ['lethe1:f:here:1:7', 'lethe1:f:here:?'])
      expect((await robin.send(sure, expired)).content).toContain(
        'The button has expired and erases nothing any more.',
      );
    expect((await robin.press(sure, 'Keep my data')).content).toMatch(/^This button erases nothing\./);
    expect((await lethe.consents.status(idsOf(robin))).status).toBe('accepted');
  });

  it('sends an export whole or not at all: without the history where that is too large, else with whom to ask', async () => {
    const { lethe, start } = await newBot();
    await start({ file_max_bytes: (30 + 16) * 1024 });
    const robin = new DiscordUser({ discord, ...(seat as PythonSeat) });
    await agreed(robin);
    const submit = (length: number) =>
      lethe.data.submit({ ...idsOf(robin), category: 'birthday', data: { value: 'x'.repeat(length) } });
    await submit(20_000);
    for (let at = 0; at < 4; at++)
      await lethe.audit.write({
        ...{ ...idsOf(robin), event_type: 'data_exported' },
        details: { note: 'y'.repeat(8_000) },
      });
    const short = await robin.privacy('export');
    expect(short.content).toContain('Left out, because');
    expect(JSON.parse(short.files['privacy-export.json'] ?? '')).toMatchObject({ data: { birthday: {} } });
    await submit(31_000);
    const none = await robin.privacy('export');
    expect(none.files).toEqual({});
    expect(none.content).toContain('too large for a file on Discord. Please ask privacy@bot.example.');
    expect(seat?.errors).toEqual([]);
  });

  it('says that it is not possible at the moment where the service is not available', async () => {
    const refusing = createServer((_, response) => void response.writeHead(503).end('{}'));
    await new Promise<void>((listening) => refusing.listen(0, '127.0.0.1', listening));
    const { port } = refusing.address() as AddressInfo;
    const address = { url: `http://127.0.0.1:${port}`, key: 'sk_live_x' };
    seat = await discordPySeat(discord, address, { retries: 0 });
    const robin = new DiscordUser({ discord, ...seat }, undefined, 'de');
    expect((await robin.privacy('status')).content).toBe(
      'Das geht im Moment nicht. Bitte versuche es in einer Minute noch einmal.',
    );
    // The comparison of the guilds is tried again.
    await until(() => (seat?.errors.length ?? 0) >= 2);
    expect(new Set(seat.errors.map(({ status }) => status))).toEqual(new Set([503]));
    await new Promise((closed) => refusing.close(closed));
  });

  it('refuses options that it could not keep', async () => {
    const { start } = await newBot();
    const faults = {
      grace_days: [{ grace_days: 91 }, 'grace_days must be 0 to 90'],
      confirm_seconds: [{ confirm_seconds: 0 }, 'confirm_seconds must be 1 to 86400'],
      texts: [{ texts: { fr: { consent_agreed: 'x' } } }, 'texts has names that no text has: consent_agreed'],
      categories: [{ categories: 'birthday' }, 'categories must be a list of keys'],
    } as const;
    for (const [options, message] of Object.values(faults))
      await expect(start(options)).rejects.toThrow(message);
  });
});

describeWithDiscordPy('the guilds of a bot with discord.py', () => {
  const scheduled = async (lethe: Lethe) =>
    Object.fromEntries(
      (await lethe.servers.list().toArray()).map((one) => [
        one.guild_id,
        one.deletion_scheduled_for !== null,
      ]),
    );
  const becomes = (lethe: Lethe, expected: Readonly<Record<string, boolean>>) =>
    until(async () => isDeepStrictEqual(await scheduled(lethe), expected));
  const guildOf = (id: string) => ({
    ...{ id, name: 'G', channels: [], members: [], roles: [], emojis: [], stickers: [], threads: [] },
    ...{ member_count: 1, voice_states: [], presences: [] },
  });

  it('are erased after the grace once it has left them, and not if it is back or Discord has an outage', async () => {
    const { lethe, start } = await newBot();
    const { gateway, errors } = await start();
    const [left, away] = [snowflake(), snowflake()];
    for (const id of [left, away]) gateway.dispatch('GUILD_CREATE', guildOf(id));
    await becomes(lethe, { [left]: false, [away]: false });
    // A guild that is not registered can have users too.
    await lethe.servers.delete({ guild_id: left });
    await lethe.consents.request({ user_id: snowflake(), guild_id: left, categories: ['birthday'] });
    gateway.dispatch('GUILD_DELETE', { id: away, unavailable: true });
    gateway.dispatch('GUILD_DELETE', { id: left });
    await becomes(lethe, { [left]: true, [away]: false });
    const server = (await lethe.servers.list().toArray()).find(({ guild_id: id }) => id === left);
    const days = (Date.parse(server?.deletion_scheduled_for ?? '') - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(7);
    gateway.dispatch('GUILD_CREATE', guildOf(left));
    await becomes(lethe, { [left]: false, [away]: false });
    expect(errors).toEqual([]);
  });

  it('are compared with those of the service at the start', async () => {
    const { lethe, start } = await newBot();
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
    // The application of a bot of 2016 or before has another id than its user.
    discord.userId = snowflake();
    await start({ grace_days: 1, guilds_a_minute: 1_000 });
    const after = await scheduled(lethe);
    expect(after).toMatchObject({ [stayed]: false, [left]: true, [back]: false, [fresh]: false });
    expect(after[BOT_WIDE]).toBe(false);
    expect(Object.keys(after)).toHaveLength(215);
    expect(seat?.errors).toEqual([]);
  });

  it('are left alone where the token is that of another bot', async () => {
    const { lethe, start } = await newBot(snowflake());
    const guild = snowflake();
    await lethe.servers.register({ guild_id: guild });
    const { errors } = await start();
    await until(() => errors.length > 0);
    expect(errors[0]?.message).toBe('The key of Lethe and the token of Discord are of different bots.');
    expect(await scheduled(lethe)).toEqual({ [guild]: false });
  });
});
