import { createHash } from 'node:crypto';
import fs, {
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
import { SqliteDatabase } from '@app/database';
import { Bot } from '../support/bot';
import { type Moment, preloading, runScript, type ScriptRun } from '../support/child-script';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { sqliteFile } from '../support/database';
import { digestsOf } from '../support/digests';
import { itInPart, someOf } from '../support/depth';
import { expectFailure } from '../support/expected';
import { adminHere } from '../support/here';
import { useInstallation } from '../support/installation';
import { LETHE_MASTER_KEY } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { directoryOnDisk } from '../support/disk';

const build = useBuild();
const lethe = useInstallation({ build, makeDirectory: directoryOnDisk });
let bot: Bot;

/** On the port of the service here. */
const newProcess = (): ChildService => lethe.child({ PORT: new URL(lethe.service.url).port });
const place = (name: string): string => join(lethe.root, name);
const backup = async (name: string, ...more: string[]): Promise<void> => {
  const run = await lethe.admin('backup', '--to', place(name), ...more);
  expect(run).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('and verified') });
};
const restore = (name: string, ...more: string[]): Promise<ScriptRun> =>
  lethe.admin('restore', '--from', place(name), ...more);

beforeEach(async () => {
  bot = await lethe.withBot();
});
afterEach(() => void (lethe.settings['LETHE_MASTER_KEY'] = LETHE_MASTER_KEY));

async function expectKept(who: SubjectIds): Promise<void> {
  const { data } = await bot.export<{ data: object }>(who);
  expect(data.data).toEqual({ profile: { value: who.user_id } });
}

/** What a restore says where the only ledger is that of the backup. */
const IMPORT_FIRST =
  /^Do not start yet: .* (?:Import|Restore the data, then import) the newest one: npm run admin -- ledger:import --in FILE\. Then start/m;

/** Changes the master key, and gives later commands and processes the new one alone. */
async function rotated(): Promise<void> {
  const next = Buffer.alloc(32, 'next').toString('base64');
  lethe.settings['LETHE_MASTER_KEY'] = `${next},${lethe.settings['LETHE_MASTER_KEY']}`;
  expect(await lethe.admin('keys:rotate')).toMatchObject({ code: 0 });
  lethe.settings['LETHE_MASTER_KEY'] = next;
}

/** Another machine without the data. */
function wipe(): void {
  rmSync(lethe.directory, { recursive: true });
  mkdirSync(lethe.directory);
}

