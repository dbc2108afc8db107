import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Bot } from '../support/bot';
import { type Moment, runScript, type ScriptRun } from '../support/child-script';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { sqliteFile } from '../support/database';
import { digestsOf } from '../support/digests';
import { itInPart, someOf } from '../support/depth';
import { expectFailure } from '../support/expected';
import { adminHere, ServiceHere } from '../support/here';
import { subject, type SubjectIds } from '../support/snowflakes';
import { directoryOnDisk } from '../support/disk';

const build = useBuild();
const LETHE_MASTER_KEY = Buffer.alloc(32, 'test').toString('base64');

let root: string;
let directory: string;
let path: string;
let service: ServiceHere;
let bot: Bot;

const environment = (): Record<string, string> => ({ DATABASE_URL: `sqlite:${path}`, LETHE_MASTER_KEY });
const admin = (args: readonly string[], kill?: Moment): Promise<ScriptRun> =>
  kill === undefined ? adminHere(args, environment()) : runScript(build, 'admin', args, environment(), kill);
/** On the port of the `service`. */
const newProcess = (): ChildService =>
  new ChildService(build.directory, path, { LETHE_MASTER_KEY, PORT: new URL(service.url).port });
const place = (name: string): string => join(root, name);
const backup = async (name: string, ...more: string[]): Promise<void> => {
  const run = await admin(['backup', '--to', place(name), ...more]);
  expect(run).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('and verified') });
};
const restore = (name: string, ...more: string[]): Promise<ScriptRun> =>
  admin(['restore', '--from', place(name), ...more]);

beforeEach(async () => {
  root = directoryOnDisk();
  directory = join(root, 'data');
  path = join(directory, 'lethe.db');
  mkdirSync(directory);
  service = await new ServiceHere(sqliteFile(path), environment()).start();
  bot = await Bot.register(service.url);
  await bot.hasCategory('profile');
});
afterEach(async () => {
  await service.end();
  rmSync(root, { recursive: true, force: true });
});

async function person(): Promise<SubjectIds> {
  const who = subject();
  await bot.hasConsent(who);
  await bot.hasData(who, 'profile', { value: who.user_id });
  return who;
}

async function expectKept(who: SubjectIds): Promise<void> {
  const { data } = await bot.export<{ data: object }>(who);
  expect(data.data).toEqual({ profile: { value: who.user_id } });
}

/** Another machine without the data. */
function wipe(): void {
  rmSync(directory, { recursive: true });
  mkdirSync(directory);
}

describe('npm run admin -- backup', () => {
  it('copies data and keys that belong together while the service writes, for their owner alone', async () => {
    // In its own process: writers in this one do not wait for the copy.
    await service.end();
    const child = await newProcess().start();
    const people = [await person()];
    let done = false;
    const writing = Array.from({ length: 4 }, async () => {
      while (!done) people.push(await person());
    });
    const before = [...people];
    await backup('b');
    done = true;
    await Promise.all(writing);
    expect(people.length).toBeGreaterThan(before.length);
    expect(readdirSync(place('b')).sort()).toEqual(['data.db', 'keys.db', 'manifest.json']);
    for (const name of readdirSync(place('b')))
      expect(statSync(join(place('b'), name)).mode & 0o777).toBe(0o600);
    await child.end('SIGTERM');
    wipe();
    expect(await restore('b')).toMatchObject({ code: 0, stdout: '' });
    await service.start();
    for (const who of before) await expectKept(who);
    // A user stored during the copy is in it completely, or not at all.
    const stored = await sqliteFile(path).rows<{ user_id: string }>('SELECT user_id FROM user_data');
    const digests = await digestsOf(sqliteFile(path), environment());
    const byDigest = new Map(people.map((one) => [digests.user(bot.id, one.user_id) as string, one]));
    for (const { user_id } of stored) await expectKept(byDigest.get(user_id) as SubjectIds);
  });

  it('refuses a directory with something in it, and a database that is not there', async () => {
    mkdirSync(join(place('b'), 'x'), { recursive: true });
    expect((await admin(['backup', '--to', place('b')])).stderr).toContain('is not empty');
    await service.end();
    wipe();
    expect((await admin(['backup', '--to', place('c')])).stderr).toContain('There is no database');
    expect(existsSync(place('c'))).toBe(false);
  });
});

