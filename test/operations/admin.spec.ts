import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMANDS } from '../../apps/admin/src/admin';
import { helpOf } from '../../apps/admin/src/command-line';
import { aboutOf } from '../../apps/admin/src/estimate';
import { Progress } from '../../apps/admin/src/output';
import { runScript, type ScriptRun } from '../support/child-script';
import { adminHere } from '../support/here';
import { PROCESS_ENVIRONMENT, startOf, useBuild } from '../support/build';
import { HAS_FULL_DISK, ontoFullDisk } from '../support/spawned';

const build = useBuild();
let directory: string;
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'lethe-test-'))));
afterAll(() => rmSync(directory, { recursive: true }));

const admin = (...args: string[]): Promise<ScriptRun> =>
  adminHere(args, { DATABASE_URL: `sqlite:${join(directory, 'lethe.db')}` });

describe('npm run admin', () => {
  it('prints every command, and with --help its flags, on standard output', async () => {
    const run = await runScript(build, 'admin', ['--help']);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    for (const { name } of COMMANDS) expect(run.stdout).toContain(`  ${name} `);
    expect(await admin('restore', '--help')).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('--from DIR'),
    });
  });

  it.each(COMMANDS.map((command) => [command.name, command] as const))(
    'answers %s --help with every flag, and does nothing',
    async (name, command) => {
      const run = await adminHere([name, '--help'], {});
      expect(run).toMatchObject({ code: 0, stderr: '', stdout: helpOf(command) });
      for (const flag of Object.keys(command.flags)) expect(run.stdout).toContain(`--${flag}`);
    },
  );

  (HAS_FULL_DISK ? it : it.skip)(
    'ends with 1 and a readable line where its output cannot be written',
    async () => {
      const place = { cwd: build.workingDirectory, env: PROCESS_ENVIRONMENT };
      const run = (...args: string[]) => [...startOf(build.directory, 'admin'), ...args];
      const words = await ontoFullDisk(run('--help'), place);
      const message = 'The output cannot be written (ENOSPC). What the command did stays in effect.';
      expect(words).toMatchObject({ code: 1, stderr: `${message}\n` });
      const json = await ontoFullDisk(run('keys:list', '--help', '--json'), place);
      expect(json.code).toBe(1);
      expect(JSON.parse(json.stderr)).toEqual({ error: { message } });
    },
  );

  const unknown: readonly [readonly string[], string][] = [
    [['keys:eat'], 'There is no command keys:eat.'],
    [['keys:list', '--all'], "Unknown option '--all'."],
    [['keys:list', 'all'], "Unexpected argument 'all'."],
    [['backup'], '--to is missing.'],
    [['backup', '--to'], "Option '--to <value>' argument missing."],
    [['db:move'], '--from is missing.'],
    [['db:move', '--from', 'postgres://me:secret@x/y'], '--from must be sqlite:PATH.'],
    [['db:move', '--from', 'sqlite:./x.db'], 'The target must be PostgreSQL'],
    [['db:migrate', 'run'], "Unexpected argument 'run'."],
    [['restore', '--from', 'x', '--only', 'half'], '--only must be data or keys.'],
  ];
  it.each(unknown)('ends with 2 and a readable line for %j', async (args, message) => {
    const run = await adminHere(args, {});
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr.split('\n')[0]).toContain(message);
  });

  it('ends with 1 and one readable line where the settings cannot be used, or a file is not there', async () => {
    const settings = await runScript(build, 'admin', ['keys:list'], { DATABASE_URL: 'mysql://x' });
    expect(settings).toMatchObject({ code: 1, stdout: '' });
    expect(settings.stderr).toContain('DATABASE_URL must be sqlite:PATH');
    const nothing = await admin('keys:list');
    expect(nothing).toMatchObject({ code: 1, stdout: '' });
    expect(nothing.stderr).toMatch(/^There is no database at \S+lethe\.db\. Look at DATABASE_URL [^\n]+\n$/);
    expect(readdirSync(directory)).toEqual([]);
    writeFileSync(join(directory, 'lethe.db'), 'x');
    expect((await admin('keys:list')).stderr).toMatch(
      /^There is no key file \S+, or an empty one: set LETHE_MASTER_KEY to .*\.\n$/,
    );
    expect(readdirSync(directory)).toEqual(['lethe.db']);
    const file = await admin('ledger:import', '--in', join(directory, 'none'));
    expect(file).toMatchObject({ code: 1, stdout: '' });
    expect(file.stderr).toMatch(/^\S+none cannot be read \(ENOENT\)\.\n$/);
    expect((await admin('ledger:import', '--in', directory)).stderr).toBe(`${directory} is not a file.\n`);
  });

  it.each([
    ['keys:rotate'],
    ['keys:sign-rotate'],
    ['bots:suspend', '--bot', '1'],
    ['db:revert'],
    ['ledger:import', '--in', __filename],
  ])('makes no database where there is none: %s', async (...args) => {
    const empty = join(directory, 'empty');
    const run = await adminHere(args, { DATABASE_URL: `sqlite:${join(empty, 'lethe.db')}` });
    expect([run.code, run.stderr]).toEqual([
      1,
      expect.stringMatching(/^There is no database at \S+\. [^\n]+\n$/),
    ]);
    expect(existsSync(empty)).toBe(false);
  });

  it('is listed in docs/reference.md with every command', () => {
    const reference = readFileSync(join(__dirname, '../../docs/reference.md'), 'utf8');
    const listed = [...reference.matchAll(/^\| `([a-z:-]+)[^`]*` +\|/gm)].map(([, name]) => name);
    expect(listed).toEqual(expect.arrayContaining(COMMANDS.map(({ name }) => name)));
  });
});

describe('the progress of a command', () => {
  function shown(isTTY: boolean): string {
    let written = '';
    const progress = new Progress({
      isTTY,
      write: (text: string) => ((written += text), true),
    } as unknown as ConstructorParameters<typeof Progress>[0]);
    for (const done of [0, 5, 10]) progress.step({ what: 'moving bots', done, total: 10, unit: 'rows' });
    progress.show('audit: 3 events');
    progress.end();
    return written;
  }

  it('is one line for each finished step without a terminal', () => {
    expect(shown(false)).toBe('moving bots: 10 rows\naudit: 3 events\n');
  });

  /** A step of 1,000 rows at each of these numbers of them, a second apart each, of which an earlier run has done 200. */
  function estimated(terminal: object, counts: readonly number[]): string[] {
    let [nowMs, written] = [0, ''];
    const out = { ...terminal, write: (text: string) => ((written += text), true) };
    const progress = new Progress(out as unknown as ConstructorParameters<typeof Progress>[0], () => nowMs);
    for (const done of [200, ...counts]) {
      const part = { name: 'part 1 of 3', done, total: 1000 };
      progress.step({ what: 'moving bots', done, total: 1000, unit: 'rows', part });
      nowMs += 1000;
    }
    return written.split(/\n|\r/);
  }
  const steadily = Array.from({ length: 25 }, (_, n) => 210 + 10 * n);

  it('says every ten seconds how long the part still takes, by what this run has done', () => {
    expect(estimated({}, steadily)).toEqual([
      'part 1 of 3: 300 of 1000 rows, 30 %, about 2 min left of this part',
      'part 1 of 3: 400 of 1000 rows, 40 %, about 1 min left of this part',
      '',
    ]);
  });

  it('says nothing of the time before five seconds and a hundredth of the rows: it would be a guess', () => {
    expect(estimated({}, [...Array.from({ length: 10 }, () => 207), 207])).toEqual([
      'part 1 of 3: 207 of 1000 rows, 20 %',
      '',
    ]);
    const drawn = estimated({ isTTY: true }, steadily);
    const from = drawn.findIndex((line) => line.includes('about'));
    expect(drawn.slice(0, from).join()).toContain('240 of 1000 rows');
    expect(drawn[from]).toMatch(/250 of 1000 rows {2}10\/s, about 2 min left of this part$/);
  });

  it('fits into the terminal, so that it can be drawn again', () => {
    const lines = estimated({ isTTY: true, columns: 60 }, steadily);
    for (const line of lines) expect(line.replace('\u001b[2K', '').length).toBeLessThan(60);
  });

  it.each([
    [0.2, 'about 5 s'],
    [41, 'about 45 s'],
    [56, 'about 1 min'],
    [61, 'about 2 min'],
    [5400, 'about 1.5 h'],
  ])('writes %d seconds as %s', (seconds, words) => {
    expect(aboutOf(seconds)).toBe(words);
  });

  it('is a bar on a terminal, which is left finished', () => {
    const lines = shown(true).split('\n');
    expect(lines[0]).toMatch(/░{24} +0 %  0 of 10 rows/);
    expect(lines[0]).toMatch(/█{24} 100 %  10 of 10 rows  \d+\/s$/);
    expect(lines[1]).toContain('audit: 3 events');
  });
});