describe('npm run admin -- backup', () => {
  it('copies data and keys that belong together while the service writes, for their owner alone', async () => {
    // In its own process: writers in this one do not wait for the copy.
    await lethe.service.end();
    const child = await newProcess().start();
    const people = [await bot.hasUser()];
    let done = false;
    const writing = Array.from({ length: 4 }, async () => {
      while (!done) people.push(await bot.hasUser());
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
    const run = await restore('b');
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: expect.stringMatching(IMPORT_FIRST) });
    expect(run.stderr).not.toContain('Start the service now');
    await lethe.service.start();
    for (const who of before) await expectKept(who);
    // A user stored during the copy is in it completely, or not at all.
    const stored = await lethe.database.rows<{ user_id: string }>('SELECT user_id FROM user_data');
    const digests = await digestsOf(lethe.database, lethe.environment);
    const byDigest = new Map(people.map((one) => [digests.user(bot.id, one.user_id) as string, one]));
    for (const { user_id } of stored) await expectKept(byDigest.get(user_id) as SubjectIds);
  });

  it('refuses a directory with something in it, and a database that is not there', async () => {
    mkdirSync(join(place('b'), 'x'), { recursive: true });
    expect((await lethe.admin('backup', '--to', place('b'))).stderr).toContain('is not empty');
    await lethe.service.end();
    wipe();
    expect((await lethe.admin('backup', '--to', place('c'))).stderr).toContain('There is no database');
    expect(existsSync(place('c'))).toBe(false);
  });

  it('says of what a killed backup has left that it can be deleted', async () => {
    const moment = { at: '^rename to .*manifest.json$' };
    expect((await lethe.adminApart(['backup', '--to', place('b')], moment)).code).toBeNull();
    const files = readdirSync(place('b'));
    expect(await lethe.admin('backup', '--to', place('b'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /b holds an unfinished backup, .* delete it and run the command again\.\n$/,
      ),
    });
    expect(readdirSync(place('b'))).toEqual(files);
  });

  it('says of a damaged database that it is damaged, and not that its copy cannot be written', async () => {
    await bot.hasUser();
    await lethe.service.end();
    const [table] = await lethe.database.rows<{ rootpage: number }>(
      `SELECT rootpage FROM sqlite_master WHERE name = 'user_data'`,
    );
    const [{ page_size: size }] = (await lethe.database.rows('PRAGMA page_size')) as [{ page_size: number }];
    const whole = readFileSync(lethe.path);
    for (const at of [0, (table!.rootpage - 1) * size]) {
      writeFileSync(lethe.path, Buffer.from(whole).fill(0xff, at, at + size));
      const run = await lethe.admin('backup', '--to', place('b'));
      expect([run.code, run.stderr]).toEqual([
        1,
        expect.stringMatching(/^\S+lethe\.db is damaged \([^]+\), so that no backup of it can be made\./),
      ]);
      expect(readdirSync(place('b'))).toEqual([]);
    }
    writeFileSync(lethe.path, whole);
  });

  it('says of a copy that its disk has damaged that the database is sound', async () => {
    const copying = jest.spyOn(SqliteDatabase.prototype, 'backup').mockImplementation((target: string) => {
      writeFileSync(target, Buffer.alloc(8_192, 0xff));
      return Promise.resolve({ totalPages: 2, remainingPages: 0 });
    });
    const run = await lethe.admin('backup', '--to', place('b')).finally(() => copying.mockRestore());
    expect([run.code, run.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^The copy in \S+data\.db is damaged \(SQLITE_NOTADB\), and the database is not\. .*\n$/,
      ),
    ]);
    expect(readdirSync(place('b'))).toEqual([]);
  });

  it('says how to make a folder where this user may write none', async () => {
    const making = jest.spyOn(fs, 'mkdirSync').mockImplementation(() => {
      throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    });
    const run = await lethe.admin('backup', '--to', place('b')).finally(() => making.mockRestore());
    expect(run).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('sudo install -d -o USER -m 700 FOLDER'),
    });
  });
});

