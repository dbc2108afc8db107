import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { version } from '../../package.json';
import { MAKING_MAX_MS, useBuild } from './build';

const PACKS = join(__dirname, '../../scripts/package.server.mjs');

/** The releases of Node.js that the package runs on, each the program that a variable names, or the one of the tests. */
const MAJORS = [20, 22, 24] as const;
export type Major = (typeof MAJORS)[number];

const OWN = Number(process.versions.node.split('.')[0]);

const programOf = (major: Major): string =>
  major === OWN ? process.execPath : (process.env[`TEST_NODE_${major}`] ?? '');

/** Those that are there. In CI a missing one is a failure. */
export const RELEASES: readonly Major[] = MAJORS.filter((major) => {
  if (existsSync(programOf(major)) || process.env['CI'] !== undefined) return true;
  process.stderr.write(
    `The packed server is not tested on Node.js ${major}: TEST_NODE_${major} names none.\n`,
  );
  return false;
});

export const NEWEST = RELEASES.at(-1) ?? 24;

/** The package as npm publishes it, in a place of the calling file. */
export function usePackedServer() {
  const build = useBuild();
  const place = mkdtempSync(join(tmpdir(), 'lethe-server-'));
  const folder = (name: string, major: Major) => new ServerFolder(join(place, name), major);
  const made = join(place, 'made');
  beforeAll(() => {
    const packing = folder('packing', NEWEST);
    packing.output(process.execPath, [PACKS, made, build.directory]);
    packing.output('npm', ['pack', '--silent', '--pack-destination', place, made]);
  }, MAKING_MAX_MS);
  afterAll(() => rmSync(place, { recursive: true }));
  return { place, made, tarball: join(place, `lethe-server-${version}.tgz`), folder };
}

/** A folder that is empty but for what npm installs in it, and a release of Node.js that runs everything there. */
export class ServerFolder {
  constructor(
    readonly folder: string,
    readonly major: Major,
  ) {
    mkdirSync(folder);
  }

  /** npm and every program get this environment and no more, so that no setting of the tests reaches them. */
  environment(settings: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
    const program = programOf(this.major);
    const home = dirname(dirname(program));
    const headers = existsSync(join(home, 'include/node/node.h')) ? { npm_config_nodedir: home } : {};
    // From Node.js 22 on the driver of SQLite brings its binary, and no script has to run.
    const scripts = { npm_config_ignore_scripts: String(this.major >= 22) };
    const { PATH = '', HOME, NODE_EXTRA_CA_CERTS } = process.env;
    const own = { PATH: `${dirname(program)}:${PATH}`, HOME, NODE_EXTRA_CA_CERTS };
    const npm = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };
    return { ...own, ...npm, ...scripts, ...headers, PORT: '0', ...settings };
  }

  run(program: string, args: readonly string[], settings: Readonly<Record<string, string>> = {}) {
    const { status, stdout, stderr, error } = spawnSync(program, args, {
      ...{ cwd: this.folder, encoding: 'utf8', env: this.environment(settings) },
    });
    if (error !== undefined) throw error;
    return { code: status, stdout, stderr };
  }

  /** The output of a program that must succeed. */
  output(program: string, args: readonly string[], settings: Readonly<Record<string, string>> = {}): string {
    const { code, stdout, stderr } = this.run(program, args, settings);
    if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  }

  install(tarball: string, ...options: string[]): void {
    this.output('npm', ['install', ...options, tarball]);
  }

  /** Runs `lethe-server` to its end, as npm has linked it. */
  server(...args: string[]) {
    return this.run(this.launcher, args);
  }

  /** Starts a process of the service; `url` is where it listens. */
  async start(
    command: 'start' | 'worker',
    settings: Readonly<Record<string, string>> = {},
  ): Promise<Started> {
    const child = spawn(this.launcher, [command], {
      ...{ cwd: this.folder, env: this.environment(settings), stdio: ['ignore', 'pipe', 'pipe'] },
    });
    const url = await new Promise<string>((resolve, reject) => {
      let said = '';
      const hear = (text: string): void => {
        said += text;
        const found = /"url":"(http:[^"]+)"/.exec(said)?.[1];
        if (found !== undefined) resolve(found);
      };
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', hear);
      child.once('exit', () => reject(new Error(said)));
    });
    return new Started(child, url);
  }

  writeFile(name: string, lines: readonly string[]): void {
    writeFileSync(join(this.folder, name), lines.map((line) => `${line}\n`).join(''));
  }

  private get launcher(): string {
    return join(this.folder, 'node_modules/.bin/lethe-server');
  }
}

/** A process of the packed service. */
export class Started {
  constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  /** Ends it in order; answers its exit code. */
  async stop(): Promise<number | null> {
    if (this.child.exitCode !== null) return this.child.exitCode;
    this.child.kill('SIGTERM');
    const [code] = (await once(this.child, 'exit')) as [number | null];
    return code;
  }
}
