import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { transformFileSync } from '@swc/core';
import type { BuildOptions } from 'esbuild';
import { madeOnce } from './made-once';
import { PATIENT, PATIENT_SERVER } from './patient';

const ROOT = resolve(__dirname, '../..');
const MODULES = join(ROOT, 'node_modules');

/** What the sources import beside code. */
const ANSWERS = 'apps/api/src/openapi.answers.json';

/** The programs that a process can run. */
const PROGRAMS = {
  api: './apps/api/src/main',
  worker: './apps/worker/src/main',
  admin: './apps/admin/src/main',
} as const;

export type Program = keyof typeof PROGRAMS;

/** The compiled service. */
export interface Build {
  /** The directory for all suites; processes must not write there. */
  readonly directory: string;
  /** A working directory for the calling file only. */
  readonly workingDirectory: string;
}

/** The compiled service; the first suite of a run that needs it compiles the present sources. */
export function useBuild(): Build {
  const directory = buildDirectory();
  const workingDirectory = mkdtempSync(join(tmpdir(), 'lethe-work-'));
  beforeAll(() => made(directory));
  afterAll(() => rmSync(workingDirectory, { recursive: true, force: true }));
  return { directory, workingDirectory };
}

/** The directory of the compiled service, once it is compiled. */
export async function madeBuild(): Promise<string> {
  const directory = buildDirectory();
  await made(directory);
  return directory;
}

function buildDirectory(): string {
  const directory = process.env['TEST_BUILD'];
  if (directory === undefined) throw new Error('TEST_BUILD is missing: scripts/jest.setup.mjs was not run');
  return directory;
}

/** The arguments of Node.js that start a program of the build. */
export function startOf(directory: string, program: Program): string[] {
  return [join(directory, 'start.cjs'), program];
}

/** The environment of a process besides the settings of a test. */
export const PROCESS_ENVIRONMENT = { PATH: process.env['PATH'], NODE_PATH: MODULES, ...PATIENT };

function made(directory: string): Promise<void> {
  return madeOnce(directory, async () => {
    compile(directory);
    await bundled(directory);
    await warmUp(directory);
  });
}

function compile(target: string): void {
  const files = ['apps', 'libs', 'packages'].flatMap((top) =>
    readdirSync(join(ROOT, top), { recursive: true, withFileTypes: true })
      .filter(({ name }) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  cpSync(join(ROOT, ANSWERS), join(target, ANSWERS));
  for (const file of [...files, join(ROOT, 'ormconfig.ts'), join(ROOT, 'modules.ts')]) {
    const { code } = transformFileSync(file, { configFile: join(ROOT, '.swcrc') });
    const out = join(target, relative(ROOT, file).replace(/\.ts$/, '.js'));
    mkdirSync(dirname(out), { recursive: true });
    writeFileSync(
      out,
      code.replace(/"@(app|lethe)\/([a-z-]+)([^"]*)"/g, (_, top: string, room: string, path: string) =>
        JSON.stringify(join(target, top === 'app' ? 'libs' : 'packages', room, 'src', path)),
      ),
    );
  }
}

/** Bundles all programs in one file. The drivers of databases stay outside, so that tests can replace them. */
async function bundled(directory: string): Promise<void> {
  const { bundle, bundleThreads, DRIVERS } = (await import(BUNDLER)) as Bundling;
  const programs = Object.entries(PROGRAMS).map(
    ([name, path]) => `${JSON.stringify(name)}: () => require(${JSON.stringify(path)})`,
  );
  const code = `module.exports = { ${programs.join(', ')} };`;
  // A script of `node:vm` cannot import; it requires.
  await bundle(directory, code, join(directory, 'bundle.cjs'), { supported: { 'dynamic-import': false } });
  // They load the drivers by path: a test can start them.
  await bundleThreads(directory, directory, {
    alias: Object.fromEntries(DRIVERS.map((name) => [name, join(MODULES, name)])),
    external: [`${MODULES}/*`],
  });
  writeFileSync(join(directory, 'start.cjs'), START);
}

/** As text, since it has no types. */
const BUNDLER: string = '../../scripts/bundle.mjs';

interface Bundling {
  readonly bundle: (directory: string, code: string, outfile: string, options: BuildOptions) => Promise<void>;
  readonly bundleThreads: (directory: string, outdir: string, options: BuildOptions) => Promise<void>;
  readonly DRIVERS: readonly string[];
}

/** Runs a program of the bundle with the code cache of V8 and a patient server. It ends with its parent process. */
const START = `
  process.once('disconnect', () => process.exit(1));
  process.channel?.unref();
  const http = require('node:http');
  const { createServer } = http;
  http.createServer = (...given) => Object.assign(createServer(...given), ${JSON.stringify(PATIENT_SERVER)});
  const { existsSync, readFileSync, writeFileSync } = require('node:fs');
  const { createRequire, wrap } = require('node:module');
  const { Script } = require('node:vm');
  const [bundle, code] = [__dirname + '/bundle.cjs', __dirname + '/bundle.code'];
  const [program] = process.argv.splice(2, 1);
  const cachedData = existsSync(code) ? readFileSync(code) : undefined;
  const script = new Script(wrap(readFileSync(bundle, 'latin1')), { filename: bundle, cachedData });
  if (cachedData === undefined) process.on('exit', () => writeFileSync(code, script.createCachedData()));
  const module_ = { exports: {} };
  const outside = createRequire(${JSON.stringify(join(ROOT, 'bundle.js'))});
  script.runInThisContext()(module_.exports, outside, module_, bundle, __dirname);
  module_.exports[program]();
`;

/** Fills the code cache by one start and one end. */
async function warmUp(directory: string): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'lethe-work-'));
  const child = spawn(process.execPath, startOf(directory, 'api'), {
    cwd: place,
    env: { ...PROCESS_ENVIRONMENT, PORT: '0', LETHE_MASTER_KEY: Buffer.alloc(32, 'warm').toString('base64') },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    if (said.includes('Lethe listens')) child.kill('SIGTERM');
  });
  const [code] = (await once(child, 'close')) as [number | null];
  rmSync(place, { recursive: true });
  if (code !== 0) throw new Error(`the service cannot be started: ${said}`);
}
