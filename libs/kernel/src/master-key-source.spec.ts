import processes from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, ConfigError, readConfig } from './config';
import { masterKeyPlace, masterKeySetting } from './master-key-source';

const [present, old] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const [PRESENT, OLD] = [present.toString('base64'), old.toString('base64')];

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'lethe-test-'))));
afterEach(() => rmSync(directory, { recursive: true }));

function written(content: string | Buffer): string {
  const path = join(directory, 'master-key');
  writeFileSync(path, content);
  return path;
}

/** A program of Node.js as the command, with its arguments. */
const program = (code: string, ...args: string[]): { LETHE_MASTER_KEY_COMMAND: string } => ({
  LETHE_MASTER_KEY_COMMAND: JSON.stringify([process.execPath, '-e', code, ...args]),
});

/** The one fault of a start that is refused. */
function fault(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError && error.faults.length === 1) return error.faults[0] ?? '';
    throw error;
  }
  throw new Error('the start was not refused');
}

const WORDS = 'must be 32 random bytes as base64 (openssl rand -base64 32)';

describe('LETHE_MASTER_KEY_FILE', () => {
  it.each([
    [PRESENT, [present]],
    [`${PRESENT}\n`, [present]],
    [`${PRESENT}\r\n${OLD}\r\n`, [present, old]],
    [` ${PRESENT}, ${OLD}\n\n`, [present, old]],
  ])('gives the keys of a file with %j', (content, keys) => {
    const config = readConfig({ LETHE_MASTER_KEY_FILE: written(content) });
    expect(config.masterKeys).toEqual(keys);
    expect([masterKeyPlace(config), masterKeySetting(config)]).toEqual([
      'secret_file',
      'the file of LETHE_MASTER_KEY_FILE',
    ]);
  });

  it.each<[string | Buffer, string]>([
    ['', 'is empty: it must hold the master key'],
    ['\n \n', 'is empty: it must hold the master key'],
    [`${PRESENT}\nsecret`, WORDS],
    [present.toString('hex'), WORDS],
    [Buffer.alloc(32, 7), WORDS],
  ])('refuses the content %j, and does not show it', (content, words) => {
    const said = fault({ LETHE_MASTER_KEY_FILE: written(content) });
    expect(said).toContain(`the file of LETHE_MASTER_KEY_FILE ${words}`);
    expect(said).not.toMatch(/secret|AQEB|0101/);
  });

  it('refuses a file that is missing, or no file, with its path', () => {
    const missing = join(directory, 'none');
    expect(fault({ LETHE_MASTER_KEY_FILE: missing })).toContain(`${missing}, cannot be read (ENOENT)`);
    mkdirSync(missing);
    expect(fault({ LETHE_MASTER_KEY_FILE: missing })).toContain(`${missing}, cannot be read (EISDIR)`);
  });
});

