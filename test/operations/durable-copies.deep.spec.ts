import fs, { chownSync, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DiskWatch } from '@app/database';
import { useInstallation } from '../support/installation';

const lethe = useInstallation();
afterEach(() => jest.restoreAllMocks());

/** The paths that are flushed from now on. */
function flushed(): Set<string> {
  const paths = new Set<string>();
  const { open } = fs.promises;
  jest.spyOn(fs.promises, 'open').mockImplementation(async (path, ...how) => {
    const file = await open(path, ...how);
    const sync = file.sync.bind(file);
    file.sync = async () => {
      await sync();
      paths.add(String(path));
    };
    return file;
  });
  return paths;
}

describe('a copy that is recorded as made', () => {
  it('is in directories whose entries are flushed, so that a power cut leaves it (backup)', async () => {
    await lethe.withBot();
    const paths = flushed();
    const to = join(lethe.root, 'saved', 'monday');
    expect(await lethe.admin('backup', '--to', to)).toMatchObject({ code: 0 });
    expect([lethe.root, join(lethe.root, 'saved'), to].filter((path) => !paths.has(path))).toEqual([]);
  });

  it('is in directories whose entries are flushed, so that a power cut leaves it (ledger:export)', async () => {
    await lethe.withBot();
    const paths = flushed();
    const file = join(lethe.root, 'ledger.ndjson');
    expect(await lethe.admin('ledger:export', '--out', file)).toMatchObject({ code: 0 });
    expect([file, lethe.root].filter((path) => !paths.has(path))).toEqual([]);
  });
});

describe('npm run admin -- ledger:export', () => {
  it('leaves no file that is cut, so that it can be run again', async () => {
    await lethe.withBot();
    const file = join(lethe.root, 'ledger.ndjson');
    const { open } = fs.promises;
    const opens = jest.spyOn(fs.promises, 'open').mockImplementation(async (path, ...how) => {
      const handle = await open(path, ...how);
      if (path === file)
        handle.sync = () => Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' }));
      return handle;
    });
    expect(await lethe.admin('ledger:export', '--out', file)).toMatchObject({ code: 1 });
    expect(existsSync(file)).toBe(false);
    opens.mockRestore();
    expect(await lethe.admin('ledger:export', '--out', file)).toMatchObject({ code: 0 });
  });
});

/** Backs up an installation, restores it over itself and rotates its key file. Returns the folder of the backup. */
async function restoredAndRotated(own: typeof lethe): Promise<string> {
  await own.withBot();
  const to = join(own.root, 'saved');
  expect(await own.admin('backup', '--to', to)).toMatchObject({ code: 0 });
  await own.service.end();
  expect(await own.admin('restore', '--from', to, '--force')).toMatchObject({ code: 0 });
  expect(await own.admin('keys:rotate')).toMatchObject({ code: 0 });
  return to;
}

describe('what a restore and a rotation leave', () => {
  const own = useInstallation({ settings: {} });

  it('is named by doctor, with each file', async () => {
    await restoredAndRotated(own);
    const { stdout } = await own.admin('doctor');
    expect(stdout).toMatch(
      /kept what it replaced: \S+\/keys\.db\.replaced-\d{14}, \S+\/lethe\.db\.replaced-\d{14}\. /,
    );
    expect(stdout).toContain('lethe.db.key.retired holds the master keys from before a rotation');
  });
});

const OTHER_USER = 4_242;

(process.getuid?.() === 0 ? describe : describe.skip)('what root makes in the folder of another user', () => {
  const own = useInstallation({ settings: { DATABASE_BALLAST_MIB: '1' } });

  it('belongs to this user: database, keys, key files, records, ballast, and what a restore replaces', async () => {
    chownSync(own.directory, OTHER_USER, OTHER_USER);
    const to = await restoredAndRotated(own);
    // A running service looks after its ballast every few seconds.
    await (await own.service.start()).app.get(DiskWatch).look();
    await own.service.end();
    const names = readdirSync(own.directory);
    expect(names).toEqual(
      expect.arrayContaining([
        'lethe.db',
        'keys.db',
        'lethe.db.key',
        'lethe.db.key.retired',
        'lethe.db.backups.json',
        'lethe.db.ballast',
      ]),
    );
    const ofRoot = names.filter((name) => statSync(join(own.directory, name)).uid !== OTHER_USER);
    expect(ofRoot).toEqual([]);
    // In a folder of root's own.
    expect(statSync(to).uid).toBe(0);
  });
});
