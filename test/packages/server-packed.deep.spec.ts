import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { builtConsole } from '../support/built-console';
import { useCollector } from '../support/collector';
import { giveCompiledDriver } from '../support/packed';
import { canRun } from '../support/programs';
import { until } from '../support/until';

// The package as npm publishes it, which npm installs in an empty folder.

const ROOT = join(__dirname, '../..');
const build = useBuild();
const place = mkdtempSync(join(tmpdir(), 'lethe-server-'));
const [made, folder] = [join(place, 'made'), join(place, 'folder')];
const LAUNCHER = join(folder, 'node_modules/@lethe/server/dist/lethe-server.cjs');
afterAll(() => rmSync(place, { recursive: true }));

beforeAll(async () => {
  mkdirSync(folder);
  const ofBuild = [build.directory, await builtConsole()];
  run(process.execPath, [join(ROOT, 'scripts/package.server.mjs'), made, ...ofBuild]);
  install();
});

function install(): void {
  run('npm', ['pack', '--silent', '--pack-destination', place], made);
  writeFileSync(join(folder, 'package.json'), '{}');
  run('npm', ['install', '--prefer-offline', '--ignore-scripts', join(place, 'lethe-server-0.1.0.tgz')]);
  giveCompiledDriver(folder);
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}

const manifest = (): Manifest => JSON.parse(readFileSync(join(made, 'package.json'), 'utf8')) as Manifest;

function run(program: string, args: string[], cwd = folder): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

const ENVIRONMENT = { PATH: process.env['PATH'], PORT: '0' };
/** No export ends by itself, because this process runs a command meanwhile, and none holds up the end. */
const PATIENTLY = {
  ...{ OTEL_BSP_EXPORT_TIMEOUT: '600000', OTEL_EXPORTER_OTLP_TIMEOUT: '600000' },
  OTEL_BSP_SCHEDULE_DELAY: '20',
};

/** Runs `lethe-server` in the folder to its end. */
function server(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(LAUNCHER, args, {
    ...{ cwd: folder, encoding: 'utf8', env: ENVIRONMENT },
  });
  return { code: status, stdout, stderr };
}