describe('LETHE_MASTER_KEY_COMMAND', () => {
  it.each<[string, readonly string[]]>([
    ['', []],
    ['  ', []],
    [' /bin/key  --of lethe\t', ['/bin/key', '--of', 'lethe']],
    ['aws kms decrypt --ciphertext-blob fileb:///etc/k --query Keys[0]', expect.any(Array)],
    ['["/bin/a key", "$HOME", ""]', ['/bin/a key', '$HOME', '']],
  ])('reads %j as a program with arguments', (given, words) => {
    const none = { status: 0, signal: null, stdout: PRESENT, stderr: '' } as never;
    const spawn = jest.spyOn(processes, 'spawnSync').mockReturnValue(none);
    expect(readConfig({ LETHE_MASTER_KEY_COMMAND: given }).masterKeyCommand).toEqual(words);
    expect(spawn).toHaveBeenCalledTimes(given.trim() === '' ? 0 : 1);
    spawn.mockRestore();
  });

  it.each([
    'cat "a key"',
    "cat 'a key'",
    'cat key | base64 -d',
    'cat $HOME/key',
    'cat <key',
    'cat key; true',
    'a && b',
    'cat a\\ key',
    '[]',
    '[""]',
    '["a", 1]',
    '["a", "b\\u0000"]',
    '["a"',
  ])('refuses %j, since no shell reads it', (given) => {
    const spawn = jest.spyOn(processes, 'spawnSync');
    expect(fault({ LETHE_MASTER_KEY_COMMAND: given })).toMatch(
      /^LETHE_MASTER_KEY_COMMAND must be a program and its arguments, which no shell reads: .* JSON array/,
    );
    expect(spawn).not.toHaveBeenCalled();
    spawn.mockRestore();
  });

  it('gives the keys that the program prints, the present one first', () => {
    const config = readConfig(program(`console.log('${PRESENT}\\n${OLD}')`));
    expect(config.masterKeys).toEqual([present, old]);
    expect([masterKeyPlace(config), masterKeySetting(config)]).toEqual([
      'command',
      'the output of LETHE_MASTER_KEY_COMMAND',
    ]);
  });

  it('has the environment without the settings of Lethe, and no standard input', () => {
    const seen = join(directory, 'seen');
    const code = `const { readFileSync, writeFileSync } = require('node:fs');
      writeFileSync(process.argv[1], JSON.stringify([process.env, readFileSync(0, 'utf8')]));
      console.log('${PRESENT}')`;
    const secrets = { OPERATOR_TOKEN: 'o'.repeat(16), DATABASE_URL: 'postgres://a:b@c/d' };
    readConfig({ ...program(code, seen), ...secrets, VAULT_ADDR: 'https://vault', LETHE_URL: 'http://x' });
    const [environment, stdin] = JSON.parse(readFileSync(seen, 'utf8')) as [Record<string, string>, string];
    expect(environment).toMatchObject({ VAULT_ADDR: 'https://vault' });
    expect(Object.keys(environment)).not.toEqual(expect.arrayContaining(['OPERATOR_TOKEN']));
    expect(JSON.stringify(environment)).not.toMatch(/oooo|postgres:|MASTER_KEY/);
    expect(stdin).toBe('');
  });

  it.each([
    ['no key', `console.log('sealed secret')`, `the output of LETHE_MASTER_KEY_COMMAND ${WORDS}`],
    ['nothing', '', 'the output of LETHE_MASTER_KEY_COMMAND is empty'],
    ['too much', `console.log('${PRESENT},'.repeat(1000))`, 'wrote more than 16 KiB'],
  ])('refuses a program that prints %s, and shows nothing of it', (_, code, words) => {
    const said = fault(program(code));
    expect(said).toContain(words);
    expect(said).not.toMatch(/secret|AQEB/);
  });

  it('shows the standard error of a program that fails, in its first 500 characters and without a key', () => {
    const code = `console.log('${PRESENT}');
      console.error('Vault is \\u001b[31msealed ${PRESENT} hvs.' + 'CAES'.repeat(20) + ' ' + 'x '.repeat(2000));
      process.exit(3)`;
    const said = fault(program(code));
    expect(said).toMatch(
      /^LETHE_MASTER_KEY_COMMAND: \S+node ended with the exit code 3: Vault is \\u001b\[31msealed \(withheld\) hvs\.\(withheld\) x x /,
    );
    expect(said.length).toBeLessThan(700);
  });

  it('refuses a program that is ended by a signal, though it has printed a key', () => {
    const code = `require('node:fs').writeSync(1, '${PRESENT}'); process.kill(process.pid, 'SIGKILL')`;
    expect(fault(program(code))).toMatch(/was ended by SIGKILL$/);
  });

  it('refuses a program that cannot be run', () => {
    const [missing, plain] = [join(directory, 'none'), written('')];
    expect(fault({ LETHE_MASTER_KEY_COMMAND: missing })).toBe(
      `LETHE_MASTER_KEY_COMMAND: ${missing} cannot be run (ENOENT)`,
    );
    expect(fault({ LETHE_MASTER_KEY_COMMAND: plain })).toContain('cannot be run (EACCES)');
  });

  it('ends a program that has not ended after 30 seconds', () => {
    const late = {
      error: Object.assign(new Error(), { code: 'ETIMEDOUT' }),
      stdout: PRESENT,
      stderr: 'waits',
    };
    const spawn = jest.spyOn(processes, 'spawnSync').mockReturnValue(late as never);
    expect(fault({ LETHE_MASTER_KEY_COMMAND: 'key' })).toBe(
      'LETHE_MASTER_KEY_COMMAND: key did not end within 30 seconds: waits',
    );
    expect(spawn).toHaveBeenCalledWith(
      'key',
      [],
      expect.objectContaining({ timeout: 30_000, killSignal: 'SIGKILL' }),
    );
    spawn.mockRestore();
  });

  it('is not run while another setting is wrong', () => {
    const ran = join(directory, 'ran');
    const code = `require('node:fs').writeFileSync(process.argv[1], '')`;
    expect(fault({ ...program(code, ran), PORT: 'x' })).toContain('PORT must be');
    expect(() => rmSync(ran)).toThrow('ENOENT');
  });
});

describe('the master key', () => {
  it.each(['LETHE_MASTER_KEY_FILE', 'LETHE_MASTER_KEY_COMMAND'])(
    'is not shown where it was given as %s by mistake',
    (name) => {
      for (const given of [PRESENT, `${PRESENT},${OLD}`, ` ${PRESENT} ${OLD}`]) {
        const said = fault({ [name]: given });
        expect(said).toMatch(/ not the key itself: that belongs into LETHE_MASTER_KEY$/);
        expect(said).not.toMatch(/AQEB|AgIC/);
      }
    },
  );

  it.each([
    ['LETHE_MASTER_KEY and LETHE_MASTER_KEY_FILE', { LETHE_MASTER_KEY: PRESENT, LETHE_MASTER_KEY_FILE: 'x' }],
    [
      'LETHE_MASTER_KEY and LETHE_MASTER_KEY_COMMAND',
      { LETHE_MASTER_KEY: PRESENT, LETHE_MASTER_KEY_COMMAND: 'x' },
    ],
    [
      'LETHE_MASTER_KEY_FILE and LETHE_MASTER_KEY_COMMAND',
      { LETHE_MASTER_KEY_FILE: 'x', LETHE_MASTER_KEY_COMMAND: 'x' },
    ],
  ])('is given once: %s are refused', (names, environment) => {
    expect(fault(environment)).toBe(`${names} are set: only one of them may give the master key`);
  });

  it('is named by the variable that holds it, or that would in place of a key file', () => {
    const named = (config: Config) => [masterKeyPlace(config), masterKeySetting(config)];
    expect(named(readConfig({ LETHE_MASTER_KEY: PRESENT }))).toEqual(['environment', 'LETHE_MASTER_KEY']);
    expect(named(readConfig({}))).toEqual(['file', 'LETHE_MASTER_KEY']);
  });
});
