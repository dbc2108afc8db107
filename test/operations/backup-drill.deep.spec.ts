import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { SqliteDatabase } from '@app/database';
import { backupRecordPath, lastBackups } from '@app/operations';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import type { ScriptRun } from '../support/child-script';
import { sqliteFile } from '../support/database';
import { someOf } from '../support/depth';
import { directoryOnDisk } from '../support/disk';
import { adminHere } from '../support/here';
import { filledOnce, Installation } from '../support/installation';
import { LETHE_MASTER_KEY } from '../support/service';

const lethe = new Installation({
  build: useBuild(),
  // Else the service writes it beside the database seconds after its start, between two listings of the folder.
  settings: { LETHE_MASTER_KEY, DATABASE_BALLAST_MIB: '0' },
  makeDirectory: directoryOnDisk,
});
let bot: Bot;

const place = (name: string): string => join(lethe.root, 'backups', name);
const backup = async (name: string, ...more: string[]): Promise<void> => {
  expect((await lethe.admin('backup', '--to', place(name), ...more)).code).toBe(0);
};
const drill = (...more: string[]): Promise<ScriptRun> =>
  lethe.admin('backup:drill', '--from', join(lethe.root, 'backups'), ...more);
const report = ({ stdout }: ScriptRun) => JSON.parse(stdout) as Record<string, unknown>;
/** What `status` says of the last drill. */
async function lastDrill(): Promise<unknown> {
  const { stdout } = await lethe.admin('status', '--json');
  return (JSON.parse(stdout) as { last_backup: { drill: unknown } }).last_backup.drill;
}
const folders = (): string[] => readdirSync(lethe.directory).filter((name) => name.includes('drill-'));
const onCopy = (name: string, sql: string, file = 'data.db') => sqliteFile(join(place(name), file)).run(sql);

