import {
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { SqliteDatabase } from '@app/database';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { sqliteFile } from '../support/database';
import { runScript } from '../support/child-script';
import { someOf } from '../support/depth';
import { ServiceHere } from '../support/here';
import { useInstallation } from '../support/installation';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

// The files of SQLite are removed or replaced, under a running service and between two starts.

const build = useBuild();
const lethe = useInstallation({ build, settings: {} });
let service: ChildService;

const file = (name: string): string => join(lethe.directory, name);
const ready = async (): Promise<number> => (await fetch(`${service.url}/health/ready`)).status;
const registers = async (bot: Bot, guild_id: string): Promise<number> =>
  (await bot.post('/servers/register', { guild_id })).status;
const guilds = async (bot: Bot): Promise<string[]> => {
  const { servers } = (await bot.get<{ servers: { guild_id: string }[] }>('/servers')).data;
  return servers.map(({ guild_id }) => guild_id).sort();
};

beforeEach(() => {
  service = lethe.child({}, lethe.log);
});

describe('a service whose file', () => {
  beforeEach(() => service.start());

  const ways = {
    'is removed': () => undefined,
    'is replaced by a copy': (path: string) => copyFileSync(`${path}.away`, path),
    'is replaced by another file': (path: string) => writeFileSync(path, 'x'),
  };
  const faults = ['lethe.db', 'keys.db', 'lethe.db-wal', 'keys.db-wal'].flatMap((name) =>
    Object.entries(ways).map(([how, replace]) => ({ name, how, replace })),
  );

  it('is removed or replaced is not ready and acknowledges no act, and goes on when the file is back', async () => {
    const bot = await Bot.register(service.url);
    const kept: string[] = [];
    for (const { name, how, replace } of someOf(faults, 3)) {
      const [{ guild_id: first }, { guild_id: lost }, { guild_id: last }] = [subject(), subject(), subject()];
      const said = (): number => lethe.logged.split(`${name} was removed or replaced`).length;
      const before = said();
      const seen = [await registers(bot, first)];
      kept.push(first);
      renameSync(file(name), file(`${name}.away`));
      replace(file(name));
      seen.push(await registers(bot, lost), await ready());
      expect([name, how, await guilds(bot)]).toStrictEqual([name, how, [...kept].sort()]);
      await until(() => said() > before);
      renameSync(file(`${name}.away`), file(name));
      seen.push(await registers(bot, last), await ready());
      kept.push(last);
      expect([name, how, ...seen]).toStrictEqual([name, how, 201, 503, 503, 201, 200]);
    }
    expect((await service.end('SIGTERM')).code).toBe(0);
    await service.start();
    expect(await guilds(bot)).toStrictEqual(kept.sort());
  });

  it('is removed ends in order', async () => {
    rmSync(file('lethe.db'));
    rmSync(file('keys.db'));
    expect(await ready()).toBe(503);
    expect((await service.end('SIGTERM')).code).toBe(0);
  });
});

/** Locks the whole file, as a program does that closes it as the last one and moves the log into it. */
function lockedByAnother(name: string): { close(): unknown } {
  const other = new SqliteDatabase(file(name));
  other.pragma('locking_mode = EXCLUSIVE');
  other.exec('BEGIN EXCLUSIVE');
  return other;
}

/** The names of the files that a process has open. A descriptor can be closed meanwhile. */
function openFiles(pid: number): string[] {
  const descriptors = `/proc/${pid}/fd`;
  return readdirSync(descriptors).flatMap((descriptor) => {
    try {
      return [basename(readlinkSync(join(descriptors, descriptor)))];
    } catch {
      return [];
    }
  });
}

const itWhereFilesAreSeen = existsSync('/proc/self/fd') ? it : it.skip;

describe('a start beside another program', () => {
  itWhereFilesAreSeen.each(['lethe.db', 'keys.db'])('waits until it has closed %s', async (name) => {
    await service.start();
    await service.end('SIGTERM');
    const other = lockedByAnother(name);
    const start = service.start();
    // Behind both locks the process opens the file to use it.
    const isOpen = (names: string[]): boolean => names.includes('keys.db.lock') && names.includes(name);
    await Promise.race([until(() => isOpen(openFiles(service.pid))), start]);
    other.close();
    await start;
    expect(await ready()).toBe(200);
    await service.end('SIGTERM');
  });
});

describe('a start whose data is gone, beside keys in use', () => {
  const ways = {
    'is missing': (path: string) => rmSync(path),
    'is empty': (path: string) => writeFileSync(path, ''),
  };

  it.each(Object.entries(ways))('because lethe.db %s is refused until it is restored', async (_, lose) => {
    const before = await lethe.here().start();
    const bot = await Bot.register(before.url);
    expect((await lethe.admin('backup', '--to', file('backup'))).code).toBe(0);
    await before.end();
    lose(file('lethe.db'));
    const keys = readFileSync(file('keys.db'));
    const { code, stderr } = await service.refused();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^\S+lethe\.db holds no data, but \S+keys\.db holds the keys of an installation\. Restore the data: npm run admin -- restore --from DIR --only data --force\. .*keys\.db another name\.\n$/,
    );
    // The refusal has made no file that a further start would take for data.
    await expect(lethe.here().start()).rejects.toThrow(
      /lethe\.db holds no data, but \S+keys\.db holds the keys of an installation\. Restore the data/,
    );
    expect(readFileSync(file('keys.db')).equals(keys)).toBe(true);
    const restore = ['restore', '--from', file('backup'), '--only', 'data', '--force'];
    expect((await lethe.admin(...restore)).code).toBe(0);
    const after = await lethe.here().start();
    expect(await guilds(bot.at(after))).toStrictEqual([]);
    await after.end();
  });

  it('begins anew once keys.db has another name', async () => {
    const before = await lethe.here().start();
    const bot = await Bot.register(before.url);
    await before.end();
    rmSync(file('lethe.db'));
    renameSync(file('keys.db'), file('keys.db.away'));
    const after = await lethe.here().start();
    expect((await bot.at(after).get('/servers')).status).toBe(401);
    await after.end();
  });
});

