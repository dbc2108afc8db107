import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HttpInteractions } from '@lethe/discord/http';
import { DiscordRest } from '@lethe/discord';
import { Lethe } from '@lethe/sdk';
import { idsOf, TWO, wordsOf } from '../support/discord-bot';
import { discordPySeat, HAS_DISCORD_PY } from '../support/discord-py-seat';
import { type BotSeat, discordJsSeat, httpSeat, PUBLIC_KEY, signedRequest } from '../support/discord-seats';
import { buttonsOf, DiscordUser } from '../support/discord-user';
import { type DiscordMessage, useFakeDiscord } from '../support/fake-discord';
import { useService } from '../support/shared-service';
import { snowflake } from '../support/snowflakes';
import { until } from '../support/until';

// What the adapters add to the conversation: how interactions arrive and how they are answered.

const service = useService();
const discord = useFakeDiscord();
const errors: unknown[] = [];
const onError = (error: unknown): void => void errors.push(error);
beforeEach(() => {
  hold = async () => undefined;
  errors.length = 0;
  discord.faults.length = 0;
  discord.requests.length = 0;
  discord.last = undefined;
});

/** What the calls to the service wait for. */
let hold = async (): Promise<void> => undefined;

let key: string;

async function newLethe(): Promise<Lethe> {
  discord.applicationId = snowflake();
  ({ key } = await service.registerBot({ platform_bot_id: discord.applicationId }));
  const held: typeof fetch = async (...given) => (await hold(), fetch(...given));
  const lethe = new Lethe({ url: service.url, key, fetch: held });
  for (const category of TWO) await lethe.categories.register(category);
  return lethe;
}

/** What continues after the consent. */
const thenOf =
  (name: string | undefined, { data }: Lethe) =>
  async () => {
    const nines = '9'.repeat(18);
    const other = { user_id: nines, guild_id: nines, category: 'birthday', data: { value: 'x' } };
    if (name === 'needing') return data.submit(other);
    if (name === 'failing') throw new Error('no birthday');
    return 'Saved.';
  };

/** A bot that asks for consent in every command of its own, with each adapter. */
const SEATS: readonly (readonly [string, (lethe: Lethe) => Promise<BotSeat>])[] = [
  [
    'discord.js',
    async (lethe) =>
      discordJsSeat(discord, { lethe, onError }, async (interaction, kit) => {
        if (interaction.isButton()) {
          if (interaction.customId.startsWith('own-deferred')) await interaction.deferUpdate();
          await (interaction.customId.endsWith('ask')
            ? kit.ask(interaction)
            : kit.failed(interaction, new Error('no birthday')));
        }
        if (!interaction.isChatInputCommand()) return;
        const { commandName: name } = interaction;
        if (name === 'private') await interaction.deferReply({ flags: 64 });
        if (name === 'public' || name === 'answered') await interaction.deferReply();
        if (name === 'answered') await interaction.editReply('Hello');
        await kit.ask(interaction, thenOf(name, lethe));
      }),
  ],
  [
    'signed HTTP',
    (lethe) =>
      httpSeat(discord, { lethe, onError, others: ({ data }, ask) => ask(thenOf(data?.name, lethe)) }),
  ],
  ...(HAS_DISCORD_PY ? [['discord.py', newDiscordPySeat] as const] : []),
];

/** The calls of another process to the service wait here. */
async function newDiscordPySeat(): Promise<BotSeat> {
  const proxy = createServer((request, response) => {
    void (async () => {
      await hold();
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method = 'GET', headers, url = '' } = request;
      const body = chunks.length > 0 && { body: Buffer.concat(chunks) };
      const sent = Object.entries(headers).filter(([name]) => /^(auth|content-type|idem)/.test(name));
      const given = { method, headers: Object.fromEntries(sent) as Record<string, string>, ...body };
      const answer = await fetch(service.url + url, given);
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(Buffer.from(await answer.arrayBuffer()));
    })();
  });
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const seat = await discordPySeat(discord, { url, key });
  const watching = setInterval(() => errors.push(...seat.errors.splice(0)), 5);
  const stop = async (): Promise<void> => {
    clearInterval(watching);
    await seat.stop();
    proxy.closeAllConnections();
    await new Promise((closed) => proxy.close(closed));
  };
  return { ...seat, stop };
}

