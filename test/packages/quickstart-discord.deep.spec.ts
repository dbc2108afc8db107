import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { discordPy, ended, HAS_DISCORD_PY } from '../support/discord-py-seat';
import { DiscordUser } from '../support/discord-user';
import { useFakeDiscord } from '../support/fake-discord';
import { FakeGateway } from '../support/fake-gateway';
import { usePacked } from '../support/packed';
import { useService } from '../support/shared-service';
import { snowflake } from '../support/snowflakes';
import { until } from '../support/until';

// The bots of docs/quickstart.md with discord.js and discord.py, as they are there, at a Discord of the test.

const ROOT = join(__dirname, '../..');
const packed = usePacked('sdk', 'discord');
const service = useService();
const discord = useFakeDiscord();

function block(language: string): string {
  const text = readFileSync(join(ROOT, 'docs/quickstart.md'), 'utf8');
  return new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'm').exec(text)?.[1] ?? '';
}

const BLOCKS = { 'discord.js': block('js'), 'discord.py': block('python') };

/** Starts the code of a page; the addresses of Discord alone are those of the test. */
const STARTS = {
  'discord.js': async (environment: Record<string, string>): Promise<ChildProcess> => {
    const toLocal = `require('discord.js').DefaultRestOptions.api = process.env.DISCORD_API;`;
    const files = { 'local.cjs': toLocal, 'bot.mjs': BLOCKS['discord.js'] };
    const directory = await packed.project('quickstart', {}, files);
    symlinkSync(join(ROOT, 'node_modules/discord.js'), join(directory, 'node_modules/discord.js'));
    const env = { PATH: process.env['PATH'], DISCORD_API: discord.url, ...environment };
    return spawn(process.execPath, ['--require', './local.cjs', 'bot.mjs'], { cwd: directory, env });
  },
  'discord.py': async (environment: Record<string, string>): Promise<ChildProcess> => {
    const program = join(packed.place, 'bot.py');
    writeFileSync(program, BLOCKS['discord.py']);
    return discordPy(discord, program, environment);
  },
};

describe.each(['discord.js', 'discord.py'] as const)('the quickstart with %s', (name) => {
  let bot: ChildProcess | undefined;
  let gateway: FakeGateway;
  let output = '';
  beforeEach(async () => {
    output = '';
    discord.applicationId = snowflake();
    discord.commands = [];
    gateway = await new FakeGateway(discord).start();
  });
  afterEach(async () => {
    if (bot !== undefined) await ended(bot);
    await gateway.stop();
  });

  it('fits on one screen', () => {
    const lines = BLOCKS[name].trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.length).toBeLessThanOrEqual(47);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(130);
  });

  (name === 'discord.js' || HAS_DISCORD_PY ? it : it.skip)('asks, stores, exports and erases', async () => {
    const registered = await service.registerBot({ platform_bot_id: discord.applicationId });
    const { key } = registered;
    const token = `${Buffer.from(discord.applicationId).toString('base64')}.x.y`;
    bot = await STARTS[name]({ LETHE_URL: service.url, LETHE_KEY: key, DISCORD_TOKEN: token });
    for (const stream of [bot.stdout, bot.stderr])
      stream?.on('data', (chunk: Buffer) => void (output += chunk.toString()));
    await until(() => (discord.commands.length === 2 && gateway.isIdentified) || bot?.exitCode !== null);
    expect({ output, code: bot.exitCode }).toEqual({
      code: null,
      output: expect.not.stringContaining('rror') as string,
    });
    let late: { token?: string } = {};
    const deliver = (payload: object) => gateway.interact({ ...payload, ...late });
    const robin = new DiscordUser({ discord, deliver });
    const nickname = () => robin.command('nickname', [{ type: 3, name: 'name', value: 'Robin' }]);
    await robin.press(await nickname(), 'I agree');
    expect((await nickname()).content).toBe('Saved.');
    const exported = await robin.privacy('export');
    expect(JSON.parse(exported.files['privacy-export.json'] ?? '')).toMatchObject({
      data: { profile: { nickname: 'Robin' } },
    });
    const erased = await robin.press(await robin.privacy('forget'), 'Erase my data');
    expect(erased.content).toContain('Your data has been erased.');
    expect(output).not.toContain('rror');

    // What Discord no longer knows (10062) ends no bot, and what Lethe refuses is said.
    late = { token: 'late' };
    void nickname();
    await until(() => output.includes('10062') || bot?.exitCode !== null);
    late = {};
    expect(bot.exitCode).toBeNull();
    await robin.press(await nickname(), 'I agree');
    await registered.post('/data/restrict', { user_id: robin.id, guild_id: robin.guildId });
    expect((await nickname()).content).toContain('restricted');
    await ended(bot);
  });
});

it.each(['docs/quickstart.md', 'packages/discord/README.md', 'examples/discord-js/bot.js'])(
  '%s outlives an interaction that comes too late, and a listener that rejects',
  (file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    expect(text).toMatch(/^ *try \{\n +await interaction\.deferReply\(/m);
    expect(text).toMatch(/^client\.on\((?:'error'|Events\.Error), console\.error\);/m);
  },
);
