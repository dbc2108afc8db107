import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

// scripts/admin.mjs and scripts/built.mjs in a made-up project: `npm run admin` and its aliases, `npm start` and the like.

const ROOT = join(__dirname, '../..');
const MAIN = 'dist/apps/admin/src/main.js';
/** A build whose command line prints its arguments. */
const TELLS = `process.stdout.write(JSON.stringify(process.argv.slice(2)))`;

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  write('package.json', JSON.stringify({ scripts: { build: 'node build.cjs' } }));
  write(
    'build.cjs',
    `const fs = require('node:fs'); fs.cpSync('made', 'dist', { recursive: true }); fs.writeFileSync('was-built', '')`,
  );
  write(MAIN.replace('dist', 'made'), TELLS);
  mkdirSync(join(project, 'scripts'));
  for (const script of ['admin.mjs', 'built.mjs', 'sources.mjs'])
    copyFileSync(join(ROOT, 'scripts', script), join(project, 'scripts', script));
});
afterEach(() => rmSync(project, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), text);
}

const run = (...args: string[]) => runScript('scripts/admin.mjs', ...args);

function runScript(script: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd: project,
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr, wasBuilt: existsSync(join(project, 'was-built')) };
}

const built = (): void => write(MAIN, TELLS);

describe('npm run admin', () => {
  it('runs the build that is there, without the tools to build one', () => {
    built();
    expect(run('keys:list', '--x')).toStrictEqual({
      code: 0,
      stdout: '["keys:list","--x"]',
      stderr: '',
      wasBuilt: false,
    });
  });

  it('builds once where there is no dist', () => {
    mkdirSync(join(project, 'node_modules/@nestjs/cli'), { recursive: true });
    expect(run('keys:list')).toMatchObject({ code: 0, stdout: '["keys:list"]', wasBuilt: true });
  });

  it('says what is missing without dist and build tools', () => {
    const { code, stderr, wasBuilt } = run('keys:list');
    expect({ code, wasBuilt }).toStrictEqual({ code: 1, wasBuilt: false });
    expect(stderr).toBe(
      'There is no build in dist, and the build tools are not installed. Run `npm ci` and `npm run build`.\n',
    );
  });

  it('leaves a dist alone that a service may run from, although it is not complete', () => {
    mkdirSync(join(project, 'node_modules/@nestjs/cli'), { recursive: true });
    write('dist/apps/api/src/main.js', 'the service');
    const { code, stderr, wasBuilt } = run('keys:list');
    expect({ code, wasBuilt }).toStrictEqual({ code: 1, wasBuilt: false });
    expect(stderr).toContain('The build in dist is not complete. Run `npm run build`');
    expect(readFileSync(join(project, 'dist/apps/api/src/main.js'), 'utf8')).toBe('the service');
  });

  describe('with sources that are newer than the build', () => {
    beforeEach(() => {
      built();
      utimesSync(join(project, MAIN), 1_000, 1_000);
      write('libs/thing/src/thing.ts', '');
    });

    it('uses the build as it is, and says so', () => {
      const { code, stdout, stderr, wasBuilt } = run('backup');
      expect({ code, stdout, wasBuilt }).toStrictEqual({ code: 0, stdout: '["backup"]', wasBuilt: false });
      expect(stderr).toContain('older than libs/thing/src/thing.ts and is used as it is');
    });

    it('changes no schema with it', () => {
      const { code, stdout, stderr } = run('db:migrate');
      expect({ code, stdout }).toStrictEqual({ code: 1, stdout: '' });
      expect(stderr).toContain('Stop the service and run `npm run build` first.');
    });
  });
});

describe('npm start and the other commands that run from dist', () => {
  const start = () => runScript('scripts/built.mjs');
  const BUILT = ['api', 'worker', 'admin', 'server'].map((app) => `dist/apps/${app}/src/main.js`);
  /** A whole build, which is older than the sources that follow. */
  beforeEach(() => {
    for (const path of [...BUILT, 'dist/console/index.html']) {
      write(path, '');
      utimesSync(join(project, path), 2_000, 2_000);
    }
    write('libs/thing/src/thing.ts', '');
    utimesSync(join(project, 'libs/thing/src/thing.ts'), 1_000, 1_000);
  });

  it('build nothing where no source is newer, also after other packages and tests have changed', () => {
    write('packages/discord/dist/types/about.d.ts', '');
    write('libs/thing/src/thing.spec.ts', '');
    expect(start()).toMatchObject({ code: 0, stderr: '', wasBuilt: false });
  });

  it.each([
    'libs/thing/src/other.ts',
    'apps/console/src/page.tsx',
    'apps/console/style.css',
    'nest-cli.json',
  ])('say that they build, and do it, where %s is newer', (source) => {
    write(source, '');
    const { code, stderr, wasBuilt } = start();
    expect({ code, wasBuilt }).toStrictEqual({ code: 0, wasBuilt: true });
    expect(stderr).toContain(`The build in dist is older than ${source}: building`);
  });

  it('build where a part of the build is missing, and end with its failure', () => {
    rmSync(join(project, 'dist/console'), { recursive: true });
    expect(start()).toMatchObject({ code: 0, wasBuilt: true });
    rmSync(join(project, 'dist'), { recursive: true });
    write('build.cjs', 'process.exit(3)');
    expect(start()).toMatchObject({ code: 1, stderr: expect.stringContaining('dist is missing') as string });
  });
});

describe('package.json', () => {
  const { bin, scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
    'bin' | 'scripts',
    Record<string, string>
  >;

  it('has the commands as programs that Node.js starts', () => {
    expect(bin['lethe-admin']).toBe(MAIN);
    for (const path of Object.values(bin)) {
      const source = path.replace(/^dist\//, '').replace(/\.js$/, '.ts');
      expect(readFileSync(join(ROOT, source), 'utf8')).toMatch(/^#!\/usr\/bin\/env (-S )?node\b/);
    }
  });

  it.each([
    ['admin', ''],
    ['migration:run', ' db:migrate'],
    ['migration:revert', ' db:revert'],
    ['migrate:engine', ' db:move'],
  ])('runs %s by the launcher, which needs no development dependency', (name, command) => {
    expect(scripts[name]).toBe(`exec node scripts/admin.mjs${command}`);
  });
});
