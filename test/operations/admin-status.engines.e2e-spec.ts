import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bot } from '../support/bot';
import { newDatabase, type TestDatabase } from '../support/database';
import { adminHere, ServiceHere } from '../support/here';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

const LETHE_MASTER_KEY = Buffer.alloc(32, 'test').toString('base64');
let directory: string;
let database: TestDatabase;
let service: ServiceHere;
const environment = () => ({ DATABASE_URL: database.url, LETHE_MASTER_KEY });

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  database = await newDatabase(directory);
  service = await new ServiceHere(database, environment()).start();
  const bot = await Bot.register(service.url);
  await bot.hasCategory('profile');
  const who = subject();
  await bot.hasConsent(who);
  await bot.hasData(who, 'profile', { value: 'x' });
  await until(async () => (await database.rows('SELECT 1 FROM audit_batches')).length > 0);
});
afterAll(async () => {
  await service.end();
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

async function json(command: string): Promise<Record<string, unknown>> {
  const { stdout } = await adminHere([command, '--json'], environment());
  return JSON.parse(stdout) as Record<string, unknown>;
}

const findings = async (): Promise<string[]> =>
  ((await json('doctor'))['findings'] as { id: string }[]).map(({ id }) => id);

describe('lethe-server admin status', () => {
  it('answers beside a running service, and names no user', async () => {
    expect(await json('status')).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      database: { engine: expect.stringMatching(/^(sqlite|postgres)$/), bytes: expect.any(Number) },
      bots: { total: 1, suspended: 0 },
      subjects: 1,
      oldest_due: { webhook: null, erasure: null },
      values_past_retention: 0,
      master_key: { from: 'environment' },
    });
    const words = await adminHere(['status'], environment());
    expect(words).toMatchObject({ code: 0, stderr: '' });
    expect(words.stdout).toMatch(/^Bots +1$/m);
    expect(words.stdout).not.toContain(LETHE_MASTER_KEY);
  });

  it('counts a value past its retention', async () => {
    const old = '2020-01-01T00:00:00.000Z';
    await database.run('UPDATE user_data SET updated_at = ?, retention_from = ?', old, old);
    await database.run('UPDATE categories SET retention_days = 1');
    expect(await json('status')).toMatchObject({ values_past_retention: 1 });
  });
});

describe('lethe-server admin doctor', () => {
  it('finds events of the future and unsealed ones', async () => {
    expect(await findings()).not.toContain('clock_behind');
    await database.run(`UPDATE audit_events SET created_at = '2999-01-01T00:00:00.000Z'`);
    expect(await findings()).toContain('clock_behind');
    await database.run(`UPDATE audit_events SET created_at = '2020-01-01T00:00:00.000Z'`);
    await database.run('UPDATE audit_heads SET last_seq = 0');
    const found = await findings();
    expect(found).toContain('log_unsealed');
    expect(found).not.toContain('clock_behind');
    expect((await adminHere(['doctor'], environment())).code).toBe(1);
  });

  it('finds migrations that have not run', async () => {
    await service.end();
    expect((await adminHere(['db:revert'], environment())).code).toBe(0);
    const { findings: found } = (await json('doctor')) as { findings: { id: string; mend: string }[] };
    expect(found).toContainEqual(
      expect.objectContaining({
        id: 'migrations_pending',
        level: 'fault',
        mend: expect.stringContaining('db:migrate'),
      }),
    );
    expect((await adminHere(['db:migrate'], environment())).code).toBe(0);
    expect(await findings()).not.toContain('migrations_pending');
  });
});
