import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtCommandLine, CommandLine } from '../support/command-line';
import { itAtFullDepth } from '../support/depth';
import { tarballOf } from '../support/packed';
import { useService } from '../support/shared-service';
import { snowflake } from '../support/snowflakes';

// The command line as npm publishes it: packed with what it depends on, installed into an empty folder, and used there.

const ROOT = join(__dirname, '../..');
const service = useService();
const place = mkdtempSync(join(tmpdir(), 'lethe-cli-packed-'));
afterAll(() => rmSync(place, { recursive: true }));

const npm = (directory: string, ...args: string[]): string =>
  execFileSync('npm', args, { cwd: directory, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** The tarballs of packages that are installed here. No registry is asked. */
function installed(...names: string[]): string[] {
  const directories = names.map((name) => join(ROOT, 'node_modules', name));
  const files = npm(
    place,
    'pack',
    '--ignore-scripts',
    '--silent',
    '--pack-destination',
    place,
    ...directories,
  );
  return files
    .trim()
    .split('\n')
    .map((file) => join(place, file));
}

describe('@lethe/cli', () => {
  it('depends on its client, commander and yaml alone, in exact versions of this repository', () => {
    const read = (path: string) =>
      JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Record<string, never>;
    const { devDependencies, version } = read('package.json') as Record<string, Record<string, string>>;
    expect(read('packages/cli/package.json')).toMatchObject({
      dependencies: {
        '@lethe/sdk': version,
        commander: devDependencies?.['commander'],
        yaml: devDependencies?.['yaml'],
      },
      version,
    });
    expect(Object.keys(read('packages/cli/package.json')['dependencies'] ?? {})).toHaveLength(3);
    expect(read('packages/sdk/package.json')).toMatchObject({ version });
  });

  itAtFullDepth('runs from an empty folder, and has at most 58 KB packed', async () => {
    const own = [await tarballOf('sdk'), await tarballOf('cli')];
    const tarballs = [...own, ...installed('commander', 'yaml')];
    expect(statSync(tarballs[1] ?? '').size).toBeLessThan(58 * 1024);
    const directory = join(place, 'bot');
    mkdirSync(directory);
    writeFileSync(join(directory, 'package.json'), '{"private":true}');
    npm(directory, 'install', '--offline', '--no-audit', '--no-fund', ...tarballs);
    expect(readdirSync(join(directory, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      ...['@lethe', 'commander', 'yaml'],
    ]);
    expect(
      spawnSync('npx', ['--offline', 'lethe', '--version'], { cwd: directory, encoding: 'utf8' }).stdout,
    ).toMatch(/^\d+\.\d+\.\d+\n$/);
    const cli = new CommandLine(join(directory, 'node_modules/@lethe/cli/dist/lethe.js'), directory);
    const given = ['--url', service.url, '--platform-bot-id', snowflake(), '--name', 'Packed'];
    expect(await cli.run(['init', ...given])).toMatchObject({ code: 0 });
    writeFileSync(join(directory, 'lethe.yaml'), example());
    expect(await cli.run(['categories', 'push', '--yes'])).toMatchObject({
      code: 0,
      stdout: 'Registered 1, changed 0, deleted 0 categories; registered 2 texts.\n',
    });
    const [user, guild] = [snowflake(), snowflake()];
    const forget = ['forget', user, '--guild', guild, '--yes', '--certificate', 'it.json'];
    expect(await cli.run(forget)).toMatchObject({ code: 0 });
    expect((await cli.run(['verify', 'it.json'])).stdout).toContain(
      `about user ${user} in guild ${guild} was erased`,
    );
  });

  /** The file that README.md shows. */
  function example(): string {
    const readme = readFileSync(join(ROOT, 'packages/cli/README.md'), 'utf8');
    return /^```yaml\n([\s\S]*?)^```$/m.exec(readme)?.[1] ?? '';
  }

  it('has a README.md that names every command', async () => {
    const built = builtCommandLine();
    const cli = new CommandLine(built.program);
    const { stdout } = await cli.run(['--help']);
    const commands = [...stdout.matchAll(/^ {2}([a-z]+) .*/gm)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'help');
    const readme = readFileSync(join(ROOT, 'packages/cli/README.md'), 'utf8');
    expect(commands.length).toBeGreaterThan(10);
    expect(commands.filter((name) => !readme.includes(`| \`${name}`))).toEqual([]);
    cli.remove();
  });
});
