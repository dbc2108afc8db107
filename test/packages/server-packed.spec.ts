import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../../package.json';
import { Bot } from '../support/bot';
import { NEWEST, RELEASES, type ServerFolder, usePackedServer } from '../support/packed-server';
import { subject } from '../support/snowflakes';

// The package as npm publishes it, installed into empty folders on each release of Node.js, and used there. On Node.js 20
// the driver of SQLite is compiled.

const ROOT = join(__dirname, '../..');
const INSTALL_MAX_MS = 400_000;
const packed = usePackedServer();
const { place, made, tarball } = packed;

describe('the package @lethe/server', () => {
  it('holds the service in one file, its threads, the files of the documentation page, and no path of the build', () => {
    const files = readdirSync(join(made, 'dist'));
    expect(files.sort()).toEqual([
      'checkpoint.thread.js',
      'console',
      'hashing.thread.js',
      'lethe-server.cjs',
    ]);
    const texts = files.filter((file) => file !== 'console');
    for (const file of texts) expect(readFileSync(join(made, 'dist', file), 'latin1')).not.toContain(ROOT);
    expect(readdirSync(join(made, 'node_modules/swagger-ui-dist'))).toContain('swagger-ui-bundle.js');
  });

  it('pins what it installs, and nothing of it reports the installation', () => {
    const read = (file: string): string => readFileSync(join(made, file), 'utf8');
    const { packages } = JSON.parse(read('npm-shrinkwrap.json')) as {
      packages: Readonly<Record<string, { readonly version: string; readonly integrity?: string }>>;
    };
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
    for (const [name, wanted] of Object.entries(dependencies))
      expect([name, `npm:better-sqlite3@${packages[`node_modules/${name}`]?.version}`]).toEqual([
        name,
        wanted.replace(/^(?!npm:)/, 'npm:better-sqlite3@'),
      ]);
    expect(Object.keys(packages).filter((path) => path.includes('scarf'))).toEqual([]);
  });
});

describe.each(RELEASES.map((major) => [major] as const))('on Node.js %i', (major) => {
  let server: ServerFolder;
  beforeAll(() => {
    server = packed.folder(`node-${major}`, major);
    server.install(tarball);
  }, INSTALL_MAX_MS);

  it('runs on that release, answers its version and commands, and refuses others with code 2', () => {
    expect(server.output('node', ['--version'])).toMatch(new RegExp(`^v${major}\\.`));
    expect(server.server('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    expect(server.server().stdout).toContain('lethe-server <command>');
    const refused = { code: 2, stdout: '' };
    expect(server.server('begin')).toMatchObject(refused);
    expect(server.server('unit', 'x')).toMatchObject(refused);
    expect(server.server('admin', 'begin')).toMatchObject(refused);
    expect(server.server('start', '--port', '4000')).toMatchObject(refused);
    expect(server.server('verify', '--key', 'keys.json')).toMatchObject(refused);
    expect(readdirSync(join(server.folder, 'node_modules')).filter((name) => /scarf/.test(name))).toEqual([]);
  });

  it.each(['init', 'start', 'worker', 'migrate', 'admin', 'verify', 'unit'])(
    'shows with --help how %s is used, and does nothing',
    (command) => {
      const usage = expect.stringMatching(/^ {2}(lethe-verify certificate|start|--json|status) /m) as string;
      expect(server.server(command, '--help')).toMatchObject({ code: 0, stdout: usage, stderr: '' });
    },
  );

  it('is set up with keys of its own, which a second init keeps', () => {
    expect(server.server('init')).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/Back up[^]*LETHE_MASTER_KEY[^]*backup --to[^]*ledger:export/) as string,
      stdout: expect.stringContaining('[Service]') as string,
    });
    const path = join(server.folder, '.env');
    const settings = readFileSync(path, 'utf8');
    expect(settings).toMatch(/^LETHE_MASTER_KEY=[\w+/]{43}=$/m);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(server.server('init')).toMatchObject({ code: 1, stdout: '' });
    expect(readFileSync(path, 'utf8')).toBe(settings);
  });

  it('migrates, serves bots and its pages, is administered, and ends in order', async () => {
    expect(server.server('migrate', '--json')).toMatchObject({ code: 0, stderr: '' });
    const noWorker = { code: 1, stderr: expect.stringContaining('SQLite') as string };
    expect(server.server('worker')).toMatchObject(noWorker);
    const started = await server.start('start');
    try {
      const { url } = started;
      const bot = await Bot.register(url);
      const who = subject();
      await bot.hasCategory('profile');
      await bot.hasConsent(who);
      expect(await bot.post('/gdpr/forget-user', who)).toMatchObject({ status: 200 });
      for (const page of ['/', '/docs', '/docs/swagger-ui-bundle.js', '/docs-json', '/console', '/verify'])
        expect([page, (await fetch(url + page, { headers: { accept: 'text/html' } })).status]).toEqual([
          page,
          200,
        ]);
      const [script = ''] = /[\w./-]+\.js(?=")/.exec(await (await fetch(`${url}/console`)).text()) ?? [];
      expect((await fetch(new URL(script, `${url}/console`))).status).toBe(200);
      const status = server.server('admin', 'status', '--json');
      expect(JSON.parse(status.stdout)).toMatchObject({
        ...{ version, node: expect.stringMatching(`^v${major}\\.`) as string, bots: { total: 1 } },
        master_key: { from: 'environment' },
      });
      expect(server.server('admin', 'bots:list').stdout).toContain(bot.platformBotId);
    } finally {
      expect(await started.stop()).toBe(0);
    }
    expect(server.server('admin', 'audit:verify')).toMatchObject({ code: 0 });
    expect(server.server('admin', 'backup', '--to', 'backup', '--json')).toMatchObject({
      code: 0,
      stderr: '',
    });
    const { stdout } = server.server('admin', 'status', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ last_backup: { data: expect.any(String) as string } });
  });

  it('verifies a certificate without the service', async () => {
    const started = await server.start('start');
    try {
      const bot = await Bot.register(started.url);
      const who = subject();
      const erased = await bot.post<Record<string, string>>('/gdpr/forget-user', who);
      const { request_id: request, certificate_salt: salt = '' } = erased.data;
      const certificate = await bot.get(`/gdpr/forget-status/${request}/certificate`);
      server.writeFile('certificate', [JSON.stringify(certificate.data)]);
      const keys = await fetch(`${started.url}/.well-known/lethe-keys.json`);
      server.writeFile('keys', [await keys.text()]);
      const named = (user: string): string[] =>
        ['--salt', salt, '--bot', bot.id, '--user', user, '--guild', who.guild_id].flat();
      const verify = (user: string) =>
        server.server('verify', 'certificate', 'certificate', '--keys', 'keys', '--json', ...named(user));
      const [held, other] = [verify(who.user_id), verify(subject().user_id)];
      expect(held).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(held.stdout)).toMatchObject({ bot_id: bot.id });
      expect(other).toMatchObject({ code: 1, stdout: '' });
      expect(other.stderr).toContain('{"error":{"message":"it does not hold');
    } finally {
      await started.stop();
    }
  });
});

