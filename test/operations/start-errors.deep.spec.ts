import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { databaseEngine, isFilled } from '@app/database';
import { isThere, readConfig } from '@app/kernel';
import { writeEnvironment } from '../../apps/server/src/init';
import { ormOptions } from '../../ormconfig';
import { useBuild } from '../support/build';
import { preloading, runScript } from '../support/child-script';
import { ChildService } from '../support/child-service';

// Failing starts: the message, its number, and the remaining files.

const build = useBuild();
let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'lethe-test-'))));
afterEach(() => {
  chmodSync(directory, 0o700);
  rmSync(directory, { recursive: true });
});

/** Every file below the directory. */
const left = (): string[] => readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();

async function refused(environment: Readonly<Record<string, string>>): Promise<string> {
  const settings = { PORT: '0', LOG_LEVEL: 'trace', ...environment };
  const { code, stdout, stderr } = await runScript(
    { ...build, workingDirectory: directory },
    'api',
    [],
    settings,
  );
  expect(code).toBe(1);
  // Once, on standard error: no log line repeats it or announces another try.
  expect(stdout.split('\n').filter((line) => /"level":(40|50|60)|Retrying|cannot/.test(line))).toEqual([]);
  expect(stderr).not.toMatch(/\n\s+at /);
  return stderr;
}