describe.each(SEATS)('a bot with %s', (name, start) => {
  let lethe: Lethe;
  let seat: BotSeat;
  beforeEach(async () => (seat = await start((lethe = await newLethe()))));
  afterEach(() => seat.stop());

  it('leaves the text and the buttons of a consent in the message of a press that fails', async () => {
    const robin = new DiscordUser({ discord, ...seat });
    const asked = await robin.privacy('consent');
    await lethe.bots.delete({});
    const failed = await robin.press(asked, 'I agree');
    expect(failed.content).toMatch(/^Something failed/);
    expect([failed.embeds, buttonsOf(failed)]).toEqual([asked.embeds, buttonsOf(asked)]);
    await until(() => errors.length > 0);
  });
  const user = () => new DiscordUser({ discord, ...seat });

  it('defers without waiting for the service, and only the user sees the answer', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    hold = () => released;
    const before = discord.deferred;
    const answered = user().privacy('about');
    await until(() => discord.deferred > before);
    release();
    expect((await answered).flags).toBe(64);
    expect(errors).toEqual([]);
  });

  it('changes a message of the user alone, and never one that all can see', async () => {
    const robin = user();
    const asked = await robin.privacy('consent');
    const own = await robin.press(asked, 'I agree');
    expect(own.id).toBe(asked.id);
    const posted: DiscordMessage = { ...(await robin.privacy('forget')), id: snowflake(), flags: 0 };
    const answer = await robin.press(posted, 'Erase my data');
    expect(answer).toMatchObject({ flags: 64, content: expect.stringContaining('has been erased') });
    expect(answer.id).not.toBe(posted.id);
  });

  const itWithButtons = name === 'signed HTTP' ? it.skip : it;
  itWithButtons.each([
    ['own:ask', 'Birthday'],
    ['own:failed', 'Something failed'],
    ['own-deferred:ask', 'Birthday'],
    ['own-deferred:failed', 'Something failed'],
  ])('leaves a private message of the bot itself as it is, at its button %s', async (button, said) => {
    const robin = user();
    const panel: DiscordMessage = { ...(await robin.privacy('forget')), id: snowflake(), content: 'Panel' };
    const answer = await robin.send(panel, button);
    expect(answer).toMatchObject({ flags: 64, content: expect.not.stringContaining('Panel') });
    expect(wordsOf(answer)).toContain(said);
    expect(answer.id).not.toBe(panel.id);
    await until(() => errors.length === (said === 'Something failed' ? 1 : 0));
  });

  it('asks for consent in a command of its own', async () => {
    const robin = user();
    const asked = await robin.command('birthday', []);
    expect(asked.flags).toBe(64);
    await robin.press(asked, buttonsOf(asked)[0] ?? '');
    expect((await lethe.consents.status(idsOf(robin))).status).toBe('accepted');
    await until(() => discord.last?.content === 'Saved.');
    expect(errors).toEqual([]);
  });

  it.each([
    ['birthday', /^Saved\.$/],
    ['failing', /^Your consent is recorded, but then your command failed/],
    ['needing', /^Your command needs something that you have not agreed to: /],
  ])('continues once after the consent in the command %s', async (command, said) => {
    const followUps = () =>
      discord.requests.filter((one) => one.startsWith(`POST /webhooks/${discord.applicationId}/`)).length;
    const robin = user();
    const asked = await robin.command(command, []);
    const done = await robin.press(asked, 'I agree');
    expect(done.content).toContain('Thank you. You agreed to:');
    await until(() => said.test(discord.last?.content ?? ''));
    expect(discord.last?.flags).toBe(64);
    await robin.press(asked, 'I agree');
    // What a second press made follow would be there before that of a third message.
    const other = user();
    await other.press(await other.command('birthday', []), 'I agree');
    await until(() => followUps() > 1 && discord.last?.content === 'Saved.');
    expect(followUps()).toBe(2);
    await until(() => errors.length === (command === 'failing' ? 1 : 0));
  });

  it('continues after the menus and a text that has changed, and is to be given again by another user', async () => {
    const [robin, kim] = [user(), user()];
    const asked = await robin.command('birthday', []);
    const done = await kim.press(asked, 'I agree');
    expect(done.content).toMatch(/\nNow please give your command again\.$/);
    const chosen = await robin.select(asked, ['Birthday']);
    await lethe.categories.change({ key: 'birthday', description: 'To sell it.' });
    // The bot keeps what is declared for a minute; the text is that of the service.
    const again = await robin.press(chosen, 'Agree to the selection (1)');
    expect(again.content).toContain('The text has changed');
    expect((await robin.press(again, 'I agree')).content).not.toContain('again');
    await until(() => discord.last?.content === 'Saved.');
    expect(errors).toEqual([]);
  });

  if (name !== 'signed HTTP')
    it.each(['public', 'answered', 'private'])(
      'asks so that only the user sees it, after an answer of its own that is %s',
      async (command) => {
        await user().command(command, []);
        await until(() => discord.last?.embeds.length === 1);
        const asked = discord.last as DiscordMessage;
        expect(asked.flags).toBe(64);
        expect(buttonsOf(asked)).toContain('I agree');
        const originals = discord.requests.filter((one) => /^(PATCH|DELETE) .*original$/.test(one));
        expect(originals.map((one) => one.split(' ')[0])).toEqual(
          command === 'public' ? ['DELETE'] : ['PATCH'],
        );
        expect(errors).toEqual([]);
      },
    );

  it.each([400, 413])('says that it has failed where Discord refuses the message with %d', async (status) => {
    hold = async () => {
      discord.faults = [status];
      hold = async () => undefined;
    };
    expect((await user().privacy('about')).content).toMatch(/^Something failed/);
    await until(() => errors.length > 0);
    expect(errors).toHaveLength(1);
  });

  it('says that it has failed where a file does not reach Discord', async () => {
    const robin = user();
    await robin.press(await robin.privacy('consent'), 'I agree');
    hold = async () => {
      // An adapter with repeats of its own is refused by what it does not repeat.
      discord.faults = [name === 'signed HTTP' ? 405 : 'lost'];
      hold = async () => undefined;
    };
    expect((await robin.privacy('export')).content).toMatch(/^Something failed/);
    await until(() => errors.length > 0);
    expect(errors).toHaveLength(1);
  });

  it.each([
    ['none where the interaction is not known any more', [404]],
    ['one alone where that does not reach Discord either', [413, 404]],
  ])('reports a file that does not reach Discord once, and says so by a message: %s', async (_, faults) => {
    const robin = user();
    await robin.press(await robin.privacy('consent'), 'I agree');
    hold = async () => {
      discord.requests.length = 0;
      discord.faults = [...faults];
      hold = async () => undefined;
    };
    void robin.privacy('export');
    await until(() => errors.length > 0);
    // Where there was a further message, it came before this one.
    await user().privacy('about');
    expect(discord.requests.filter((one) => one.startsWith('PATCH'))).toHaveLength(faults.length + 1);
    expect(errors).toEqual([
      name === 'discord.py' ? expect.anything() : expect.objectContaining({ status: faults[0] }),
    ]);
  });

  it('reports an answer that Discord does not take, and answers the next one', async () => {
    discord.faults = name !== 'signed HTTP' ? [403] : Array<number>(5).fill(500);
    void user().privacy('about');
    await until(() => errors.length > 0);
    expect(errors).toHaveLength(1);
    expect((await user().privacy('about')).flags).toBe(64);
  });
});

