import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMANDS } from '../apps/admin/src/commands';
import { runScript, type ScriptRun } from './support/child-script';
import { useBuild } from './support/build';

jest.setTimeout(120_000);

const build = useBuild();
let directory: string;
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'lethe-test-'))));
afterAll(() => rmSync(directory, { recursive: true }));

const admin = (...args: string[]): Promise<ScriptRun> =>
  runScript(build, 'admin', args, { DATABASE_URL: `sqlite:${join(directory, 'lethe.db')}` });

describe('npm run admin', () => {
  it('tells of every command, and by --help of its flags, on standard output', async () => {
    const run = await admin('--help');
    expect(run).toMatchObject({ code: 0, stderr: '' });
    for (const { name } of COMMANDS) expect(run.stdout).toContain(`  ${name} `);
    expect(await admin('restore', '--help')).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('--from DIR'),
    });
  });

  const unknown: readonly [readonly string[], string][] = [
    [['keys:eat'], 'There is no command keys:eat.'],
    [['keys:list', '--all'], "Unknown option '--all'."],
    [['keys:list', 'all'], "Unexpected argument 'all'."],
    [['backup'], '--to is missing.'],
    [['backup', '--to'], "Option '--to <value>' argument missing."],
    [['restore', '--from', 'x', '--only', 'half'], '--only must be data or keys.'],
  ];
  it.each(unknown)('ends with 2 and a readable line for %j', async (args, message) => {
    const run = await admin(...args);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr.split('\n')[0]).toContain(message);
  });

  it('ends with 1 and one readable line where the settings cannot be used, or a file is not there', async () => {
    const settings = await runScript(build, 'admin', ['keys:list'], { DATABASE_URL: 'mysql://x' });
    expect(settings).toMatchObject({ code: 1, stdout: '' });
    expect(settings.stderr).toContain('DATABASE_URL must be sqlite:PATH');
    const nothing = await admin('keys:list');
    expect(nothing).toMatchObject({ code: 1, stdout: '' });
    expect(nothing.stderr).toMatch(/^There is no database at \S+lethe\.db\.\n$/);
    expect(readdirSync(directory)).toEqual([]);
    writeFileSync(join(directory, 'lethe.db'), 'x');
    expect((await admin('keys:list')).stderr).toMatch(
      /^There is no key file \S+: set LETHE_MASTER_KEY as .*\.\n$/,
    );
    expect(readdirSync(directory)).toEqual(['lethe.db']);
    const file = await admin('ledger:import', '--in', join(directory, 'none'));
    expect(file).toMatchObject({ code: 1, stdout: '' });
    expect(file.stderr).toMatch(/^\S+none cannot be read \(ENOENT\)\.\n$/);
  });

  it('is listed in docs/reference.md with every command', () => {
    const reference = readFileSync(join(__dirname, '../docs/reference.md'), 'utf8');
    const listed = [...reference.matchAll(/^\| `([a-z:-]+)[^`]*` +\|/gm)].map(([, name]) => name);
    expect(listed).toEqual(expect.arrayContaining(COMMANDS.map(({ name }) => name)));
  });
});
