import { closeSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { engine } from '../support/database';
import { useInstallation } from '../support/installation';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

// Pages of the database are overwritten while no process has them in memory.

const lethe = useInstallation({ build: useBuild() });
let service: ChildService;
beforeEach(() => {
  service = lethe.child({}, lethe.log);
});

/** Overwrites the first page of a table on SQLite; appends a page to each part of the table on PostgreSQL. */
async function damage(table: string): Promise<void> {
  const one = async <Row>(sql: string): Promise<Row> => (await lethe.database.rows<Row>(sql))[0] as Row;
  if (engine === 'sqlite') {
    const { rootpage } = await one<{ rootpage: number }>(
      `SELECT rootpage FROM sqlite_master WHERE name = '${table}'`,
    );
    const { page_size: size } = await one<{ page_size: number }>('PRAGMA page_size');
    const file = openSync(lethe.path, 'r+');
    writeSync(file, Buffer.alloc(size, 0xff), 0, size, (rootpage - 1) * size);
    return closeSync(file);
  }
  await lethe.database.run('CHECKPOINT');
  const place = await one<{ setting: string }>(
    `SELECT setting FROM pg_settings WHERE name = 'data_directory'`,
  );
  const parts = await lethe.database.rows<{ path: string }>(
    `SELECT pg_relation_filepath(inhrelid) AS path FROM pg_inherits WHERE inhparent = '${table}'::regclass`,
  );
  for (const { path } of parts) {
    const file = join(place.setting, path);
    writeFileSync(file, Buffer.alloc(8_192, 0xff), { flag: 'a' });
    expect(statSync(file).size % 8_192).toBe(0);
  }
}

const status = async (): Promise<string> =>
  ((await (await fetch(`${service.url}/health/ready`)).json()) as { data: { status: string } }).data.status;

async function damaged(): Promise<string | undefined> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return /^lethe_degraded\{condition="database_damaged"\} (\d)$/m.exec(text)?.[1];
}

const words = (): number => lethe.logged.split('a damaged page').length - 1;

describe('a statement that meets a damaged page', () => {
  it.each(['user_data', 'audit_events'])(
    'of %s degrades the process until it ends, with one line that says what to do',
    async (table) => {
      const prepared = await lethe.withBot();
      const second = subject();
      await prepared.hasConsent(second);
      await prepared.hasUser();
      // Each start seals what is left, and would meet the page by itself.
      await lethe.sealed();
      await lethe.service.end();
      await damage(table);
      await service.start();
      const bot = prepared.at(service);
      for (let time = 0; time < 2; time++) {
        const answer = await bot.post('/data/submit', {
          ...second,
          category: 'profile',
          data: { value: 'y' },
        });
        expect(answer.status).toBeGreaterThanOrEqual(500);
      }
      expect([await status(), await damaged()]).toEqual(['degraded', '1']);
      await until(() => words() > 0);
      expect(words()).toBe(1);
      expect((await bot.get('/data/categories')).status).toBe(200);
      await service.end('SIGTERM');
      await service.start();
      expect([await status(), await damaged()]).toEqual(['ok', '0']);
    },
  );
});

describe('npm run admin -- doctor', () => {
  it('names a damaged page beside what else it finds', async () => {
    // On PostgreSQL its statements read indexes.
    if (engine === 'postgres') return;
    await (await lethe.withBot()).hasUser();
    await lethe.service.end();
    await damage('audit_events');
    const { code, stdout } = await lethe.admin('doctor', '--json');
    expect(code).toBe(1);
    const { findings } = JSON.parse(stdout) as { findings: { id: string }[] };
    expect(findings).toContainEqual(
      expect.objectContaining({
        id: 'database',
        level: 'fault',
        mend: expect.stringContaining('check the disk, and restore a backup'),
      }),
    );
    expect(findings.map(({ id }) => id)).toContain('backup_missing');
  });
});