describe('the other interactions of a bot with discord.js', () => {
  const SENT = {
    'the context menu of a user': {
      type: 2,
      data: { id: '1', type: 2, name: 'Warn', target_id: '2', resolved: {} },
    },
    'the context menu of a message': {
      type: 2,
      data: { id: '1', type: 3, name: 'Report', target_id: '2', resolved: {} },
    },
    'a form': { type: 5, data: { custom_id: 'birthday', components: [] } },
  };
  it.each(Object.entries(SENT))('are asked in and said to have failed: %s', async (_, sent) => {
    let act: 'ask' | 'failed' = 'ask';
    const lost = new Error('no birthday');
    const seat = discordJsSeat(discord, { lethe: await newLethe(), onError }, async (interaction, kit) => {
      if (!interaction.isRepliable()) return;
      await (act === 'ask' ? kit.ask(interaction) : kit.failed(interaction, lost)).catch(onError);
    });
    const deliver: BotSeat['deliver'] = (payload) => seat.deliver({ ...payload, ...sent });
    const robin = new DiscordUser({ discord, deliver });
    const asked = await robin.command('', []);
    expect([asked.flags, buttonsOf(asked)]).toEqual([64, expect.arrayContaining(['I agree'])]);
    act = 'failed';
    expect((await robin.command('', [])).content).toMatch(/^Something failed/);
    expect(errors).toEqual([lost]);
    await seat.stop();
  });
});

