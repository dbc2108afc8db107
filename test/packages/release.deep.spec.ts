import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { useBuild } from '../support/build';
import { builtConsole } from '../support/built-console';
import { PYTHON } from '../support/discord-py-seat';
import { blocksOf, endGroup, expectWhatIsWritten, fiveMinutes, README } from '../support/five-minutes';
import { freePort } from '../support/free-port';
import { NpmRegistry } from '../support/npm-registry';
import { giveCompiledDriver } from '../support/packed';
import { canRun } from '../support/programs';
import { snowflake } from '../support/snowflakes';
import { type ScriptRun, type Spawned, spawned } from '../support/spawned';
import { until } from '../support/until';

// `npm run release` on a checkout of the present sources, its publication in a registry of the test, and each quickstart by the
// published names in an empty folder.

const ROOT = join(__dirname, '../..');
const QUICKSTART = readFileSync(join(ROOT, 'docs/quickstart.md'), 'utf8');
const VERSION = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
/** What a release is made of, beside the build. */
const SOURCES = [
  ...['.env.example', '.gitignore', 'CHANGELOG.md', 'LICENSE', 'package.json', 'package-lock.json'],
  ...['apps/server/README.md', 'clients', 'docs', 'examples', 'packages', 'scripts', 'tsconfig.json'],
];
const NOT_SOURCES = ['node_modules', 'dist', '__pycache__'];
const REPOSITORY = 'https://github.com/example/lethe';

let place: string;
let checkout: string;
let release: string;

const GIT = ['-c', 'user.name=test', '-c', 'user.email=test@lethe.test', '-c', 'commit.gpgsign=false'];

async function git(...args: string[]): Promise<string> {
  const { code, output } = await spawned('git', [...GIT, ...args], { cwd: checkout }).ended;
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${output}`);
  return output.trim();
}

afterAll(() => rmSync(place, { recursive: true }));
beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'lethe-release-'));
  checkout = join(place, 'checkout');
  release = join(checkout, 'release');
  for (const path of SOURCES)
    cpSync(join(ROOT, path), join(checkout, path), {
      recursive: true,
      filter: (from) => !NOT_SOURCES.includes(basename(from)) && !from.endsWith('.tgz'),
    });
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  await git('init', '--quiet');
  // A link is no folder.
  appendFileSync(join(checkout, '.git/info/exclude'), 'node_modules\n');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'all');
});

/** `npm run release` with these options. */
function made(...options: string[]): Promise<ScriptRun> {
  const env = { ...process.env, GITHUB_REPOSITORY: undefined, GITHUB_SERVER_URL: undefined };
  return spawned(process.execPath, ['scripts/release.mjs', ...options], { cwd: checkout, env }).ended;
}

function change(file: string, from: string | RegExp, to: string): void {
  const path = join(checkout, file);
  const text = readFileSync(path, 'utf8');
  const changed = text.replace(from, to);
  if (changed === text) throw new Error(`${file} has no ${from}`);
  writeFileSync(path, changed);
}

/** A commit whose CHANGELOG.md has this day for the version. */
async function released(day: string): Promise<void> {
  const file = join(checkout, 'CHANGELOG.md');
  const heading = new RegExp(`^## ${VERSION} - .*$`, 'm');
  writeFileSync(file, readFileSync(file, 'utf8').replace(heading, `## ${VERSION} - ${day}`));
  await git('commit', '--quiet', '--all', '--allow-empty', '--message', day);
}

const isRun = canRun('git') && canRun(PYTHON, ['-c', 'import setuptools, wheel, pip']);