describe('keys behind a symbolic link, on a disk of their own', () => {
  let other: string;
  beforeEach(() => {
    // A file system of its own, where there is one.
    other = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'lethe-test-'));
    symlinkSync(join(other, 'real.db'), file('keys.db'));
  });
  afterEach(() => rmSync(other, { recursive: true }));

  it('are erased, backed up, restored there and used by one process', async () => {
    const running = await lethe.here().start();
    const bot = await Bot.register(running.url);
    await bot.hasCategory('profile');
    const [gone, stays] = [await bot.hasUser(), await bot.hasUser()];
    expect(await bot.post('/gdpr/forget-user', gone)).toMatchObject({ status: 200 });
    const isOwnDisk = statSync(other).dev !== statSync(lethe.directory).dev;
    await until(() => existsSync(join(other, 'real.db.ballast')) === isOwnDisk);
    mkdirSync(file('beside'));
    symlinkSync(join(other, 'real.db'), file('beside/keys.db'));
    const second = { DATABASE_URL: `sqlite:${file('beside/lethe.db')}` };
    await expect(new ServiceHere(sqliteFile(file('beside/lethe.db')), second).start()).rejects.toThrow(
      `Another process is using ${join(other, 'real.db')}`,
    );
    expect((await lethe.admin('backup', '--to', file('backup'))).code).toBe(0);
    await running.end();
    expect((await lethe.admin('restore', '--from', file('backup'), '--force')).code).toBe(0);
    expect(lstatSync(file('keys.db')).isSymbolicLink()).toBe(true);
    const again = await lethe.here().start();
    expect((await bot.at(again).export(gone)).status).toBe(404);
    expect((await bot.at(again).export(stays)).status).toBe(200);
    await again.end();
  });
});

describe('a start on a file that', () => {
  it.each([
    ['lethe.db', 'is a symbolic link', symlinkSync, /lethe\.db is a symbolic link\. Name the file itself/],
    ['lethe.db', 'has two names', linkSync, /lethe\.db has 2 names \(hard links\)/],
    ['keys.db', 'has two names', linkSync, /keys\.db has 2 names \(hard links\)/],
  ])('%s %s is refused, since its log and its lock lie beside the name', async (name, _, link, says) => {
    await (await lethe.here().start()).end();
    renameSync(file(name), file('elsewhere.db'));
    link(file('elsewhere.db'), file(name));
    await expect(lethe.here().start()).rejects.toThrow(says);
    const { code, stderr } = await lethe.admin('backup', '--to', file('backup'));
    expect([code, stderr]).toEqual([1, expect.stringMatching(says)]);
  });

  it('has a symbolic link for its lock is refused: root would give away what the link leads to', async () => {
    await (await lethe.here().start()).end();
    rmSync(file('lethe.db.lock'));
    symlinkSync(file('keys.db'), file('lethe.db.lock'));
    await expect(lethe.here().start()).rejects.toThrow('lethe.db.lock is a symbolic link');
  });

  it('holds something else names this file, and not another', async () => {
    await (await lethe.here().start()).end();
    for (const name of ['keys.db', 'lethe.db']) {
      const sound = readFileSync(file(name));
      writeFileSync(file(name), 'this is no database, but a text that somebody has put there');
      await expect(lethe.here().start()).rejects.toThrow(`${file(name)} is damaged or no SQLite database`);
      writeFileSync(file(name), sound);
    }
  });
});

describe('a first start that is killed', () => {
  const moments = [
    { at: '^COMMIT', count: 1 },
    ...[1, 2, 3].map((count) => ({ at: 'INSERT INTO service_keys', count })),
    { at: 'INSERT INTO installation', count: 1 },
  ];
  it.each(someOf(moments, 2))('before statement $count of /$at/ starts again', async (moment) => {
    const place = mkdtempSync(join(tmpdir(), 'lethe-test-'));
    const killed = await runScript({ ...build, workingDirectory: place }, 'api', [], { PORT: '0' }, moment);
    expect(killed).toMatchObject({ code: null, stderr: expect.stringContaining('HELD') });
    const path = join(place, 'data/lethe.db');
    await (await new ServiceHere(sqliteFile(path), { DATABASE_URL: `sqlite:${path}` }).start()).end();
    rmSync(place, { recursive: true });
  });
});