describe('signed HTTP interactions', () => {
  const open = async (given: object = {}) =>
    httpSeat(discord, { lethe: await newLethe(), onError, ...given });
  const ping = JSON.stringify({ id: '1', application_id: '1', type: 1, token: 't' });
  let seat: Awaited<ReturnType<typeof open>>;
  beforeEach(async () => (seat = await open()));
  afterEach(() => seat.stop());
  const statusOf = async (init: RequestInit): Promise<number> => (await fetch(seat.url, init)).status;

  it('answers PING', async () => {
    const answer = await fetch(seat.url, signedRequest(ping));
    expect([answer.status, await answer.json()]).toEqual([200, { type: 1 }]);
  });

  it('refuses what Discord has not signed', async () => {
    const good = signedRequest(ping);
    const { privateKey: foreign } = generateKeyPairSync('ed25519');
    expect(await statusOf(signedRequest(ping, foreign))).toBe(401);
    expect(await statusOf({ ...good, body: `${ping} ` })).toBe(401);
    expect(await statusOf({ ...good, headers: { ...good.headers, 'x-signature-timestamp': '1' } })).toBe(401);
    expect(await statusOf({ method: 'POST', body: ping })).toBe(401);
    expect(await statusOf({ ...good, headers: { ...good.headers, 'x-signature-ed25519': 'zz' } })).toBe(401);
    expect(errors).toEqual([]);
  });

  it('takes a signature within five minutes of its time, before and after, and no other', async () => {
    await seat.stop();
    const nowMs = Date.parse('2026-01-01T00:00:00Z');
    seat = await open({ now: () => nowMs });
    const statuses = [];
    for (const aheadMs of [-301_000, -300_000, 300_000, 301_000])
      statuses.push(await statusOf(signedRequest(ping, undefined, nowMs + aheadMs)));
    expect(statuses).toEqual([401, 200, 200, 401]);
    expect(errors).toEqual([]);
  });

  it('refuses other methods, and bodies that are too large', async () => {
    expect(await statusOf({ method: 'GET' })).toBe(405);
    expect(await statusOf(signedRequest('x'.repeat(300_000)))).toBe(413);
    expect(await statusOf(signedRequest('no json'))).toBe(500);
  });

  it('answers a Request with a Response, and keeps the worker until the answer is sent', async () => {
    const { handler } = seat;
    const robin = new DiscordUser({
      discord,
      deliver: async (payload) => {
        const request = new Request('https://bot.example/', signedRequest(JSON.stringify(payload)));
        const kept: Promise<unknown>[] = [];
        const answer = await handler.fetch(request, { waitUntil: (work) => void kept.push(work) });
        expect(kept).toHaveLength(1);
        discord.begin(payload.token, (await answer.json()) as { type: number });
      },
    });
    expect((await robin.privacy('about')).flags).toBe(64);
    const bad = new Request('https://bot.example/', { method: 'POST', body: ping });
    expect((await handler.fetch(bad)).status).toBe(401);
  });

  it('says that a command of the bot has failed', async () => {
    await seat.stop();
    seat = await open({ others: () => Promise.reject(new Error('no birthday')) });
    const answer = await new DiscordUser({ discord, ...seat }).command('birthday', []);
    expect(answer.content).toContain('Something failed');
    expect(errors).toEqual([expect.objectContaining({ message: 'no birthday' })]);
  });

  it('cuts a text of the bot that is too long, and says of an empty one that the command has failed', async () => {
    await seat.stop();
    let text = 'x'.repeat(2001);
    seat = await open({ others: () => Promise.resolve(text) });
    const robin = new DiscordUser({ discord, ...seat });
    expect((await robin.command('birthday', [])).content).toBe(`${'x'.repeat(1999)}…`);
    for (text of ['', ' \n'])
      expect((await robin.command('birthday', [])).content).toContain('Something failed');
    expect(errors).toEqual([]);
  });

  it('says that a command has failed whose message Discord refuses', async () => {
    await seat.stop();
    const content = 'x'.repeat(2001);
    seat = await open({ others: () => Promise.resolve({ content, embeds: [], components: [], files: [] }) });
    const answer = await new DiscordUser({ discord, ...seat }).command('birthday', []);
    expect(answer.content).toContain('Something failed');
    expect(errors).toEqual([expect.objectContaining({ status: 400 })]);
  });

  it('has no key but one of Ed25519 in hexadecimal', async () => {
    const lethe = await newLethe();
    const handler = new HttpInteractions({ lethe, onError, publicKey: PUBLIC_KEY.slice(1) });
    const answer = await handler.fetch(new Request('https://bot.example/', signedRequest(ping)));
    expect(answer.status).toBe(500);
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('64 hexadecimal') })]);
  });
});