/** Makes the manifest of a changed backup fit its files again, as one who forges it would. */
async function reforge(name: string, change: (manifest: Manifest) => void = () => undefined): Promise<void> {
  const file = join(place(name), 'manifest.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
  const { createHash } = await import('node:crypto');
  for (const part of Object.values(manifest.files))
    part.sha256 = createHash('sha256')
      .update(readFileSync(join(place(name), part.name)))
      .digest('hex');
  change(manifest);
  writeFileSync(file, JSON.stringify(manifest));
}

interface Manifest {
  made_at: string;
  readonly files: Record<string, { readonly name: string; sha256: string }>;
}

filledOnce(lethe, async () => {
  bot = await lethe.withBot();
  await bot.hasUser();
  await lethe.sealed();
});

describe('npm run admin -- backup:drill', () => {
  it('restores and verifies the newest backup beside the running service, and leaves nothing', async () => {
    await lethe.service.start();
    await backup('a');
    const gone = await bot.hasUser();
    await bot.hasForgotten(gone);
    await backup('b');
    const before = readdirSync(lethe.directory).sort();
    const run = await drill('--json');
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(report(run)).toMatchObject({
      ok: true,
      data: place('b'),
      keys: place('b'),
      values: 1,
      logs: 1,
      faults: [],
    });
    expect(readdirSync(lethe.directory).sort()).toEqual(before);
    expect(await lastDrill()).toMatchObject({ ok: true, at: expect.any(String) as string });
    expect((await drill()).stderr).toMatch(/The backup of \S+ is 0 hours old/);
  });

  it('takes data and keys that were saved apart', async () => {
    await backup('data', '--only', 'data');
    await backup('keys', '--only', 'keys');
    expect(report(await drill('--json'))).toMatchObject({
      ok: true,
      data: place('data'),
      keys: place('keys'),
    });
  });

  it('fails for a backup that is older than --max-age-days', async () => {
    await backup('a');
    await reforge('a', (manifest) => (manifest.made_at = '2026-01-01T00:00:00.000Z'));
    expect((await drill()).code).toBe(0);
    const run = await drill('--max-age-days', '7');
    expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining('older than 7 days') });
    expect((await drill('--max-age-days', 'x')).code).toBe(2);
  });

  it('finds a fault in a backup that is older than the ledger of erasures', async () => {
    await backup('a');
    await reforge('a', (manifest) => (manifest.made_at = '2020-01-01T00:00:00.000Z'));
    const run = await drill('--json');
    const faults = [expect.stringContaining('The ledger of erasures begins at') as string];
    expect([run.code, report(run)]).toMatchObject([1, { ok: false, faults }]);
    expect(await lastDrill()).toMatchObject({ ok: false });
  });

  it.each([
    [
      'that no restore takes',
      `INSERT INTO migrations (timestamp, name) VALUES (4000000000000, 'Later4000000000000')`,
      'by a newer Lethe',
    ],
    ['that restores, but on which nothing can start', 'CREATE TABLE lethe_move (source)', 'is being filled'],
  ])('fails for a backup %s', async (_, change, message) => {
    await backup('a');
    await onCopy('a', change);
    await reforge('a');
    expect(await drill()).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
    expect(await lastDrill()).toMatchObject({ ok: false });
    expect(folders()).toEqual([]);
  });

  it('fails for a damaged file, and for a folder without a finished backup', async () => {
    expect((await lethe.admin('backup:drill', '--from', lethe.root)).stderr).toContain(
      'no finished backup of the data',
    );
    await backup('a');
    appendFileSync(join(place('a'), 'data.db'), 'x');
    expect(await lastDrill()).toBeNull();
    const run = await drill();
    expect(run).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not what the backup has written'),
    });
    expect(await lastDrill()).toMatchObject({ ok: false });
    expect(folders()).toEqual([]);
  });

  it('fails for a newest backup whose manifest is damaged, and does not take an older one for it', async () => {
    await backup('a');
    await backup('b');
    expect((await drill()).code).toBe(0);
    writeFileSync(join(place('b'), 'manifest.json'), '{');
    expect(await drill()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${join(place('b'), 'manifest.json')} is damaged or cannot be read`),
    });
    expect(await lastDrill()).toMatchObject({ ok: false });
  });

  it.each(['', 'yesterday', 20260101, undefined])(
    'fails for a newest backup whose time is %p, and does not take an older one for it',
    async (at) => {
      await backup('a');
      await backup('b');
      await reforge('b', (manifest) => Object.assign(manifest, { made_at: at }));
      expect(await drill()).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`${join(place('b'), 'manifest.json')} does not say when`),
      });
      expect(await lastDrill()).toMatchObject({ ok: false });
    },
  );

  it('refuses a backup that was made with a clock that was ahead, and does not take it for the newest', async () => {
    await backup('a');
    await backup('b');
    await reforge('a', (manifest) => (manifest.made_at = '2999-01-01T00:00:00.000Z'));
    expect(await drill()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${place('a')} says 2999-01-01T00:00:00.000Z`),
    });
    expect(await lastDrill()).toMatchObject({ ok: false });
    rmSync(place('a'), { recursive: true });
    const run = await drill('--json');
    expect(report(run)).toMatchObject({ ok: true, data: place('b') });
  });

  it('does not look into the folder lost+found of a disk', async () => {
    await backup('a');
    mkdirSync(place('lost+found'));
    writeFileSync(join(place('lost+found'), 'manifest.json'), '{');
    expect((await drill()).code).toBe(0);
  });

  it('asks for another backup where a rotation has ended the master key of this one', async () => {
    await backup('a');
    await backup('apart', '--only', 'data');
    const next = Buffer.alloc(32, 'next').toString('base64');
    const rotated = (keys: string) => ({ ...lethe.environment, LETHE_MASTER_KEY: keys });
    const both = rotated(`${next},${LETHE_MASTER_KEY}`);
    expect(await adminHere(['keys:rotate'], both)).toMatchObject({ code: 0 });
    const old = ['backup:drill', '--from', place('a')];
    const run = await adminHere(old, rotated(next));
    expect([run.code, run.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^The backup needs the master key [\w-]{8}, which LETHE_MASTER_KEY does not give\. If it was rotated since, take another backup now/,
      ),
    ]);
    expect(lastBackups(lethe.path).drill).toMatchObject({ ok: false });
    expect(folders()).toEqual([]);
    expect((await adminHere(old, both)).code).toBe(0);
    const keys = ['backup', '--to', place('keys'), '--only', 'keys'];
    expect((await adminHere(keys, rotated(next))).code).toBe(0);
    const apart = ['backup:drill', '--from', join(lethe.root, 'backups')];
    expect((await adminHere(apart, rotated(next))).stderr).toContain('The backup needs the master key');
    expect(lastBackups(lethe.path).drill).toMatchObject({ ok: false });
    expect((await adminHere(['backup', '--to', place('b')], rotated(next))).code).toBe(0);
    expect((await adminHere(['backup:drill', '--from', place('b')], rotated(next))).code).toBe(0);
  });

  const forgeries: readonly [string, string, string][] = [
    [
      'a value',
      `UPDATE user_data SET value = substr(value, 1, 40) || CASE substr(value, 41, 1) WHEN 'A' THEN 'B' ELSE 'A' END || substr(value, 42)`,
      '1 stored value does not decrypt',
    ],
    ['an event', `UPDATE audit_events SET created_at = '2020-01-01T00:00:00.000Z'`, 'not what was sealed'],
  ];
  it.each(forgeries)('finds %s that was changed in the backup', async (_, sql, fault) => {
    await backup('a');
    await onCopy('a', sql);
    await reforge('a');
    const run = await drill('--json');
    expect(run.code).toBe(1);
    expect(report(run)).toMatchObject({ ok: false, faults: [expect.stringContaining(fault)] });
    expect(await lastDrill()).toMatchObject({ ok: false });
    expect(folders()).toEqual([]);
  });

  it('removes the folder that a killed drill has left, and names it', async () => {
    await backup('a');
    const killed = await lethe.adminApart(['backup:drill', '--from', place('a')], {
      at: '^rename to .*data.db$',
    });
    expect(killed.code).toBeNull();
    const left = folders();
    expect(left).toHaveLength(1);
    expect(statSync(join(lethe.directory, left[0] ?? '')).mode & 0o777).toBe(0o700);
    const run = await drill();
    expect(run.code).toBe(0);
    expect(run.stderr).toContain(`an interrupted drill has left: ${join(lethe.directory, left[0] ?? '')}`);
    expect(folders()).toEqual([]);
  });
});