describe('a start that fails', () => {
  it('because PostgreSQL is away says so in one line, and leaves no file behind', async () => {
    const said = await refused({ DATABASE_URL: 'postgres://me:secret@127.0.0.1:1/lethe' });
    expect(said).toMatch(/^The database \(PostgreSQL, 127\.0\.0\.1:1\/lethe\) cannot be used: .*\n$/);
    expect(left()).toEqual([]);
  });

  it('because of a setting leaves no file behind', async () => {
    expect(await refused({ PORT: 'x' })).toContain('PORT must be a whole number');
    expect(left()).toEqual([]);
  });

  it('because its port is in use, or HOST is not of this machine, says so in one line', async () => {
    const sound = {
      LETHE_MASTER_KEY: Buffer.alloc(32, 'test').toString('base64'),
      PUBLIC_URL: 'https://a.example',
    };
    const other = createServer().listen(0, '127.0.0.1');
    try {
      await once(other, 'listening');
      const port = String((other.address() as AddressInfo).port);
      expect(await refused({ ...sound, PORT: port })).toMatch(/^Port \d+ of 127\.0\.0\.1 is in use\..*$/m);
    } finally {
      other.close();
    }
    expect(await refused({ ...sound, HOST: '192.0.2.1' })).toContain('HOST names 192.0.2.1');
  });

  it('because a name of its settings has a typing error, does not open the registration', async () => {
    writeFileSync(join(directory, '.env'), 'PROT=0\n');
    expect(await refused({ REGISTRATON: 'off' })).toMatch(
      /- PROT is not a setting of Lethe \(did you mean PORT\?\)[^]*- REGISTRATON is not .*\(did you mean REGISTRATION\?\)/,
    );
    expect(left()).toEqual(['.env']);
  });

  it('because its file of settings is not understood names each line, and does not open the registration', async () => {
    writeFileSync(join(directory, '.env'), Buffer.from('REGISTRATION=off\r\n', 'utf16le'));
    expect(await refused({})).toContain('.env is not UTF-8');
    writeFileSync(join(directory, '.env'), 'set REGISTRATION=off\nregistration=off\n');
    expect(await refused({})).toMatch(
      /- \.env, line 1 is not understood[^]*- \.env, line 2 names registration/,
    );
    expect(left()).toEqual(['.env']);
  });

  it('because its database is damaged makes no key', async () => {
    writeFileSync(join(directory, 'lethe.db'), 'this is no database, but a text that somebody has put there');
    const said = await refused({ DATABASE_URL: 'sqlite:lethe.db' });
    expect(said).toMatch(/^\S+lethe\.db is damaged or no SQLite database\..*\n$/);
    expect(left()).not.toContain('lethe.db.key');
  });

  it('because the key file of its database is missing makes no other one, which would decrypt nothing', async () => {
    const settings = { DATABASE_URL: 'sqlite:lethe.db' };
    for (const command of ['db:migrate', 'keys:sign-rotate'])
      expect(
        await runScript({ ...build, workingDirectory: directory }, 'admin', [command], settings),
      ).toMatchObject({ code: 0 });
    expect(left()).toContain('lethe.db.key');
    rmSync(join(directory, 'lethe.db.key'));
    expect(await refused(settings)).toMatch(
      /^The keys of this database were encrypted with another master key, and there is no key file \S+lethe\.db\.key, or an empty one\. Set LETHE_MASTER_KEY, LETHE_MASTER_KEY_FILE or LETHE_MASTER_KEY_COMMAND as it was, or put the key file back\.\n$/,
    );
    expect(left()).not.toContain('lethe.db.key');
  });

  it('because the limit of its address space leaves no room for WebAssembly names the limit', async () => {
    // What Node.js says under `ulimit -v`.
    const none = `const says = 'WebAssembly.instantiate(): Out of memory: Cannot allocate Wasm memory for new instance';
      WebAssembly.instantiate = async () => { throw new RangeError(says); };`;
    const { code, stdout, stderr } = await runScript({ ...build, workingDirectory: directory }, 'api', [], {
      PORT: '0',
      ...preloading(none, directory, 'no-room'),
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The limit of the address space \(ulimit -v, .*\n$/);
    expect(stdout).toContain('ulimit -v');
  });

  it('because a file is where the data directory should be names the directory', async () => {
    writeFileSync(join(directory, 'data'), '');
    expect(await refused({})).toMatch(
      /^The data directory \S+data cannot be .* DATABASE_URL=sqlite:PATH\.\n$/,
    );
    expect(left()).toEqual(['data']);
  });

  it('because the data directory may not be written names the directory, not the key file', async () => {
    const data = join(directory, 'data');
    mkdirSync(data, { mode: 0o555 });
    chmodSync(directory, 0o755);
    const config = readConfig({ DATABASE_URL: `sqlite:${join(data, 'lethe.db')}` });
    const isRoot = process.geteuid?.() === 0;
    // Root may write everywhere.
    if (isRoot) process.seteuid?.(65_534);
    try {
      await expect(
        databaseEngine(config).open(ormOptions(config), 'migrate', () => undefined),
      ).rejects.toThrow(
        `The data directory ${data} cannot be written (EACCES). Make it writable for the user that runs Lethe`,
      );
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
    expect(left()).toEqual(['data']);
  });

  it('because it cannot be seen whether a file is there does not take it for missing', async () => {
    // A link to itself: no one can look at it, whatever the rights.
    const loop = (name: string): void => symlinkSync(basename(name), join(directory, name));
    mkdirSync(join(directory, 'lethe.db.restoring'));
    loop('lethe.db.restoring/ready.json');
    loop('other.db');
    const config = readConfig({ DATABASE_URL: `sqlite:${join(directory, 'lethe.db')}` });
    await expect(databaseEngine(config).open(ormOptions(config), 'migrate', () => undefined)).rejects.toThrow(
      'ready.json cannot be seen (ELOOP)',
    );
    expect(() => isFilled(join(directory, 'other.db'))).toThrow('other.db cannot be seen (ELOOP)');
    expect(isThere(join(directory, 'none'))).toBe(false);
    expect(left()).not.toContain('lethe.db-wal');
  });
});

describe('lethe-server init', () => {
  it('in a folder that may not be written names the folder and what to do, in one line', () => {
    const folder = join(directory, 'closed');
    mkdirSync(folder, { mode: 0o555 });
    chmodSync(directory, 0o755);
    const written = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    const isRoot = process.geteuid?.() === 0;
    // Root may write everywhere.
    if (isRoot) process.seteuid?.(65_534);
    let code: number;
    try {
      code = writeEnvironment(folder);
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
    const said = written.mock.calls.join('');
    written.mockRestore();
    expect([code, said]).toEqual([
      1,
      `.env cannot be written into ${folder} (EACCES). Give your user write access to the folder, or call init in another one; if it has access, check the disk.\n`,
    ]);
    expect(left()).toEqual(['closed']);
  });

  it('keeps a .env that is there, byte for byte, and says what a start will make of it', () => {
    const file = join(directory, '.env');
    const key = `LETHE_MASTER_KEY=${Buffer.alloc(32).toString('base64')}\r\n`;
    for (const [given, said] of [
      [Buffer.from(key), 'its keys decrypt what is stored'],
      [
        Buffer.from('LETHE_MASTER_KEY_FILE=/run/key\n'),
        'what its LETHE_MASTER_KEY_FILE gives decrypts what is stored',
      ],
      [Buffer.from('PORT=3000\n'), 'without LETHE_MASTER_KEY'],
      [Buffer.from(key, 'utf16le'), '.env is not UTF-8'],
      [Buffer.from(`set ${key}`), '.env, line 1 is not understood'],
    ] as const) {
      writeFileSync(file, given);
      const written = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
      expect(writeEnvironment(directory)).toBe(1);
      expect(written.mock.calls.join('')).toContain(said);
      expect(written.mock.calls.join('')).not.toContain('AAAA');
      written.mockRestore();
      expect(readFileSync(file)).toEqual(given);
      expect(left()).toEqual(['.env']);
    }
  });
});

describe('a start that waits for a server without an answer', () => {
  it('has at SIGTERM the time of any other shutdown', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const environment = {
      DATABASE_URL: `postgres://me@127.0.0.1:${port}/lethe`,
      DATABASE_LOCK_TIMEOUT_MS: '600000',
      SHUTDOWN_TIMEOUT_MS: '0',
    };
    const starting = new ChildService(build.directory, join(directory, 'lethe.db'), environment);
    void starting.refused();
    await once(silent, 'connection');
    expect(await starting.end('SIGTERM')).toMatchObject({ code: 1, signal: null });
    silent.close();
  });
});
