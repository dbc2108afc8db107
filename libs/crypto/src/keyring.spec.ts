import fs, {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpAdapterHost } from '@nestjs/core';
import { Degradations, readConfig, SystemClock, SystemRandom } from '@app/kernel';
import { UnreadableSecretError } from './aead';
import { KeyFileWatch, masterKeys } from './master-key';
import { Keyring } from './keyring';

const random = new SystemRandom(new SystemClock());
const [old, present] = [random.bytes(32), random.bytes(32)];

describe('Keyring', () => {
  const keyring = new Keyring([present, old], random);

  it('decrypts what it encrypted, in the same context only', () => {
    const encrypted = keyring.encrypt('whsec_x', 'bots/1');
    expect(keyring.decrypt(encrypted, 'bots/1')).toBe('whsec_x');
    expect(() => keyring.decrypt(encrypted, 'bots/2')).toThrow(UnreadableSecretError);
  });

  it('shows nothing of the secret and never encrypts it the same way twice', () => {
    const texts = Array.from({ length: 100 }, () => keyring.encrypt('whsec_secret', 'bots/1'));
    expect(new Set(texts).size).toBe(100);
    for (const text of texts)
      expect(Buffer.from(text.split('.')[2] ?? '', 'base64url').includes('secret')).toBe(false);
  });

  it('encrypts with the present key and decrypts with older ones', () => {
    const encryptedBefore = new Keyring([old], random).encrypt('a', 'c');
    expect(keyring.decrypt(encryptedBefore, 'c')).toBe('a');
    expect(() => new Keyring([old], random).decrypt(keyring.encrypt('a', 'c'), 'c')).toThrow(
      UnreadableSecretError,
    );
  });

  it('opens nothing of which a single bit was changed, and no text of other origin', () => {
    const encrypted = keyring.encrypt('whsec_x', 'c');
    const [version, id, body = ''] = encrypted.split('.');
    const bytes = Buffer.from(body, 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = changed.readUInt8(at) ^ 1;
      expect(() => keyring.decrypt(`${version}.${id}.${changed.toString('base64url')}`, 'c')).toThrow(
        UnreadableSecretError,
      );
    }
    for (const text of [
      '',
      'whsec_x',
      'v2',
      'v2.x.y',
      'v1.x.y',
      `v1.${id}.${body}`,
      `v3.${id}.${body}`,
      `${version}.${id}.`,
    ])
      expect(() => keyring.decrypt(text, 'c')).toThrow(UnreadableSecretError);
  });
});

