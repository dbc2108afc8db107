import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteDatabase as Database } from '@app/database';
import { Lethe } from '@lethe/sdk';
import { verifyFinalCertificate } from '@lethe/sdk/evidence';
import { PYTHON } from '../support/discord-py-seat';
import { SQLITE_PACKAGE } from '../support/database';
import { builtPackage } from '../support/packed';
import { canRun } from '../support/programs';
import { spawned } from '../support/spawned';
import { useService } from '../support/shared-service';
import { subject } from '../support/snowflakes';

// examples/discord-js/database.js as it is, in a process of its own with the package as npm has it, and the service.

const ROOT = join(__dirname, '../..');
const service = useService();
const place = mkdtempSync(join(tmpdir(), 'lethe-example-'));
afterAll(() => rmSync(place, { recursive: true }));

const itWithPython = canRun(PYTHON, ['-c', 'import httpx']) ? it : it.skip;

const BOT = `
import { Lethe } from '@lethe/sdk';
import { hold, warn } from './database.js';
const who = JSON.parse(process.env.WHO ?? '[]');
for (const one of who) console.log(warn({ ...one, reason: 'spam' }));
await hold(new Lethe({ url: process.env.LETHE_URL, key: process.env.LETHE_KEY, retries: 0 }));
`;

/** Starts the bot once, which notes warnings and does what waits. */
async function bot(key: string, who: readonly object[] = [], url = service.url): Promise<string> {
  const env = { PATH: process.env['PATH'], LETHE_URL: url, LETHE_KEY: key, WHO: JSON.stringify(who) };
  const { code, output } = await spawned(process.execPath, ['bot.mjs'], { cwd: place, env }).ended;
  expect({ code, output }).toMatchObject({ code: 0 });
  return output.trim();
}

function warnings(): unknown[] {
  const database = new Database(join(place, 'bot.db'), { readonly: true });
  try {
    return database.prepare('SELECT user_id FROM warnings').pluck().all();
  } finally {
    database.close();
  }
}

beforeAll(async () => {
  mkdirSync(join(place, 'node_modules/@lethe'), { recursive: true });
  cpSync(await builtPackage('sdk'), join(place, 'node_modules/@lethe/sdk'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', SQLITE_PACKAGE), join(place, 'node_modules/better-sqlite3'));
  cpSync(join(ROOT, 'examples/discord-js/database.js'), join(place, 'database.js'));
  writeFileSync(join(place, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(place, 'bot.mjs'), BOT);
});

describe('the holder of the examples', () => {
  it('erases the row of a user who was erased through Lethe, of which a final certificate is verified offline', async () => {
    const { key, id: botId } = await service.registerBot();
    const lethe = new Lethe({ url: service.url, key });
    const [who, other] = [subject(), subject()];
    expect(await bot(key, [who, who, other])).toBe('1\n2\n1');
    const { request_id: id, certificate_salt: salt } = await lethe.privacy.forget(who);
    await expect(lethe.privacy.finalCertificate(id)).rejects.toMatchObject({ code: 'conflict' });
    expect(await bot(key)).toBe('');
    expect(warnings()).toEqual([other.user_id]);
    const bytes = readFileSync(join(place, 'bot.db'));
    expect([bytes.includes(who.user_id), bytes.includes(other.user_id)]).toEqual([false, true]);
    const { certificate } = await lethe.privacy.finalCertificate(id);
    const subjectOf = { salt: String(salt), botId, userId: who.user_id, guildId: who.guild_id };
    expect(verifyFinalCertificate(certificate, await lethe.publicKeys(), subjectOf).holders).toMatchObject([
      { key: 'database', result: 'erased', counts: { warnings: 2 } },
    ]);
  });

  itWithPython('keeps in no file what the bot deletes on its own connection, in Python too', async () => {
    const database = join(ROOT, 'examples/discord-py');
    const env = {
      ...{ PATH: process.env['PATH'], DATABASE: join(place, 'python.db'), PYTHONDONTWRITEBYTECODE: '1' },
      PYTHONPATH: [database, join(ROOT, 'clients/python/src')].join(':'),
    };
    // Debian's SQLite deletes securely by itself, and that of others does not.
    const act = `import sqlite3
connect = sqlite3.connect
def usual(*given, **options):
    connection = connect(*given, **options)
    connection.execute("PRAGMA secure_delete = OFF")
    return connection
sqlite3.connect = usual
import asyncio, database
asyncio.run(database.warn(1, 2, "a-canary"))
database._database.execute("DELETE FROM warnings")`;
    expect(await spawned(PYTHON, ['-c', act], { env }).ended).toMatchObject({ code: 0, output: '' });
    expect(readFileSync(env.DATABASE).includes('a-canary')).toBe(false);
  });

  itWithPython('lets the bot in Python start where its key may not register the holder', async () => {
    const { key } = await service.registerBot();
    const { api_key } = await new Lethe({ url: service.url, key }).keys.create({ scopes: ['read', 'write'] });
    const env = {
      ...{ PATH: process.env['PATH'], DATABASE: join(place, 'refused.db'), PYTHONDONTWRITEBYTECODE: '1' },
      PYTHONPATH: [join(ROOT, 'examples/discord-py'), join(ROOT, 'clients/python/src')].join(':'),
      ...{ LETHE_URL: service.url, LETHE_KEY: api_key },
    };
    const act = `import asyncio, os, database
from lethe_client import AsyncLethe
async def start():
    async with AsyncLethe(os.environ["LETHE_URL"], os.environ["LETHE_KEY"]) as lethe:
        await database.hold(lethe)
        print("started")
asyncio.run(start())`;
    const { code, output } = await spawned(PYTHON, ['-c', act], { env }).ended;
    expect([code, output]).toEqual([0, expect.stringMatching(/started/)]);
    expect(output).toContain('admin');
  });

  it('lets the bot start where Lethe does not answer', async () => {
    expect(await bot('sk_live_x', [], 'http://127.0.0.1:1')).toContain('Error');
  });
});
