import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse as parseDotenv } from 'dotenv';
import { itAtFullDepth } from '../support/depth';
import { playBirthdays } from '../support/discord-birthdays';
import { discordPy, ended, HAS_DISCORD_PY, PYTHON } from '../support/discord-py-seat';
import { useFakeDiscord } from '../support/fake-discord';
import { FakeGateway } from '../support/fake-gateway';
import { freePort } from '../support/free-port';
import { canRun } from '../support/programs';
import { useService } from '../support/shared-service';
import { snowflake } from '../support/snowflakes';
import { until } from '../support/until';

// examples/discord-py, with lethe-client as pip installs it from the folder: its dependencies are Debian's, and no index is asked.

const ROOT = join(__dirname, '../..');
const EXAMPLE = join(ROOT, 'examples/discord-py');
const isRun = HAS_DISCORD_PY && canRun(PYTHON, ['-c', 'import setuptools, wheel, pip']);
const service = useService();
const discord = useFakeDiscord();
const place = mkdtempSync(join(tmpdir(), 'lethe-discord-py-'));
const installed = join(place, 'installed');
let bot: ChildProcess | undefined;
afterAll(async () => {
  if (bot !== undefined) await ended(bot);
  rmSync(place, { recursive: true });
});

describe('examples/discord-py', () => {
  it('has at most 180 lines of its own', () => {
    const files = readdirSync(EXAMPLE).filter((file) => file.endsWith('.py'));
    const lines = files.flatMap((file) => readFileSync(join(EXAMPLE, file), 'utf8').trimEnd().split('\n'));
    expect(files).toEqual(['bot.py', 'database.py', 'register.py']);
    expect(lines.length).toBeLessThanOrEqual(180);
    const page = readFileSync(join(ROOT, 'docs/discord.md'), 'utf8');
    expect(page).toMatch(new RegExp(`^\\| \\[discord-py\\].* \\| ${lines.length} +\\|`, 'm'));
  });

  (isRun ? itAtFullDepth : it.skip)('runs with what pip has installed', async () => {
    // pip builds in the folder that it is given.
    cpSync(join(ROOT, 'clients/python'), join(place, 'python'), { recursive: true });
    const options = ['--quiet', '--no-build-isolation', '--no-deps', '--no-index', '--target', installed];
    execFileSync(PYTHON, ['-m', 'pip', 'install', ...options, join(place, 'python')], { stdio: 'pipe' });
    const parts = [
      'lethe_client/errors.md',
      'lethe_client/holders/__init__.py',
      'lethe_client/testing/__init__.py',
      'lethe_discord/texts.json',
    ];
    for (const file of ['lethe_client/py.typed', 'lethe_discord/py.typed', ...parts])
      expect([file, existsSync(join(installed, file))]).toEqual([file, true]);

    discord.applicationId = snowflake();
    const gateway = await new FakeGateway(discord).start();
    try {
      const port = String(await freePort());
      const files = { ENV_FILE: join(place, '.env'), PYTHONPATH: installed, DATABASE: join(place, 'bot.db') };
      const given = parseDotenv(readFileSync(join(EXAMPLE, '.env.example')));
      const own = { DISCORD_TOKEN: 'x.y.z', LETHE_URL: service.url, PORT: port, ...files };
      const setUp = { ...given, ...own, WEBHOOK_URL: `http://127.0.0.1:${port}/gdpr` };
      let output = '';
      const run = (program: string, environment: Record<string, string>) => {
        const child = discordPy(discord, join(EXAMPLE, program), environment);
        for (const stream of [child.stdout, child.stderr])
          stream.on('data', (chunk: Buffer) => void (output += chunk.toString()));
        return child;
      };
      bot = run('register.py', setUp);
      // All that it has written is read at its close, not at its exit.
      const [code] = (await once(bot, 'close')) as [number | null];
      expect({ code, output }).toEqual({
        code: 0,
        output: 'Birthday Bot is registered. Start it: python3 bot.py\n',
      });
      bot = run('bot.py', { ...setUp, ...parseDotenv(readFileSync(join(place, '.env'))) });
      await until(() => /is ready|Error/.test(output));
      await playBirthdays(
        discord,
        (payload) => gateway.interact(payload),
        () => output,
        files.DATABASE,
      );
    } finally {
      if (bot !== undefined) await ended(bot);
      await gateway.stop();
    }
  });
});
