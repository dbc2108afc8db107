import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { itAtFullDepth, itInPart } from '../support/depth';

// `npm run new:module`, in a copy of the project: what it writes works, and no test of the project fails for it.

const ROOT = join(__dirname, '../..');
const COPY = mkdtempSync(join(tmpdir(), 'lethe-new-module-'));

/** What is no source of the project. */
const LEFT = ['.git', 'coverage', 'data', 'dist', 'node_modules', 'release'];

/** The suites that see every table, every migration, every library, every route and every type of event. */
const SUITES = [
  'test/engines/subject-data',
  'test/engines/migrations-',
  ...['architecture', 'docs', 'openapi', 'postman'].map((name) => `test/repository/${name}`),
  'test/packages/sdk-operations',
  ...['authentication', 'idempotency', 'recorded-answers', 'scopes', 'stats.engines'].map(
    (name) => `test/contract/${name}`,
  ),
];

beforeAll(() => {
  for (const name of readdirSync(ROOT))
    if (!LEFT.includes(name)) cpSync(join(ROOT, name), join(COPY, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(COPY, 'node_modules'));
});
afterAll(() => rmSync(COPY, { recursive: true }));

function run(command: string, ...args: string[]): { status: number | null; output: string } {
  const env = { ...process.env };
  for (const name of ['JEST_WORKER_ID', 'TEST_DEPTH', 'NODE_OPTIONS']) delete env[name];
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    cwd: COPY,
    encoding: 'utf8',
    env,
  });
  return { status, output: stdout + stderr };
}

const newModule = (...args: string[]) => run('scripts/new-module.mjs', ...args);
const tool = (path: string, ...args: string[]) => run(join('node_modules', path), ...args);

describe('npm run new:module', () => {
  it('refuses a name that is no plural, is taken, or leaves no room for its event type, and writes nothing', () => {
    const before = readdirSync(join(COPY, 'libs'));
    const refused: readonly (readonly [string, ...string[]])[] = [
      ['one word in plural', 'sheep'],
      ['one word in plural', 'birthday-wishes'],
      ['one word in plural', '../notices'],
      ['libs/webhooks already', 'webhooks'],
      ['libs/reports already', 'reports'],
      ['longer than 32 characters', 'acknowledgements', '--prefix', 'internationalteam'],
    ];
    for (const [why, ...args] of refused) {
      const { status, output } = newModule(...args);
      expect([status, output]).toEqual([2, expect.stringContaining(why)]);
    }
    expect(readdirSync(join(COPY, 'libs'))).toEqual(before);
  });

  // The tests below need what it writes.
  itInPart('writes a module and registers it everywhere; a second one too', () => {
    expect(newModule('notices')).toMatchObject({ status: 0 });
    expect(newModule('wishes', '--one', 'wish', '--prefix', 'team')).toMatchObject({ status: 0 });
    expect(newModule('notices')).toMatchObject({ status: 2 });
    const modules = readFileSync(join(COPY, 'modules.ts'), 'utf8');
    expect(modules).toMatch(/NoticesModule,\s+WishesModule,?\s*\]/);
    expect(existsSync(join(COPY, 'libs/wishes/src/wish.entity.ts'))).toBe(true);
    const words = ['reminder', 'Reminder', 'REMINDER'];
    for (const name of readdirSync(join(COPY, 'libs/wishes/src'), { recursive: true }) as string[]) {
      if (!name.endsWith('.ts')) continue;
      const text = readFileSync(join(COPY, 'libs/wishes/src', name), 'utf8');
      expect([name, words.filter((word) => text.includes(word))]).toEqual([name, []]);
    }
  });

  itAtFullDepth('leaves the tests of the project, and those that it writes, green', () => {
    // npm run openapi
    for (const script of ['built', 'openapi'])
      expect(run(`scripts/${script}.mjs`)).toMatchObject({ status: 0 });
    const suites = [...SUITES, 'libs/notices', 'libs/wishes'];
    const { status, output } = tool(
      'jest/bin/jest.js',
      ...suites,
      '--runInBand',
      '--selectProjects',
      'sqlite',
    );
    expect([status, output]).toEqual([
      0,
      expect.stringMatching(/^Test Suites: (\d+) passed, \1 total$/m) as unknown,
    ]);
    const passed = output.split('\n').filter((line) => line.startsWith('PASS'));
    expect(suites.filter((suite) => !passed.some((line) => line.includes(suite)))).toEqual([]);
  });

  itAtFullDepth('writes what the compiler and the formatter accept', () => {
    // With all that it imports, and not every test of the project: that takes most of a minute.
    const own = {
      extends: './tsconfig.json',
      include: ['libs/notices', 'libs/wishes', 'modules.ts', 'libs/**/*.d.ts'],
    };
    writeFileSync(join(COPY, 'tsconfig.written.json'), JSON.stringify(own));
    expect(tool('typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.written.json')).toEqual({
      status: 0,
      output: '',
    });
    const written = ['libs/notices', 'libs/wishes', 'modules.ts', 'tsconfig.json', 'nest-cli.json'];
    expect(tool('prettier/bin/prettier.cjs', '--check', ...written)).toMatchObject({ status: 0 });
  });
});
