import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { runScript, type ScriptRun } from '../support/child-script';
import { newDatabase, type TestDatabase } from '../support/database';
import { adminHere, ServiceHere } from '../support/here';
import { UNKNOWN_UUID } from '../support/inputs';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

const LETHE_MASTER_KEY = Buffer.alloc(32, 'test').toString('base64');
const build = useBuild();
let directory: string;
let database: TestDatabase;
let bot: Bot;

const environment = () => ({ DATABASE_URL: database.url, LETHE_MASTER_KEY });
const admin = (...args: string[]): Promise<ScriptRun> => adminHere(args, environment());
const linesOf = ({ stdout }: ScriptRun): object[] =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as object);

/** A sealed log, and a value without an update for years. */
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  database = await newDatabase(directory);
  const service = await new ServiceHere(database, environment()).start();
  bot = await Bot.register(service.url);
  await bot.hasCategory('profile', undefined, { retention_days: 1 });
  const who = subject();
  await bot.hasConsent(who);
  await bot.hasData(who, 'profile', { value: 'x' });
  await until(async () => (await database.rows('SELECT 1 FROM audit_batches')).length > 0);
  await service.end();
  const old = '2020-01-01T00:00:00.000Z';
  await database.run('UPDATE user_data SET updated_at = ?, retention_from = ?', old, old);
});
afterAll(async () => {
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

describe('keys:list, audit:verify and retention:preview', () => {
  it('answer beside a service that writes and erases, and make no file', async () => {
    const service = await new ServiceHere(database, environment()).start();
    // The service makes its ballast after its start.
    const filesOf = () => readdirSync(directory).filter((name) => !name.endsWith('.ballast'));
    const files = filesOf().sort();
    const acts = { begun: 0, isOver: false };
    const writing = (async () => {
      for (; !acts.isOver; acts.begun++) {
        const who = subject();
        await bot.at(service).hasConsent(who);
        await bot.at(service).hasForgotten(who);
      }
    })();
    try {
      for (const command of ['keys:list', 'audit:verify', 'retention:preview'])
        expect(await runScript(build, 'admin', [command], environment())).toMatchObject({ code: 0 });
      expect(filesOf().sort()).toEqual(files);
    } finally {
      acts.isOver = true;
      await writing;
      await service.end();
    }
    expect(acts.begun).toBeGreaterThan(0);
  });
});

describe('lethe-server admin retention:preview', () => {
  it('prints how much would be erased, and erases nothing', async () => {
    const run = await admin('retention:preview');
    expect(run.code).toBe(0);
    expect(linesOf(run)).toMatchObject([
      {
        bot_id: bot.id,
        due: [{ category: 'profile', values: 1 }],
        guilds: { scheduled: 0, due: 0 },
        evidence: { deletion_requests: 0 },
      },
    ]);
    expect(await database.rows('SELECT 1 FROM user_data')).toHaveLength(1);
  });
});

describe('lethe-server admin audit:verify', () => {
  it('finds a log whole, and by --bot that of one bot', async () => {
    for (const args of [[], ['--bot', bot.id]]) {
      const run = await admin('audit:verify', ...args);
      expect(run).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('Every log is what was sealed.'),
      });
      expect(linesOf(run)).toMatchObject([{ bot_id: bot.id, faults: 0 }]);
    }
  });

  it('refuses a bot that is not there, and checkpoints that are none of the log', async () => {
    const unknown = await admin('audit:verify', '--bot', UNKNOWN_UUID);
    expect(unknown).toMatchObject({ code: 1, stderr: `There is no bot ${UNKNOWN_UUID}.\n` });
    const file = join(directory, 'kept');
    writeFileSync(file, 'x.y.z\n');
    const foreign = await admin('audit:verify', '--bot', bot.id, '--kept', file);
    expect(foreign.code).toBe(1);
    expect(foreign.stdout).toContain('a checkpoint that was given is not one of this log');
  });

  it('names what was changed, and ends with 1', async () => {
    await database.run(
      `UPDATE audit_events SET event_type = 'data_exported' WHERE event_type = 'data_submitted'`,
    );
    const run = await admin('audit:verify');
    expect(run.code).toBe(1);
    expect(linesOf(run)).toContainEqual(expect.objectContaining({ bot_id: bot.id, fault: 'event_changed' }));
  });
});
