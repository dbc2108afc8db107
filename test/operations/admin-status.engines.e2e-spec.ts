import { JobRunner } from '@app/database';
import { DueData } from '@app/user-data';
import { engine } from '../support/database';
import { useOneInstallation } from '../support/installation';

const lethe = useOneInstallation();
beforeAll(async () => {
  await (await lethe.withBot()).hasUser();
  await lethe.sealed();
});

async function json(command: string): Promise<Record<string, unknown>> {
  const { stdout } = await lethe.admin(command, '--json');
  return JSON.parse(stdout) as Record<string, unknown>;
}

const findings = async (): Promise<string[]> =>
  ((await json('doctor'))['findings'] as { id: string }[]).map(({ id }) => id);

describe('npm run admin -- status', () => {
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
    const words = await lethe.admin('status');
    expect(words).toMatchObject({ code: 0, stderr: '' });
    expect(words.stdout).toMatch(/^Bots +1$/m);
    expect(words.stdout).not.toContain(lethe.settings['LETHE_MASTER_KEY']);
  });

  it('starts no job, not even the one that writes the time in every process', async () => {
    const runs = jest.spyOn(JobRunner.prototype, 'run');
    expect((await lethe.admin('status')).code).toBe(0);
    expect(runs).not.toHaveBeenCalled();
    runs.mockRestore();
  });

  it('counts a value past its retention once, also when its consent was revoked', async () => {
    const due = (['retention', 'consent_revoked'] as const).map((reason) => ({
      ...{ category: 'profile', reason, values: 2 },
    }));
    const counts = jest.spyOn(DueData.prototype, 'counts').mockResolvedValue(due);
    expect(await json('status')).toMatchObject({ values_past_retention: 2 });
    counts.mockRestore();
  });

  it('counts a value past its retention', async () => {
    const old = '2020-01-01T00:00:00.000Z';
    await lethe.database.run('UPDATE user_data SET updated_at = ?, retention_from = ?', old, old);
    await lethe.database.run('UPDATE categories SET retention_days = 1');
    expect(await json('status')).toMatchObject({ values_past_retention: 1 });
  });
});

describe('npm run admin -- doctor', () => {
  it('finds events of the future and unsealed ones', async () => {
    expect(await findings()).not.toContain('clock_behind');
    await lethe.database.run(`UPDATE audit_events SET created_at = '2999-01-01T00:00:00.000Z'`);
    expect(await findings()).toContain('clock_behind');
    await lethe.database.run(`UPDATE audit_events SET created_at = '2020-01-01T00:00:00.000Z'`);
    await lethe.database.run('UPDATE audit_heads SET last_seq = 0');
    const found = await findings();
    expect(found).toContain('log_unsealed');
    expect(found).not.toContain('clock_behind');
    expect((await lethe.admin('doctor')).code).toBe(1);
  });

  it('says what it does not look at on PostgreSQL, and names a log whose files keep destroyed keys', async () => {
    const { findings: found, messages } = (await json('doctor')) as {
      findings: { id: string }[];
      messages: string[];
    };
    const isUnseen = messages.some((line) => line.startsWith('On PostgreSQL backups and exports'));
    expect(isUnseen).toBe(engine === 'postgres');
    const set = `SELECT current_setting('wal_recycle', true) AS setting`;
    const [row] = engine === 'postgres' ? await lethe.database.rows<{ setting: string }>(set) : [];
    expect(found.some(({ id }) => id === 'wal_recycle')).toBe(row?.setting === 'on');
  });
});

describe('a command that reads, on a database that no service has used', () => {
  const fresh = useOneInstallation();

  it('makes no keys, and asks to start the service first', async () => {
    expect((await fresh.admin('db:migrate')).code).toBe(0);
    const refused = {
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('Start the service with it once'),
    };
    for (const command of ['status', 'audit:verify'])
      expect(await fresh.admin(command)).toMatchObject(refused);
    // On SQLite it reads a copy of the keys.
    const ledger = await fresh.admin('ledger:export');
    if (engine === 'postgres') expect(ledger).toMatchObject(refused);
    expect(await fresh.database.rows('SELECT name FROM keys.service_keys')).toEqual([]);
  });
});