describe('a backup during which a user is erased', () => {
  /** The data are copied, then `erase` is done, then the keys are copied. */
  const copies: readonly [string, (erase: () => Promise<unknown>) => Promise<void>][] = [
    [
      'between both copies of one backup',
      async (erase) => {
        const original = SqliteDatabase.prototype.backup;
        const copying = jest.spyOn(SqliteDatabase.prototype, 'backup');
        copying.mockImplementationOnce(async function (this: InstanceType<typeof SqliteDatabase>, ...given) {
          const copied = await original.apply(this, given);
          await erase();
          return copied;
        });
        await backup('a');
        expect(copying).toHaveBeenCalledTimes(2);
        copying.mockRestore();
      },
    ],
    [
      'between a backup of the data and one of the keys',
      async (erase) => {
        await backup('data', '--only', 'data');
        await erase();
        await backup('keys', '--only', 'keys');
      },
    ],
  ];
  const places: readonly [string, () => void][] = [
    ['in place', () => undefined],
    [
      'elsewhere',
      () => {
        rmSync(lethe.directory, { recursive: true });
        mkdirSync(lethe.directory);
      },
    ],
  ];

  const pairs = copies.flatMap(([when, copy]) =>
    places.map(([where, move]) => [when, where, copy, move] as const),
  );
  // The first and the last: each time of the erasure, and each place of the restore.
  it.each(someOf(pairs, pairs.length))(
    '%s: the drill passes, and so does the log after the restore %s',
    async (_when, _where, copy, move) => {
      await lethe.service.start();
      const gone = await bot.hasUser();
      await lethe.sealed();
      await copy(() => bot.hasForgotten(gone));
      expect(report(await drill('--json'))).toMatchObject({
        ok: true,
        erased_values: 1,
        logs: 1,
        faults: [],
      });
      await lethe.service.end();
      move();
      for (const name of readdirSync(join(lethe.root, 'backups')).sort().reverse()) {
        const only = name === 'a' ? [] : ['--only', name];
        expect((await lethe.admin('restore', '--from', place(name), '--force', ...only)).code).toBe(0);
      }
      const verified = async () => (await lethe.admin('audit:verify')).stderr;
      expect(await verified()).toContain('Every log is what was sealed');
      await lethe.service.start();
      expect((await bot.export(gone)).status).toBe(404);
      await lethe.sealed();
      await backup('later');
      expect(report(await drill('--json'))).toMatchObject({ ok: true, data: place('later'), faults: [] });
      await lethe.service.end();
      expect(await verified()).toContain('Every log is what was sealed');
    },
  );
});

describe('the record of a backup', () => {
  it('names the last finished copy of each part, for its owner alone', async () => {
    await backup('a');
    await backup('b', '--only', 'keys');
    expect(lastBackups(lethe.path)).toMatchObject({
      data: { directory: place('a') },
      keys: { directory: place('b') },
    });
    expect(statSync(backupRecordPath(lethe.path)).mode & 0o777).toBe(0o600);
    await lethe.admin('ledger:export', '--out', join(lethe.root, 'ledger'));
    expect(lastBackups(lethe.path)).toMatchObject({
      data: { directory: place('a') },
      ledger: { directory: lethe.root },
    });
  });

  it('names the older copy after a kill while it is replaced, and the next backup replaces it', async () => {
    await backup('a');
    const killed = await lethe.adminApart(['backup', '--to', place('b')], {
      at: '^rename to .*backups.json$',
    });
    expect(killed.code).toBeNull();
    expect(lastBackups(lethe.path)).toMatchObject({ data: { directory: place('a') } });
    await backup('c');
    expect(lastBackups(lethe.path)).toMatchObject({ data: { directory: place('c') } });
  });

  it('is not written by a backup that fails', async () => {
    mkdirSync(join(place('full'), 'x'), { recursive: true });
    expect((await lethe.admin('backup', '--to', place('full'))).code).toBe(1);
    expect(existsSync(backupRecordPath(lethe.path))).toBe(false);
  });

  it('counts as none where it is damaged', () => {
    for (const text of ['', '{', '[]', 'null', '{"format":"lethe-backup-record/1"}']) {
      writeFileSync(backupRecordPath(lethe.path), text);
      expect(lastBackups(lethe.path)).toEqual({});
    }
  });

  it('is left alone where it cannot be read', async () => {
    // Root reads every file, but no link that leads to itself.
    const record = backupRecordPath(lethe.path);
    symlinkSync(record, record);
    const backed = await lethe.admin('backup', '--to', place('a'));
    expect(backed).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('could not be recorded beside the database (ELOOP)'),
    });
    expect(lstatSync(record).isSymbolicLink()).toBe(true);
  });
});