describe('@lethe/server', () => {
  const collector = useCollector();

  it('holds the service in one file, its thread, the guides, and no path of the build', () => {
    const files = readdirSync(join(made, 'dist'));
    expect(files.sort()).toEqual(['checkpoint.thread.js', 'console', 'lethe-server.cjs']);
    const texts = files.filter((file) => file !== 'console');
    for (const file of texts) expect(readFileSync(join(made, 'dist', file), 'latin1')).not.toContain(ROOT);
    const docs = join(folder, 'node_modules/@lethe/server/docs');
    expect(readdirSync(docs)).toContain('operate.md');
    expect(readdirSync(join(docs, 'de'))).toContain('datenschutz.md');
    const operations = ['alerts.yaml', 'offsite-backup.sh', 'vault-master-key.mjs', 'kubernetes'];
    expect(readdirSync(join(docs, 'operations'))).toEqual(expect.arrayContaining(operations));
  });

  it('pins what it installs, and nothing of it reports the installation', () => {
    const installed = join(folder, 'node_modules/@lethe/server/npm-shrinkwrap.json');
    const { packages } = JSON.parse(readFileSync(installed, 'utf8')) as {
      packages: Readonly<Record<string, { readonly version: string; readonly integrity?: string }>>;
    };
    for (const [name, version] of Object.entries(manifest().dependencies))
      expect([name, `npm:better-sqlite3@${packages[`node_modules/${name}`]?.version}`]).toEqual([
        name,
        version.replace(/^(?!npm:)/, 'npm:better-sqlite3@'),
      ]);
    expect(Object.keys(packages).filter((path) => path.includes('scarf'))).toEqual([]);
    expect(run('find', ['.', '-path', '*scarf*'])).toBe('');
  });

  it('answers its version and its commands, and refuses others with code 2', () => {
    expect(server('--version')).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' });
    expect(server().stdout).toContain('lethe-server <command>');
    expect(server('begin')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no command begin') as string,
    });
    expect(server('begin').stderr).not.toContain('Did you mean');
    // Members of every object.
    for (const name of ['constructor', 'toString', '__proto__'])
      expect(server(name)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`no command ${name}.`) as string,
      });
    expect(server('bots:list', '--json')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'no command bots:list. Did you mean `node_modules/.bin/lethe-server admin bots:list`?',
      ) as string,
    });
    // A service that is started with a mistake would listen on the port of its settings.
    for (const name of ['unit', 'start', 'worker'])
      expect(server(name, '--port', '4000')).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(`${name} takes no argument.`) as string,
      });
    expect(server('migrate', '--port', '4000')).toMatchObject({ code: 2, stdout: '' });
  });

  it('is set up, runs, is administered, sends traces, and ends in order', async () => {
    const begun = server('init');
    expect(begun).toMatchObject({ code: 0, stderr: expect.stringContaining('LETHE_MASTER_KEY') as string });
    expect(begun.stderr).toContain('OPERATOR_TOKEN of .env signs you in');
    expect(begun.stderr).toContain('`node_modules/.bin/lethe-server admin backup --to ');
    expect(begun.stderr).toContain('PUBLIC_URL');
    expect(readFileSync(join(folder, '.env'), 'utf8')).toMatch(/^# PUBLIC_URL=https:/m);
    expect(readFileSync(join(folder, '.env'), 'utf8')).toMatch(/^OPERATOR_TOKEN=[\w-]{43}$/m);
    const settings = readFileSync(join(folder, '.env'), 'utf8');
    expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600);
    expect(server('init')).toMatchObject({ code: 1, stdout: '' });
    expect(readFileSync(join(folder, '.env'), 'utf8')).toBe(settings);
    expect(server('migrate').code).toBe(0);
    const guide = 'node_modules/@lethe/server/docs/operate.md';
    expect(existsSync(join(folder, guide))).toBe(true);
    const elsewhere = spawnSync(LAUNCHER, ['admin', 'backup', '--to', 'x'], {
      ...{ cwd: folder, encoding: 'utf8', env: { ...ENVIRONMENT, DATABASE_URL: 'postgres://127.0.0.1/x' } },
    });
    expect(elsewhere.stderr).toContain(`; ${guide} describes`);
    expect(server('worker')).toMatchObject({ code: 1, stderr: expect.stringContaining('SQLite') as string });

    const child = spawn(LAUNCHER, ['start'], {
      cwd: folder,
      env: { ...ENVIRONMENT, OTEL_EXPORTER_OTLP_ENDPOINT: collector.the.url, ...PATIENTLY },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    // At its exit not all that it has written is read.
    const ended = once(child, 'close');
    try {
      const url = await new Promise<string>((resolve, reject) => {
        let said = '';
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          said += text;
          const found = /Lethe listens on (\S+)/.exec(said)?.[1];
          if (found !== undefined) resolve(found);
        });
        void ended.then(() => reject(new Error(said)));
      });
      const bot = await Bot.register(url);
      // Before a command: the collector, which is in this process, answers nothing meanwhile.
      await until(() => collector.the.spans.some(({ name }) => name === 'POST /api/v1/bots/register'));
      expect(server('admin', 'bots:list')).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(bot.platformBotId) as string,
      });
      const [, listed = ''] = /^# http:\/\/[^/]+(\/docs\/.+)$/m.exec(settings) ?? [];
      for (const path of ['/docs', '/docs/guides/', '/docs/guides/operate', listed])
        expect([path, (await fetch(url + path)).status]).toEqual([path, 200]);
    } finally {
      child.kill('SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
    expect(collector.the.resource).toMatchObject({ 'service.version': '0.1.0' });
    expect(server('admin', 'audit:verify').code).toBe(0);
    const { stdout, stderr } = server('verify');
    expect(stdout + stderr).toContain('lethe-verify certificate');
  });

  (canRun('systemd-analyze') ? it : it.skip)('prints a systemd unit that systemd accepts', () => {
    const unit = join(place, 'lethe.service');
    writeFileSync(unit, server('unit').stdout);
    expect(readFileSync(unit, 'utf8')).toContain(`WorkingDirectory=${folder}\n`);
    expect(run('systemd-analyze', ['verify', unit])).toBe('');
  });
});