(isRun ? describe : describe.skip)('npm run release refuses, and makes no release of', () => {
  afterEach(async () => {
    await git('reset', '--quiet', '--hard', 'HEAD');
    await git('clean', '--quiet', '--force', '-d');
    for (const tag of (await git('tag')).split('\n').filter(Boolean)) await git('tag', '--delete', tag);
    expect(readdirSync(checkout).filter((name) => name.startsWith('release'))).toEqual([]);
  });

  async function isRefused(options: readonly string[], ...sentences: readonly string[]): Promise<void> {
    const { code, stdout, stderr } = await made(...options);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    for (const sentence of sentences) expect(stderr).toContain(sentence);
  }

  it('a checkout with changes that are not committed', async () => {
    writeFileSync(join(checkout, 'new.txt'), '');
    await isRefused(['--dry-run'], 'are not committed', '?? new.txt');
  });

  it.each([
    ['packages/cli/package.json', /"version": "[^"]+"/, '"version": "9.9.9"'],
    ['packages/discord/package.json', /"@lethe\/sdk": "[^"]+"/, '"@lethe/sdk": "9.9.9"'],
    ['clients/python/pyproject.toml', /^version = .*$/m, 'version = "9.9.9"'],
    ['docs/operations/compose.yaml', /image: lethe:\S+/, 'image: lethe:9.9.9'],
    ['examples/discord-js/package.json', /"@lethe\/sdk": "[^"]+"/, '"@lethe/sdk": "9.9.9"'],
  ])('another version in %s', async (file, from, to) => {
    change(file, from, to);
    await isRefused(['--dry-run'], `${file} says 9.9.9, and package.json ${VERSION}`);
  });

  it('a version without a section of CHANGELOG.md', async () => {
    change('CHANGELOG.md', `## ${VERSION} - `, '## 0.0.1 - ');
    await isRefused(['--dry-run'], `no section "## ${VERSION} - DATE"`);
  });

  it('a section without its day, but in a dry run, and a repository that it does not know', async () => {
    await released('unreleased');
    await isRefused([], 'Write the day', '--repository https://');
    await git('reset', '--quiet', '--hard', 'HEAD~1');
  });

  it('a tag of another version, and a version whose tag is of another commit', async () => {
    await git('tag', `v${VERSION}`);
    await git('commit', '--quiet', '--allow-empty', '--message', 'later');
    const sentences = ['The tag v9.9.9 is not that of', `The tag v${VERSION} exists`];
    await isRefused(['--dry-run', '--tag', 'v9.9.9'], ...sentences);
    await git('reset', '--quiet', '--hard', 'HEAD~1');
  });
});

