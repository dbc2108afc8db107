import { cpSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Lethe } from '@lethe/sdk';
import { parse as parseDotenv } from 'dotenv';
import { discordPy, HAS_DISCORD_PY } from '../support/discord-py-seat';
import { useFakeDiscord } from '../support/fake-discord';
import { usePacked } from '../support/packed';
import { useService } from '../support/shared-service';
import { snowflake } from '../support/snowflakes';
import { spawned } from '../support/spawned';

// What registers the bot in the examples: its key and its secret are answered once.

const EXAMPLES = join(__dirname, '../../examples');
const packed = usePacked('sdk', 'discord');
const service = useService();
const discord = useFakeDiscord();
const place = mkdtempSync(join(tmpdir(), 'lethe-setup-'));
afterAll(() => rmSync(place, { recursive: true }));

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

async function ofNode(env: Record<string, string>): Promise<Ended> {
  const directory = await packed.project(`setup-${snowflake()}`, { type: 'module' }, {});
  cpSync(join(EXAMPLES, 'discord-js/setup.js'), join(directory, 'setup.js'));
  const environment = { PATH: process.env['PATH'], DISCORD_API: discord.url, ...env };
  return spawned(process.execPath, ['setup.js'], { cwd: directory, env: environment }).ended;
}

async function ofPython(env: Record<string, string>): Promise<Ended> {
  const child = discordPy(discord, join(EXAMPLES, 'discord-py/register.py'), env);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => void (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

const PROGRAMS = [
  ['setup.js', ofNode] as const,
  ...(HAS_DISCORD_PY ? [['register.py', ofPython] as const] : []),
];

describe.each(PROGRAMS)('%s of the examples', (_, runs) => {
  let given: Record<string, string>;
  let file: string;
  beforeEach(() => {
    discord.applicationId = snowflake();
    discord.userId = snowflake();
    file = join(place, `${snowflake()}.env`);
    const token = `${Buffer.from(discord.applicationId).toString('base64')}.x.y`;
    given = { DISCORD_TOKEN: token, LETHE_URL: service.url, PRIVACY_CONTACT: 'privacy@example.org' };
  });

  it('registers nothing where it cannot write the key, and registers when it can', async () => {
    const failed = await runs({ ...given, ENV_FILE: join(place, 'missing', '.env') });
    expect(failed.code).not.toBe(0);
    expect(await runs({ ...given, ENV_FILE: file })).toMatchObject({ code: 0 });
    expect(parseDotenv(readFileSync(file))).toMatchObject({
      LETHE_KEY: expect.stringMatching(/^sk_/) as string,
      LETHE_WEBHOOK_SECRET: expect.stringMatching(/^whsec_/) as string,
    });
    const { LETHE_KEY: key = '' } = parseDotenv(readFileSync(file));
    const bot = await new Lethe({ url: service.url, key }).bots.me();
    expect(bot.platform_bot_id).toBe(discord.applicationId);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('continues with the key of an earlier run, and names the way to a new one where it is lost', async () => {
    await runs({ ...given, ENV_FILE: file });
    const { LETHE_KEY = '' } = parseDotenv(readFileSync(file));
    const lost = await runs({ ...given, ENV_FILE: file });
    expect(lost.code).not.toBe(0);
    expect(lost.output).toContain(`npx @lethe/server admin bots:new-key --bot ${discord.applicationId}`);
    // As where the first run had ended before it declared both categories.
    const { categories } = new Lethe({ url: service.url, key: LETHE_KEY });
    await categories.delete('birthday');
    const again = await runs({ ...given, ENV_FILE: file, LETHE_KEY });
    expect(again).toMatchObject({ code: 0, output: expect.stringContaining('is registered') as string });
    expect(parseDotenv(readFileSync(file))).toMatchObject({ LETHE_KEY });
    const keys = (await categories.list().toArray()).map(({ key }) => key);
    expect(keys.sort()).toEqual(['birthday', 'warnings']);
  });
});