describe('without a folder of its own', () => {
  it('is set up and runs by npx, which gives no systemd unit', async () => {
    const server = packed.folder('npx', NEWEST);
    const npx = (...args: string[]) =>
      server.run('npx', ['--yes', `--package=${tarball}`, 'lethe-server', ...args]);
    expect(npx('--version')).toMatchObject({ code: 0, stdout: `${version}\n` });
    expect(npx('init')).toMatchObject({
      ...{ code: 0, stdout: '' },
      stderr: expect.stringContaining('npm install @lethe/server') as string,
    });
    expect(npx('unit')).toMatchObject({ code: 1, stdout: '' });
    expect(npx('migrate')).toMatchObject({ code: 0 });
    expect(npx('admin', '--help').stdout).toContain('lethe-server admin <command>');
  });

  it('is installed for all users by npm install -g', () => {
    const server = packed.folder('global', NEWEST);
    const prefix = { npm_config_prefix: join(place, 'prefix') };
    server.output('npm', ['install', '-g', tarball], prefix);
    const launcher = join(place, 'prefix/bin/lethe-server');
    expect(server.run(launcher, ['init']).stdout).toContain(
      join(place, 'prefix/lib/node_modules/@lethe/server/'),
    );
    expect(server.run(launcher, ['migrate'])).toMatchObject({ code: 0 });
  });
});

describe('a systemd unit', () => {
  const hasSystemd = spawnSync('systemd-analyze', ['--version']).error === undefined;
  const itWithSystemd = hasSystemd || process.env['CI'] !== undefined ? it : it.skip;

  itWithSystemd('is accepted by systemd, also for a folder whose name has signs of its own', () => {
    const server = packed.folder('a folder, 100% "new"', NEWEST);
    // make cannot compile the driver of SQLite in such a folder, and the unit needs none.
    server.install(tarball, '--ignore-scripts');
    const { stdout } = server.server('unit');
    const unit = join(place, 'lethe.service');
    writeFileSync(unit, stdout);
    expect(stdout).toContain(`WorkingDirectory=${server.folder.replace('%', '%%')}\n`);
    expect(spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })).toMatchObject({
      ...{ status: 0, stdout: '', stderr: '' },
    });
  });
});