(isRun && canRun('bash') && canRun('curl') ? describe : describe.skip)('a release', () => {
  const build = useBuild();
  let registry: NpmRegistry;
  let sums = '';
  let env: NodeJS.ProcessEnv;
  const running: Spawned[] = [];

  beforeAll(async () => {
    const { stdout } = await spawned('npm', ['config', 'get', 'cache', 'registry'], { cwd: homedir() }).ended;
    const [, cache = '', upstream = ''] = /^cache=(.*)\nregistry=(.*)$/m.exec(stdout) ?? [];
    registry = await new NpmRegistry(upstream).start();
    writeFileSync(join(place, 'npmrc'), registry.npmrc);
    env = environment(cache);
    expect(await makeIt()).toMatchObject({ code: 0 });
    sums = readFileSync(join(release, 'SHA256SUMS'), 'utf8');
  });
  afterAll(async () => {
    for (const { child, ended } of running) {
      endGroup(child);
      await ended;
    }
    registry.stop();
  });

  async function makeIt(): Promise<ScriptRun> {
    await released('2026-12-31');
    const builds = ['--build', build.directory, '--console', await builtConsole()];
    return made('--tag', `v${VERSION}`, '--repository', REPOSITORY, ...builds);
  }

  /** npm as a reader has it, with the registry of the test, a cache of its own programs, and the packages that are in the real one. */
  function environment(real: string): NodeJS.ProcessEnv {
    const cache = join(place, 'cache');
    mkdirSync(cache);
    mkdirSync(join(real, '_cacache'), { recursive: true });
    symlinkSync(join(real, '_cacache'), join(cache, '_cacache'));
    const given = {
      ...{ userconfig: join(place, 'npmrc'), cache, yes: 'true', replace_registry_host: 'never' },
      // The driver of SQLite is compiled by a script, for minutes.
      ...{ ignore_scripts: 'true', audit: 'false', fund: 'false', update_notifier: 'false' },
    };
    const own = Object.entries(given).map(([name, value]) => [`npm_config_${name}`, value]);
    return { PATH: process.env['PATH'], HOME: place, ...Object.fromEntries(own) } as NodeJS.ProcessEnv;
  }

  const publish = (...options: string[]): Promise<ScriptRun> =>
    spawned(process.execPath, ['scripts/release.publish.mjs', ...options], { cwd: checkout, env }).ended;

  /** A command of a page, in a folder. */
  const shell = (directory: string, command: string, given: Readonly<Record<string, string>> = {}): Spawned =>
    spawned('bash', ['-c', command], { cwd: directory, env: { ...env, ...given }, detached: true });

  function emptyFolder(name: string): string {
    const directory = join(place, name);
    mkdirSync(directory);
    return directory;
  }

  async function wrote({ written, child }: Spawned, text: string): Promise<void> {
    await until(() => written.output.includes(text) || child.exitCode !== null);
    if (!written.output.includes(text)) throw new Error(`it ended without ${text}: ${written.output}`);
  }

  it('has the packages, the bill of materials, the notes, and the checksum of each', async () => {
    const names = sums
      .trimEnd()
      .split('\n')
      .map((line) => line.split('  ')[1]);
    expect(names).toEqual([
      'NOTES.md',
      `lethe-${VERSION}.cdx.json`,
      ...['cli', 'discord', 'sdk', 'server'].map((name) => `lethe-${name}-${VERSION}.tgz`),
      ...['-py3-none-any.whl', '.tar.gz'].map((end) => `lethe_client-${VERSION}${end}`),
    ]);
    const checked = spawned('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release });
    expect(await checked.ended).toMatchObject({ code: 0 });
    const bom = JSON.parse(readFileSync(join(release, `lethe-${VERSION}.cdx.json`), 'utf8')) as object;
    expect(bom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { version: VERSION } } });
    expect(readFileSync(join(release, 'NOTES.md'), 'utf8')).toMatch(
      new RegExp(`^### Added\n[^]*\\]\\(${REPOSITORY}/blob/v${VERSION}/docs/`),
    );
    const listed = await spawned('tar', ['-tzf', `lethe_client-${VERSION}.tar.gz`], { cwd: release }).ended;
    const folders = listed.stdout
      .trim()
      .split('\n')
      .map((path) => path.split('/')[0]);
    expect([...new Set(folders)]).toEqual([`lethe_client-${VERSION}`]);
    const said = await spawned('tar', ['-xzOf', `lethe-sdk-${VERSION}.tgz`, 'package/package.json'], {
      cwd: release,
    }).ended;
    expect(JSON.parse(said.stdout)).toMatchObject({
      repository: { url: `git+${REPOSITORY}.git`, directory: 'packages/sdk' },
    });
  });

  it('is the same in each byte when it is made again of the commit, elsewhere', async () => {
    const elsewhere = join(place, 'elsewhere');
    cpSync(checkout, elsewhere, { recursive: true, verbatimSymlinks: true });
    rmSync(join(elsewhere, 'release'), { recursive: true });
    const options = ['--build', build.directory, '--console', await builtConsole()];
    const again = await spawned(
      process.execPath,
      ['scripts/release.mjs', '--repository', REPOSITORY, ...options],
      { cwd: elsewhere, env: { ...process.env, TZ: 'Asia/Tokyo' } },
    ).ended;
    expect(again).toMatchObject({ code: 0, stdout: sums });
  });

  it('is published in order, once, and goes on after an interruption', async () => {
    registry.refused.add('@lethe/cli');
    expect(await publish()).toMatchObject({ code: 1 });
    expect(registry.published).toEqual(['sdk', 'discord'].map((name) => `@lethe/${name}@${VERSION}`));
    registry.refused.clear();
    expect(await publish()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`@lethe/discord@${VERSION} is published already.`) as string,
    });
    expect(registry.published.slice(2)).toEqual(['cli', 'server'].map((name) => `@lethe/${name}@${VERSION}`));
  });

  it('is not published over other bytes, with other bytes, or with a file beside it', async () => {
    const other = new NpmRegistry();
    await other.start();
    writeFileSync(join(place, 'other'), other.npmrc);
    const env_ = { ...env, npm_config_userconfig: join(place, 'other') };
    const from = (folder: string): Promise<ScriptRun> =>
      spawned(process.execPath, ['scripts/release.publish.mjs', folder], { cwd: checkout, env: env_ }).ended;
    const copy = join(place, 'copy');
    cpSync(release, copy, { recursive: true });
    writeFileSync(join(copy, 'more.tgz'), '');
    expect(await from(copy)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not list more.tgz') as string,
    });
    rmSync(join(copy, 'more.tgz'));
    appendFileSync(join(copy, `lethe-sdk-${VERSION}.tgz`), ' ');
    expect(await from(copy)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not the file of SHA256SUMS') as string,
    });
    expect(other.published).toEqual([]);
    other.refused.add('@lethe/discord');
    await from(release);
    other.refused.clear();
    other.replace('@lethe/sdk', 'sha512-AAAA');
    expect(await from(release)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`The registry has another @lethe/sdk@${VERSION}`) as string,
    });
    expect(other.published).toEqual([`@lethe/sdk@${VERSION}`]);
    other.stop();
  });

  describe('by the published names, in an empty folder:', () => {
    let url: string;

    beforeAll(async () => {
      if (registry.published.length === 0) await publish();
      const folder = emptyFolder('server');
      const [init = '', start = ''] =
        blocksOf(README, 'sh')
          .find((block) => block.startsWith('npx @lethe/server init'))
          ?.trim()
          .split(' && ') ?? [];
      const begun = await shell(folder, init).ended;
      expect(begun).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('npx @lethe/server start') as string,
      });
      expect(begun.stdout).toMatch(/^# This program is in the cache of npx/);
      giveCompiledDriver(join(place, 'cache/_npx'));
      const server = shell(folder, start, { NODE_ENV: 'development', PORT: '0' });
      running.push(server);
      await wrote(server, 'Lethe listens on ');
      url = /Lethe listens on (http:\S+)/.exec(server.written.output)?.[1] ?? '';
    });

    it('npx @lethe/server init && npx @lethe/server start, and the five minutes of README.md', async () => {
      expectWhatIsWritten(await fiveMinutes(url, emptyFolder('minutes'), env));
    });

    it('the quickstart with curl', async () => {
      const [curl = ''] = blocksOf(QUICKSTART, 'sh');
      const { stdout } = await shell(emptyFolder('curl'), curl, { LETHE_URL: url }).ended;
      const answers = stdout.trim().split('\n');
      expect(answers).toHaveLength(7);
      expect(JSON.parse(answers.at(-1) ?? '')).toMatchObject({ data: { status: 'completed' } });
    });

    it('the quickstart in TypeScript, to which lethe listen brings its webhook calls', async () => {
      const [install] = /npm install @lethe\/sdk @lethe\/cli/.exec(QUICKSTART) ?? [];
      const commands = [...QUICKSTART.matchAll(/`(npx --package @lethe\/cli lethe (\w+))`/g)];
      const command = (name: string): string =>
        commands.find(([, , one]) => one === name)?.[1] ?? `no ${name}`;
      const directory = emptyFolder('bot');
      expect(await shell(directory, install ?? 'false').ended).toMatchObject({ code: 0 });
      const given = `--url ${url} --platform-bot-id ${snowflake()} --name Greeter`;
      expect(await shell(directory, `${command('init')} ${given}`).ended).toMatchObject({ code: 0 });
      // The oldest Node.js that Lethe runs on takes no types; the block has none.
      writeFileSync(join(directory, 'bot.mjs'), blocksOf(QUICKSTART, 'ts')[0] ?? '');
      const port = String(await freePort());
      const forward = `--forward-to http://127.0.0.1:${port}/gdpr --interval 1`;
      const listening = shell(directory, `${command('listen')} ${forward}`);
      running.push(listening);
      await wrote(listening, 'Calls of Greeter');
      const bot = shell(directory, 'exec node --env-file=.env bot.mjs', { PORT: port });
      running.push(bot);
      await wrote(bot, 'completed');
      await wrote(bot, 'delete your data of 123456789012345678');
      expect(bot.written.output).toContain("{ profile: { nickname: 'Robin' } }");
      await wrote(listening, '204 in');
      const checked = await shell(directory, command('doctor')).ended;
      expect(checked.output).toContain('Greeter');
    });

    it('the client for Python', async () => {
      const target = join(place, 'python');
      const options = ['--quiet', '--no-index', '--no-deps', '--find-links', release, '--target', target];
      const installed = spawned(PYTHON, ['-m', 'pip', 'install', ...options, 'lethe-client'], { cwd: place });
      expect(await installed.ended).toMatchObject({ code: 0 });
      expect(readdirSync(target).sort()).toEqual([
        ...['lethe_client', `lethe_client-${VERSION}.dist-info`, 'lethe_discord'],
      ]);
      const readme = readFileSync(join(ROOT, 'clients/python/README.md'), 'utf8');
      const [register = '', ...calls] = blocksOf(readme, 'python').slice(0, 3);
      const python = (program: string, LETHE_KEY?: string) => {
        const env_ = { PATH: process.env['PATH'], PYTHONPATH: target, LETHE_URL: url, LETHE_KEY };
        return spawned(PYTHON, ['-c', program], { cwd: emptyFolder(`python-${snowflake()}`), env: env_ })
          .ended;
      };
      const { stdout } = await python(register.replace('987654321098765432', snowflake()));
      expect(await python(calls.join('\n'), stdout.split(' ')[0])).toMatchObject({
        code: 0,
        output: expect.stringContaining('consent_accepted') as string,
      });
    });
  });
});