describe('npm run admin -- restore', () => {
  it('never brings back who was erased since, nor the key, and keeps what it replaces', async () => {
    const [gone, stays] = [await bot.hasUser(), await bot.hasUser()];
    await backup('b');
    const requestId = await bot.hasForgotten(gone);
    await lethe.service.end();
    const refused = await restore('b');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Say --force');
    const run = await restore('b', '--force');
    expect(run.stderr).toContain('1 later erasure was kept, and 1 destroyed key stays destroyed.');
    expect(run.stderr).toContain('Start the service now');
    expect(readdirSync(lethe.directory).filter((name) => /\.replaced-\d{14}$/.test(name))).toHaveLength(2);
    await lethe.service.start();
    expectFailure(await bot.export(gone), 404, 'not_found');
    await expectKept(stays);
    const keys = sqliteFile(join(lethe.directory, 'keys.db'));
    const entry = 'SELECT key_id FROM erasure_ledger WHERE request_id = ?';
    expect(await keys.rows(entry, requestId)).toEqual([{ key_id: expect.any(String) }]);
    expect(await keys.rows(`SELECT 1 FROM subject_keys WHERE id IN (${entry})`, requestId)).toEqual([]);
    expect(await keys.rows('SELECT id FROM subject_keys')).toHaveLength(1);
  });

  it('names what was undone since, and lets a deletion of a guild that was cancelled since wait for a day', async () => {
    const who = await bot.hasUser();
    await bot.post('/servers/register', { guild_id: who.guild_id });
    await bot.delete(`/servers/${who.guild_id}?grace_days=3`);
    await lethe.service.end();
    const scheduled = async (): Promise<unknown> =>
      (await lethe.database.rows('SELECT deletion_scheduled_for AS at, deletion_began_at FROM servers'))[0];
    await lethe.database.run(`UPDATE servers SET deletion_scheduled_for = '2026-01-02T03:04:05.678Z'`);
    await backup('b');
    const run = await restore('b', '--force');
    expect(run.stderr).toMatch(
      /everything is as it was at the backup: .* a voided API key, an ended link to a privacy page, .*operate\.md/,
    );
    const [, until] =
      /^1 scheduled deletion of a guild waits until (\S+): have the bots/m.exec(run.stderr) ?? [];
    expect(await scheduled()).toEqual({ at: until, deletion_began_at: null });
    await lethe.service.start();
    expect((await bot.post(`/servers/${who.guild_id}/cancel-deletion`)).status).toBe(200);
    await expectKept(who);
    await lethe.service.end();
    // One that has begun cannot be cancelled.
    await lethe.database.run(
      `UPDATE servers SET deletion_scheduled_for = '2026-01-02T03:04:05.678Z', deletion_began_at = '2026-01-02T03:04:06.000Z'`,
    );
    await backup('begun');
    const begun = await restore('begun', '--force', '--json');
    expect(JSON.parse(begun.stdout)).toMatchObject({ postponed_deletions: 0 });
    const keysAlone = await restore('begun', '--only', 'keys', '--force');
    expect(keysAlone.stderr).not.toContain('everything is as it was');
  });

  it('refuses a backup that is older than the ledger of erasures, unless that is accepted', async () => {
    await backup('b');
    await lethe.service.end();
    const file = join(place('b'), 'manifest.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...manifest, made_at: '2020-01-01T00:00:00.000Z' }));
    const [before, refused] = [readdirSync(lethe.directory), await restore('b', '--force')];
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--accept-old')]);
    expect(readdirSync(lethe.directory)).toEqual(before);
    expect(await restore('b', '--force', '--accept-old')).toMatchObject({ code: 0 });
  });

  it('refuses data of a newer Lethe before anything is replaced, with and without present data', async () => {
    await backup('b');
    await lethe.service.end();
    await sqliteFile(join(place('b'), 'data.db')).run(
      `INSERT INTO migrations (timestamp, name) VALUES (4000000000000, 'Later4000000000000')`,
    );
    const file = join(place('b'), 'manifest.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as { files: { data: { sha256: string } } };
    const bytes = readFileSync(join(place('b'), 'data.db'));
    manifest.files.data.sha256 = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(file, JSON.stringify(manifest));
    const refusal = {
      code: 1,
      stderr: expect.stringMatching(
        /^The backup was written by a newer Lethe, .* \(Later4000000000000\)\. Nothing was changed\./,
      ),
    };
    const before = readdirSync(lethe.directory);
    for (const only of [[], ['--only', 'data']]) {
      expect(await restore('b', '--force', ...only)).toMatchObject(refusal);
      expect(readdirSync(lethe.directory)).toEqual(before);
    }
    expect(await restore('b', '--force', '--only', 'keys')).toMatchObject({ code: 0 });
    wipe();
    expect(await restore('b')).toMatchObject(refusal);
    expect(readdirSync(lethe.directory)).toEqual([]);
  });

  it('says where later erasures are when the keys alone are lost', async () => {
    await backup('b');
    await lethe.service.end();
    for (const name of readdirSync(lethe.directory).filter((name) => name.startsWith('keys.db')))
      rmSync(join(lethe.directory, name));
    const { stderr } = await restore('b', '--only', 'keys');
    expect(stderr).toMatch(IMPORT_FIRST);
    expect(stderr).toContain('and in the data in place unless it came from a backup too');
  });

  it.each([
    ['the keys, and then data', ['--only', 'data']],
    ['data and keys', []],
  ])(
    'refuses %s in place of data that alone records an erasure, until a start has entered it',
    async (_, only) => {
      const [gone, stays] = [await bot.hasUser(), await bot.hasUser()];
      await backup('b');
      await bot.hasForgotten(gone);
      await lethe.sealed();
      await lethe.service.end();
      for (const name of readdirSync(lethe.directory).filter((name) => name.startsWith('keys.db')))
        rmSync(join(lethe.directory, name));
      if (only.length > 0) await restore('b', '--only', 'keys');
      const refused = await restore('b', ...only, '--force');
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringMatching(/^1 erasure is recorded by the data in place alone.* say --accept-old/),
      ]);
      expect(readdirSync(lethe.directory).filter((name) => name.includes('.replaced-'))).toEqual([]);
      if (only.length === 0) await restore('b', '--only', 'keys');
      await lethe.service.start();
      await lethe.service.end();
      expect(await restore('b', ...only, '--force')).toMatchObject({ code: 0 });
      await lethe.service.start();
      expectFailure(await bot.export(gone), 404, 'not_found');
      await expectKept(stays);
    },
  );

  it('asks for the ledger first where the present keys are those of another installation', async () => {
    await backup('b');
    await lethe.service.end();
    wipe();
    await lethe.service.start();
    await lethe.service.end();
    const run = await restore('b', '--force', '--json');
    expect([run.code, JSON.parse(run.stdout)]).toMatchObject([0, { later_erasures: 0, import_ledger: true }]);
  });

  it('takes data and keys that were saved apart, the keys later: who was erased in between stays erased', async () => {
    const [gone, stays] = [await bot.hasUser(), await bot.hasUser()];
    await backup('saved', '--only', 'data');
    await bot.hasForgotten(gone);
    await backup('keys', '--only', 'keys');
    await lethe.service.end();
    wipe();
    const keys = await restore('keys', '--only', 'keys');
    expect(keys.stderr).toMatch(IMPORT_FIRST);
    expect(keys.stderr).toContain('Restore the data, then import');
    const run = await restore('saved', '--only', 'data');
    expect([run.code, run.stderr]).toEqual([
      0,
      expect.stringContaining('If the keys in place came from a backup too'),
    ]);
    await lethe.service.start();
    expectFailure(await bot.export(gone), 404, 'not_found');
    await expectKept(stays);
  });

  it('takes data of a bot that was deleted before the keys were saved, and a drill takes it too', async () => {
    const leaving = await Bot.register(lethe.service.url);
    await leaving.hasCategory('profile');
    const stays = await bot.hasUser();
    const restored = await leaving.hasUser();
    await leaving.hasUser();
    await lethe.sealed();
    await backup('b/saved', '--only', 'data');
    expect(await leaving.delete(`/bots/${leaving.id}`)).toMatchObject({ status: 200 });
    await backup('b/keys', '--only', 'keys');
    const ledger = join(lethe.root, 'ledger');
    expect((await lethe.admin('ledger:export', '--out', ledger)).stderr).toContain('0 erasures were written');
    const drill = await lethe.admin('backup:drill', '--from', place('b'), '--json');
    expect([drill.code, JSON.parse(drill.stdout)]).toMatchObject([0, { erased_values: 2, faults: [] }]);
    await lethe.service.end();
    wipe();
    await restore('b/keys', '--only', 'keys');
    expect(await restore('b/saved', '--only', 'data')).toMatchObject({ code: 0 });
    const merged = await lethe.admin('ledger:import', '--in', ledger, '--json');
    expect(JSON.parse(merged.stdout)).toMatchObject({ added: 0, known: 0, too_old: 0 });
    await lethe.service.start();
    await expectKept(stays);
    // The bot is there again, nothing of it was erased, and what lacks its key is no tampering.
    expect(await sqliteFile(lethe.path).rows('SELECT status FROM deletion_requests')).toEqual([]);
    expect(
      await sqliteFile(join(lethe.directory, 'keys.db')).rows('SELECT id FROM subject_keys'),
    ).toHaveLength(1);
    expect(await lethe.admin('audit:verify')).toMatchObject({ code: 0 });
    // Nor is it once a subject has a new key.
    await leaving.hasRevoked(restored);
    await lethe.sealed();
    expect(await lethe.admin('audit:verify')).toMatchObject({ code: 0 });
    await backup('later');
    await lethe.service.end();
    expect(await restore('later', '--force')).toMatchObject({ code: 0 });
  });

  it('brings a deleted bot back with its keys, which are missed later as those of any bot', async () => {
    const who = await bot.hasUser();
    await backup('b');
    expect(await bot.delete(`/bots/${bot.id}`)).toMatchObject({ status: 200 });
    await lethe.service.end();
    const run = await restore('b', '--force', '--json');
    expect(JSON.parse(run.stdout)).toMatchObject({ later_erasures: 0 });
    await lethe.service.start();
    await expectKept(who);
    await backup('keys', '--only', 'keys');
    await bot.hasUser();
    await backup('saved', '--only', 'data');
    await lethe.service.end();
    wipe();
    await restore('keys', '--only', 'keys');
    const refused = await restore('saved', '--only', 'data');
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('1 stored value would have no key'),
    ]);
  });

  it('refuses keys that are older than the data, and says how many values they would lose', async () => {
    await bot.hasUser();
    await backup('keys', '--only', 'keys');
    await bot.hasUser();
    await backup('saved', '--only', 'data');
    await lethe.service.end();
    wipe();
    await restore('keys', '--only', 'keys');
    const refused = await restore('saved', '--only', 'data');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('1 stored value would have no key');
    expect(statSync(lethe.path).size).toBe(0);
    expect((await restore('saved', '--only', 'data', '--accept-loss')).code).toBe(0);
  });

  it('gives older keys back to present data without losing a newer one', async () => {
    const early = await bot.hasUser();
    await backup('keys', '--only', 'keys');
    const late = await bot.hasUser();
    await lethe.service.end();
    expect((await restore('keys', '--only', 'keys', '--force')).code).toBe(0);
    await lethe.service.start();
    for (const who of [early, late]) await expectKept(who);
  });

  it('gives older keys back to present data after a rotation, by the new master key alone', async () => {
    const early = await bot.hasUser();
    await backup('keys', '--only', 'keys');
    const late = await bot.hasUser();
    await lethe.service.end();
    await rotated();
    expect(await restore('keys', '--only', 'keys', '--force')).toMatchObject({ code: 0 });
    await newProcess().start();
    for (const who of [early, late]) await expectKept(who);
  });

  it('keeps a signing key retired that the older present keys have in force', async () => {
    const published = async () => (await fetch(`${lethe.service.url}/.well-known/lethe-keys.json`)).json();
    await backup('a');
    expect((await lethe.admin('keys:sign-rotate')).code).toBe(0);
    await backup('b');
    const keys = await published();
    await lethe.service.end();
    wipe();
    expect((await restore('a')).code).toBe(0);
    expect((await restore('b', '--force')).code).toBe(0);
    await lethe.service.start();
    expect(await published()).toEqual(keys);
  });

  it('takes a file that a refused start has made for a lost one as no file', async () => {
    const who = await bot.hasUser();
    await backup('b');
    await lethe.service.end();
    const refusedWithout = async (name: string): Promise<void> => {
      rmSync(join(lethe.directory, name));
      await expect(lethe.here().start()).rejects.toThrow(/is missing or empty|holds no data/);
      expect(statSync(join(lethe.directory, name)).size).toBeGreaterThan(0);
    };
    await refusedWithout('keys.db');
    const none = { code: 1, stderr: expect.stringContaining(`no database at ${lethe.directory}/keys.db`) };
    expect(await lethe.admin('backup', '--to', place('none'))).toMatchObject(none);
    expect(await lethe.admin('ledger:export')).toMatchObject(none);
    expect((await restore('b', '--only', 'keys')).code).toBe(0);
    await refusedWithout('lethe.db');
    expect((await lethe.admin('backup', '--to', place('none'))).stderr).toContain('There is no database');
    expect((await restore('b', '--only', 'keys', '--force')).code).toBe(0);
    expect((await restore('b', '--only', 'data')).code).toBe(0);
    await lethe.service.start();
    await expectKept(who);
  });

  it('gives no key back that an erasure has destroyed since', async () => {
    const [gone, stays] = [await bot.hasUser(), await bot.hasUser()];
    await backup('keys', '--only', 'keys');
    await bot.hasForgotten(gone);
    await lethe.service.end();
    const run = await restore('keys', '--only', 'keys', '--force');
    expect(run.stderr).toContain('1 destroyed key stays destroyed.');
    const keys = sqliteFile(join(lethe.directory, 'keys.db'));
    expect(await keys.rows('SELECT id FROM subject_keys')).toHaveLength(1);
    await lethe.service.start();
    await expectKept(stays);
  });

  it('refuses a backup of another master key before it replaces anything', async () => {
    const early = await bot.hasUser();
    await backup('b');
    await lethe.service.end();
    const given = lethe.settings['LETHE_MASTER_KEY'] as string;
    const other = Buffer.alloc(32, 'other').toString('base64');
    const files = readdirSync(lethe.directory);
    for (const key of [other, '']) {
      lethe.settings['LETHE_MASTER_KEY'] = key;
      const refused = await restore('b', '--force', '--accept-loss');
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringMatching(
          key === '' ? /There is no key file/ : /needs the master key [\w-]{8}, which LETHE_MASTER_KEY/,
        ),
      ]);
      expect(readdirSync(lethe.directory)).toEqual(files);
      const empty = { ...lethe.environment, DATABASE_URL: `sqlite:${place('empty')}/lethe.db` };
      expect((await adminHere(['restore', '--from', place('b')], empty)).stderr).toBe(
        refused.stderr.replace(lethe.directory, place('empty')),
      );
      expect(existsSync(place('empty'))).toBe(false);
    }
    expect(readdirSync(place('b')).sort()).toEqual(['data.db', 'keys.db', 'manifest.json']);
    lethe.settings['LETHE_MASTER_KEY'] = `${other},${given}`;
    expect(await restore('b', '--force')).toMatchObject({ code: 0 });
    await lethe.service.start();
    await expectKept(early);
  });

  it('refuses keys of subjects that only a retired master key opens, unless their loss is accepted', async () => {
    const who = await bot.hasUser();
    await backup('b');
    await lethe.service.end();
    await rotated();
    await sqliteFile(join(lethe.directory, 'keys.db')).run('DELETE FROM subject_keys');
    const refused = await restore('b', '--only', 'keys', '--force');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('or say --accept-loss') });
    expect(await restore('b', '--only', 'keys', '--force', '--accept-loss')).toMatchObject({ code: 0 });
    // What is accepted as lost hinders nothing: the user begins anew.
    await newProcess().start();
    expectFailure(await bot.export(who), 500, 'internal_error', { categories: ['profile'] });
    await bot.hasData(who, 'profile', { value: 'anew' });
    expect((await bot.export(who)).data).toMatchObject({ data: { profile: { value: 'anew' } } });
  });

  it('refuses data whose webhook secrets only a retired master key opens, before anything is replaced', async () => {
    await backup('b');
    await lethe.service.end();
    await rotated();
    for (const lose of [() => undefined, () => rmSync(lethe.path)]) {
      lose();
      const files = readdirSync(lethe.directory);
      const refused = await restore('b', '--only', 'data', '--force', '--accept-loss');
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringMatching(/needs the master key [\w-]{8}, which .* and run restore again\.$/m),
      ]);
      expect(readdirSync(lethe.directory)).toEqual(files);
    }
  });

  it('refuses a backup that was changed or not finished, and a database in use', async () => {
    await backup('b');
    const used = await restore('b', '--force');
    expect([used.code, used.stderr]).toEqual([
      1,
      `Another process is using ${lethe.path}: the service, or another command. Stop it, and run this command again.\n`,
    ]);
    await lethe.service.end();
    appendFileSync(join(place('b'), 'keys.db'), 'x');
    expect((await restore('b', '--force')).stderr).toContain('is not what the backup has written');
    rmSync(join(place('b'), 'manifest.json'));
    expect((await restore('b', '--force')).stderr).toContain('holds no finished backup');
    await lethe.service.start();
  });

  it('leaves no copy of the backup where it fails before anything is replaced', async () => {
    await backup('b');
    await lethe.service.end();
    const files = readdirSync(lethe.directory);
    const copying = jest.spyOn(fs, 'chmodSync').mockImplementation((path) => {
      if (String(path).includes('.restoring')) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    });
    const run = await restore('b', '--force').finally(() => copying.mockRestore());
    expect([run.code, run.stderr]).toEqual([
      1,
      `The files of the restore cannot be written (ENOSPC). Nothing was replaced. Make room on the disk of ${lethe.directory}, and run the same command again.\n`,
    ]);
    expect(readdirSync(lethe.directory)).toEqual(files);
  });

  it('refuses a manifest that names a file outside the backup', async () => {
    await backup('b');
    await backup('other');
    await lethe.service.end();
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
    await lethe.service.end();
    const modes = (): Record<string, string> =>
      Object.fromEntries(
        readdirSync(lethe.directory)
          .map((name) => [name, (statSync(join(lethe.directory, name)).mode & 0o777).toString(8)] as const)
          .filter(([, mode]) => mode !== '600'),
      );
    for (const name of readdirSync(place('b'))) chmodSync(join(place('b'), name), 0o644);
    expect((await restore('b', '--force')).code).toBe(0);
    expect(modes()).toEqual({});
    // It names times and places of backups, and a start does not touch it.
    rmSync(join(lethe.directory, 'lethe.db.backups.json'));
    for (const name of readdirSync(lethe.directory)) chmodSync(join(lethe.directory, name), 0o664);
    for (const name of ['lethe.db-wal', 'keys.db-wal'])
      writeFileSync(join(lethe.directory, name), '', { mode: 0o664, flag: 'a' });
    for (const name of readdirSync(lethe.directory).filter((each) => each.includes('replaced')))
      rmSync(join(lethe.directory, name));
    await lethe.service.start();
    expect(modes()).toEqual({});
  });

  it('decrypts nothing before libsodium is loaded, however late that is', async () => {
    await backup('b');
    await lethe.service.end();
    const late = `
      const { instantiate } = WebAssembly;
      WebAssembly.instantiate = async (...given) => {
        for (let turn = 0; turn < 100_000; turn++) await new Promise(setImmediate);
        return instantiate(...given);
      };`;
    const environment = { ...lethe.environment, ...preloading(late, build.workingDirectory, 'late') };
    const drill = await runScript(build, 'admin', ['backup:drill', '--from', place('b')], environment);
    expect(drill).toMatchObject({ code: 0 });
    wipe();
    expect(await runScript(build, 'admin', ['restore', '--from', place('b')], environment)).toMatchObject({
      code: 0,
    });
  });

  const BEFORE_READY: Moment = { at: '^rename to .*ready.json$' };
  const restoring = (): string[] => readdirSync(lethe.directory).filter((name) => name.includes('restoring'));

  it('killed before it is ready leaves nothing beside a service that starts', async () => {
    const gone = await bot.hasUser();
    await backup('b');
    await lethe.service.end();
    expect(
      (await lethe.adminApart(['restore', '--from', place('b'), '--force'], BEFORE_READY)).code,
    ).toBeNull();
    expect(restoring()).toEqual(['lethe.db.restoring']);
    await lethe.service.start();
    await bot.hasForgotten(gone);
    expect(restoring()).toEqual([]);
  });

  const moments: readonly [string, Moment, boolean][] = [
    ['before it is ready', BEFORE_READY, false],
    ['between data and keys', { at: '^rename to .*keys.db.replaced-' }, true],
    ['before the data are in place', { at: '^rename to .*/lethe\\.db$' }, true],
    ['before the keys are in place', { at: '^rename to .*/keys.db$' }, true],
  ];
  itInPart.each(someOf(moments, 2))(
    'killed %s no service starts on half of it',
    async (_, moment, isBegun) => {
      const [gone, stays] = [await bot.hasUser(), await bot.hasUser()];
      const { guild_id: left } = subject();
      await bot.post('/servers/register', { guild_id: left });
      await bot.delete(`/servers/${left}?grace_days=1`);
      await backup('b');
      await bot.hasForgotten(gone);
      await lethe.service.end();
      expect((await lethe.adminApart(['restore', '--from', place('b'), '--force'], moment)).code).toBeNull();
      if (isBegun) {
        const { code, stderr } = await newProcess().refused();
        expect({ code, stderr }).toMatchObject({
          code: 1,
          stderr: expect.stringContaining('A restore of'),
        });
        expect((await lethe.admin('keys:sign-rotate')).stderr).toContain('A restore of');
      }
      expect(await restore('b', '--force')).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(/^1 scheduled deletion of a guild waits .*Start the service now/ms),
      });
      expect(restoring()).toEqual([]);
      await lethe.service.start();
      expectFailure(await bot.export(gone), 404, 'not_found');
      await expectKept(stays);
    },
  );
});