describe('npm run admin -- restore', () => {
  it('never brings back who was erased since, nor the key, and keeps what it replaces', async () => {
    const [gone, stays] = [await person(), await person()];
    await backup('b');
    const requestId = await bot.hasForgotten(gone);
    await service.end();
    const refused = await restore('b');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Say --force');
    const run = await restore('b', '--force');
    expect(run.stderr).toContain('1 later erasures were kept, and 1 destroyed keys stay destroyed.');
    expect(readdirSync(directory).filter((name) => /\.replaced-\d{14}$/.test(name))).toHaveLength(2);
    await service.start();
    expectFailure(await bot.export(gone), 404, 'not_found');
    await expectKept(stays);
    const keys = sqliteFile(join(directory, 'keys.db'));
    const entry = 'SELECT key_id FROM erasure_ledger WHERE request_id = ?';
    expect(await keys.rows(entry, requestId)).toEqual([{ key_id: expect.any(String) }]);
    expect(await keys.rows(`SELECT 1 FROM subject_keys WHERE id IN (${entry})`, requestId)).toEqual([]);
    expect(await keys.rows('SELECT id FROM subject_keys')).toHaveLength(1);
  });

  it('takes data and keys that were saved apart, the keys later: who was erased in between stays erased', async () => {
    const [gone, stays] = [await person(), await person()];
    await backup('saved', '--only', 'data');
    await bot.hasForgotten(gone);
    await backup('keys', '--only', 'keys');
    await service.end();
    wipe();
    expect((await restore('keys', '--only', 'keys')).code).toBe(0);
    expect((await restore('saved', '--only', 'data')).code).toBe(0);
    await service.start();
    expectFailure(await bot.export(gone), 404, 'not_found');
    await expectKept(stays);
  });

  it('refuses keys that are older than the data, and says how many values they would lose', async () => {
    await person();
    await backup('keys', '--only', 'keys');
    await person();
    await backup('saved', '--only', 'data');
    await service.end();
    wipe();
    await restore('keys', '--only', 'keys');
    const refused = await restore('saved', '--only', 'data');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('1 stored values would have no key');
    expect(statSync(path).size).toBe(0);
    expect((await restore('saved', '--only', 'data', '--accept-loss')).code).toBe(0);
  });

  it('gives older keys back to present data without losing a newer one', async () => {
    const early = await person();
    await backup('keys', '--only', 'keys');
    const late = await person();
    await service.end();
    expect((await restore('keys', '--only', 'keys', '--force')).code).toBe(0);
    await service.start();
    for (const who of [early, late]) await expectKept(who);
  });

  it('refuses a backup that was changed or not finished, and a database in use', async () => {
    await backup('b');
    const used = await restore('b', '--force');
    expect(used).toMatchObject({ code: 1, stderr: expect.stringContaining('Another process is using') });
    await service.end();
    appendFileSync(join(place('b'), 'keys.db'), 'x');
    expect((await restore('b', '--force')).stderr).toContain('is not what the backup has written');
    rmSync(join(place('b'), 'manifest.json'));
    expect((await restore('b', '--force')).stderr).toContain('holds no finished backup');
    await service.start();
  });

  it('refuses a manifest that names a file outside the backup', async () => {
    await backup('b');
    await backup('other');
    await service.end();
    const file = join(place('b'), 'manifest.json');
    const written = readFileSync(file, 'utf8');
    for (const name of ['../other/data.db', join(place('other'), 'data.db'), 'keys.db', './data.db']) {
      writeFileSync(file, written.replace('"data.db"', JSON.stringify(name)));
      const refused = await restore('b', '--force');
      expect([name, refused]).toEqual([name, expect.objectContaining({ code: 1 })]);
      expect(refused.stderr).toContain('names a file that no backup has');
    }
  });

  it('makes files that their owner alone can read, whatever the copy allows; so does a start', async () => {
    await backup('b');
    await service.end();
    const modes = (): Record<string, string> =>
      Object.fromEntries(
        readdirSync(directory)
          .map((name) => [name, (statSync(join(directory, name)).mode & 0o777).toString(8)] as const)
          .filter(([, mode]) => mode !== '600'),
      );
    for (const name of readdirSync(place('b'))) chmodSync(join(place('b'), name), 0o644);
    expect((await restore('b', '--force')).code).toBe(0);
    expect(modes()).toEqual({});
    // It names times and places of backups, and a start does not touch it.
    rmSync(join(directory, 'lethe.db.backups.json'));
    for (const name of readdirSync(directory)) chmodSync(join(directory, name), 0o664);
    for (const name of ['lethe.db-wal', 'keys.db-wal'])
      writeFileSync(join(directory, name), '', { mode: 0o664, flag: 'a' });
    for (const name of readdirSync(directory).filter((each) => each.includes('replaced')))
      rmSync(join(directory, name));
    await service.start();
    expect(modes()).toEqual({});
  });

  const moments: readonly [string, Moment, boolean][] = [
    ['before it is ready', { at: '^rename to .*ready.json$' }, false],
    ['between data and keys', { at: '^rename to .*keys.db.replaced-' }, true],
    ['before the keys are in place', { at: '^rename to .*/keys.db$' }, true],
  ];
  itInPart.each(someOf(moments, 2))(
    'killed %s no service starts on half of it',
    async (_, moment, isBegun) => {
      const [gone, stays] = [await person(), await person()];
      await backup('b');
      await bot.hasForgotten(gone);
      await service.end();
      expect((await admin(['restore', '--from', place('b'), '--force'], moment)).code).toBeNull();
      if (isBegun) {
        const { code, stderr } = await newProcess().refused();
        expect({ code, stderr }).toMatchObject({
          code: 1,
          stderr: expect.stringContaining('A restore of'),
        });
      }
      expect((await restore('b', '--force')).code).toBe(0);
      expect(readdirSync(directory).filter((name) => name.includes('restoring'))).toEqual([]);
      await service.start();
      expectFailure(await bot.export(gone), 404, 'not_found');
      await expectKept(stays);
    },
  );
});