describe('masterKeys', () => {
  let directory: string;
  const path = (): string => join(directory, 'lethe.db');
  const read = (environment: Record<string, string> = {}, warnings: string[] = []): readonly Buffer[] =>
    masterKeys(readConfig({ DATABASE_URL: `sqlite:${path()}`, ...environment }), random, (text) =>
      warnings.push(text),
    );

  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'lethe-test-'))));
  afterEach(() => {
    jest.useRealTimers();
    rmSync(directory, { recursive: true });
  });

  it('takes the keys of LETHE_MASTER_KEY, and writes no file', () => {
    const warnings: string[] = [];
    const given = `${present.toString('base64')}, ${old.toString('base64')}`;
    expect(read({ LETHE_MASTER_KEY: given }, warnings)).toEqual([present, old]);
    expect(warnings).toEqual([]);
    expect(() => statSync(`${path()}.key`)).toThrow();
  });

  it('generates a key file that only its owner can read, says so, and uses it again', () => {
    const warnings: string[] = [];
    const first = read({}, warnings);
    expect(statSync(`${path()}.key`).mode & 0o777).toBe(0o600);
    expect(warnings).toEqual([expect.stringContaining('LETHE_MASTER_KEY is not set')]);
    expect(warnings.join()).not.toContain(readFileSync(`${path()}.key`, 'utf8').trim());
    expect(read()).toEqual(first);
  });

  it('warns of a key file that others can read', () => {
    read();
    chmodSync(`${path()}.key`, 0o644);
    const warnings: string[] = [];
    read({}, warnings);
    expect(warnings).toContainEqual(expect.stringContaining('chmod 600'));
  });

  it('leaves no key file where a first start fails while it writes one, so that the next start makes it', () => {
    const written = jest.spyOn(fs, 'writeFileSync').mockImplementationOnce((file) => {
      // A full disk: the file is made, and none of its bytes.
      fs.closeSync(fs.openSync(String(file), 'wx'));
      throw Object.assign(new Error('no room'), { code: 'ENOSPC' });
    });
    expect(() => read()).toThrow(/The key file \S+ cannot be written \(ENOSPC\)/);
    written.mockRestore();
    expect(readdirSync(directory)).toEqual([]);
    expect(read()).toHaveLength(1);
  });

  it.each(['makes the key file', 'uses the key file that is there'])(
    'removes what a start left that was killed meanwhile, and %s',
    (does) => {
      if (does.startsWith('uses')) read();
      writeFileSync(`${path()}.key.next-0123456789ab`, '');
      if (!existsSync(`${path()}.key`)) writeFileSync(`${path()}.key`, '');
      const made = read();
      expect(made).toHaveLength(1);
      expect(readdirSync(directory)).toEqual(['lethe.db.key']);
      expect(read()).toEqual(made);
    },
  );

  it.each(['before', 'after'])(
    'uses the key file of another start that makes one %s its own is written',
    (when) => {
      let other: readonly Buffer[] = [];
      const { writeFileSync: write } = fs;
      const written = jest.spyOn(fs, 'writeFileSync').mockImplementationOnce((...given) => {
        if (when === 'after') write(...given);
        other = read();
        if (when === 'before') write(...given);
      });
      expect(read()).toEqual(other);
      written.mockRestore();
      expect(read()).toEqual(other);
      expect(readdirSync(directory)).toEqual(['lethe.db.key']);
    },
  );

  it('leaves a damaged key file as it is and refuses to start', () => {
    writeFileSync(`${path()}.key`, 'too short');
    expect(() => read()).toThrow(/damaged/);
    expect(readFileSync(`${path()}.key`, 'utf8')).toBe('too short');
  });

  it.each(['x', 'c2hvcnQ=', `${present.toString('base64')},x`])('refuses LETHE_MASTER_KEY=%s', (given) => {
    expect(() => read({ LETHE_MASTER_KEY: given })).toThrow(/LETHE_MASTER_KEY must be 32 random bytes/);
  });

  /** The watch of a process; the adapter of one that has the HTTP interface is there. */
  function watchOf(degradations: Degradations, jobs: 'on' | 'off', hasInterface: boolean): KeyFileWatch {
    const config = { ...readConfig({ DATABASE_URL: `sqlite:${path()}` }), jobs };
    const host = new HttpAdapterHost();
    // Nest gives a process without an interface null.
    host.httpAdapter = (hasInterface ? {} : null) as never;
    return new KeyFileWatch(new Keyring(read(), random), degradations, host, config);
  }

  it.each([
    ['an api that leaves its jobs to workers', 'off', true, ['key_file_missing']],
    ['a worker, which has no interface', 'on', false, ['key_file_missing']],
    ['no command of the operator', 'off', false, []],
  ] as const)('of a file that is missing degrade %s', (_, jobs, hasInterface, expected) => {
    jest.useFakeTimers();
    const degradations = new Degradations();
    const watch = watchOf(degradations, jobs, hasInterface);
    watch.onApplicationBootstrap();
    rmSync(`${path()}.key`);
    jest.advanceTimersByTime(60_000);
    expect(degradations.current).toEqual(expected);
    watch.onApplicationShutdown();
  });

  it.each([
    ['removed', () => rmSync(`${path()}.key`)],
    ['emptied', () => writeFileSync(`${path()}.key`, '')],
    ['damaged', () => writeFileSync(`${path()}.key`, 'too short')],
    ['replaced by another one', () => writeFileSync(`${path()}.key`, old.toString('base64'))],
  ])('of a file that is %s under the running service degrade it until it is back', (_, change) => {
    jest.useFakeTimers();
    const degradations = new Degradations();
    const watch = watchOf(degradations, 'on', true);
    const kept = readFileSync(`${path()}.key`);
    const seen = (): readonly string[] => {
      jest.advanceTimersByTime(60_000);
      return degradations.current;
    };
    watch.onApplicationBootstrap();
    expect(seen()).toEqual([]);
    change();
    expect(seen()).toEqual(['key_file_missing']);
    writeFileSync(`${path()}.key`, kept);
    expect(seen()).toEqual([]);
    watch.onApplicationShutdown();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('of a folder about which the file system gives no answer degrade a running service, which works on', () => {
    const degradations = new Degradations();
    const watch = watchOf(degradations, 'on', true);
    const aside = `${directory}.aside`;
    renameSync(directory, aside);
    symlinkSync(directory, directory);
    watch.look();
    expect(degradations.current).toEqual(['key_file_missing']);
    rmSync(directory);
    renameSync(aside, directory);
    watch.look();
    expect(degradations.current).toEqual([]);
  });
});