describe('the calls to Discord', () => {
  const rest = () => new DiscordRest({ api: `${discord.url}/v10`, token: 'x' });

  it('are repeated after a limit, a fault, a lost connection, and before the message is there', async () => {
    discord.faults = [429, 503, 'lost'];
    expect(await rest().get('/users/@me')).toMatchObject({ id: discord.applicationId });
    expect(discord.requests).toHaveLength(4);
    const early = rest().answer('1', 'nowhere', { content: 'x', embeds: [], components: [], files: [] });
    await expect(early).rejects.toMatchObject({ name: 'DiscordError', status: 404, code: 10_015 });
    expect(discord.requests).toHaveLength(9);
  });

  it('declare the commands, and name no token in an error', async () => {
    const { privacy } = discordJsSeat(discord, { lethe: await newLethe() }).kit;
    await rest().putCommands(discord.applicationId, [privacy.command, { name: 'birthday' }]);
    expect(discord.commands.map(({ name }) => name)).toEqual(['privacy', 'birthday']);
    expect(discord.requests).toEqual([`PUT /applications/${discord.applicationId}/commands`]);
    const refused = rest().answer('1', 'secret-token', {
      content: '',
      embeds: [],
      components: [],
      files: [],
    });
    await expect(refused).rejects.toThrow(/^PATCH \/webhooks\/1\/…\/messages\/@original: 404$/);
  });
});
