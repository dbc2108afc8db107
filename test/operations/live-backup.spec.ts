import { copyFileSync, existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { SqliteDatabase } from '@app/database';
import { writeEnvironment } from '../../apps/server/src/init';
import { Service } from '../support/service';
import { subject } from '../support/snowflakes';

// What docs/operate.md promises of the files.

let service: Service;
beforeEach(async () => {
  service = await new Service().start();
});
afterEach(() => rmSync(service.directory, { recursive: true, force: true }));

function inFile<T>(path: string, look: (database: Database) => T): T {
  const database = new SqliteDatabase(path, { readonly: true });
  try {
    return look(database);
  } finally {
    database.close();
  }
}

const bots = (database: Database) => database.prepare('SELECT id FROM bots').pluck().all();

describe('the database file', () => {
  it('is whole by itself after an orderly stop, so that it can be copied', async () => {
    const bot = await service.registerBot();
    await service.app.close();
    expect(existsSync(`${service.databasePath}-wal`)).toBe(false);
    const copy = join(service.directory, 'copy.db');
    copyFileSync(service.databasePath, copy);
    expect(inFile(copy, bots)).toEqual([bot.id]);
  });

  it('can be backed up while the service runs and writes', async () => {
    const bot = await service.registerBot();
    const backup = join(service.directory, 'backup.db');
    const writing = Array.from({ length: 20 }, () => bot.hasRequest(subject()));
    inFile(service.databasePath, (database) => database.prepare('VACUUM INTO ?').run(backup));
    await Promise.all(writing);
    expect(inFile(backup, bots)).toEqual([bot.id]);
    expect(inFile(backup, (database) => database.pragma('integrity_check', { simple: true }))).toBe('ok');
    await service.app.close();
  });

  it.each(['', '.key', '.lock', '-wal', '-shm'])(
    'is readable by its owner alone (lethe.db%s)',
    async (suffix) => {
      await service.registerBot();
      expect(statSync(`${service.databasePath}${suffix}`).mode & 0o077).toBe(0);
      await service.app.close();
    },
  );
});

describe('the .env of lethe-server init', () => {
  it('is readable by its owner alone, whatever the umask allows', async () => {
    const said = [process.stdout, process.stderr].map((to) => jest.spyOn(to, 'write').mockReturnValue(true));
    const umask = process.umask(0);
    const code = writeEnvironment(service.directory);
    process.umask(umask);
    for (const spy of said) spy.mockRestore();
    expect([code, statSync(join(service.directory, '.env')).mode & 0o777]).toEqual([0, 0o600]);
    await service.app.close();
  });
});
