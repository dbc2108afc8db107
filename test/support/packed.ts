import { execFile } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { SQLITE_PACKAGE } from './database';
import { madeOnce, sharedPlace } from './made-once';
import { spawned } from './spawned';

const ROOT = join(__dirname, '../..');

/** Packages as npm publishes them, and empty projects that install them. */
export class Packed {
  readonly place = mkdtempSync(join(tmpdir(), 'lethe-packed-'));

  constructor(private readonly names: readonly string[]) {}

  /** The directory that a package is built in. Other suites read it too. */
  source(name: string): string {
    return join(packagePlace(name), 'source');
  }

  async build(): Promise<void> {
    for (const name of this.names) await builtPackage(name);
  }

  /** The output of a program; the service in another process answers meanwhile. */
  run(directory: string, program: string, ...args: string[]): Promise<string> {
    return outputOf(directory, this.place, program, ...args);
  }

  /** A project with the packages from their tarballs, and nothing else. */
  async project(name: string, manifest: object, files: Readonly<Record<string, string>>): Promise<string> {
    const directory = join(this.place, name);
    cpSync(await installed(this.names), directory, { recursive: true, verbatimSymlinks: true });
    const file = join(directory, 'package.json');
    const { dependencies } = JSON.parse(readFileSync(file, 'utf8')) as { dependencies: object };
    writeFileSync(file, JSON.stringify({ name, private: true, ...manifest, dependencies }));
    for (const [path, text] of Object.entries(files)) writeFileSync(join(directory, path), text);
    return directory;
  }

  /**
   * What TypeScript finds wrong in each project, by its name. One process compiles all of them, and reads the types of the
   * language and of the packages once.
   */
  async compiled(projects: readonly TypedProject[]): Promise<ReadonlyMap<string, string[]>> {
    const names = projects.map(({ directory }) => relative(this.place, directory));
    for (const { directory, options, files } of projects)
      writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }));
    const { output } = await spawned(process.execPath, [TSC, '--build', ...names], { cwd: this.place }).ended;
    const lines = output.split('\n').filter((line) => line !== '');
    // What names no project is about all of them.
    const isOfNone = (line: string): boolean => !names.some((name) => line.startsWith(`${name}/`));
    return new Map(
      names.map((name) => [name, lines.filter((line) => line.startsWith(`${name}/`) || isOfNone(line))]),
    );
  }
}

const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

export interface TypedProject {
  readonly directory: string;
  readonly options: object;
  readonly files: readonly string[];
}

/** @throws Error with the output of a program that has failed */
async function outputOf(
  directory: string,
  home: string,
  program: string,
  ...args: string[]
): Promise<string> {
  const env = { PATH: process.env['PATH'], HOME: home };
  const { code, output } = await spawned(program, args, { cwd: directory, env }).ended;
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${output}`);
  return output.trim();
}

/** An empty project in which npm has installed the packages, once for all suites of a run. No registry is asked. */
async function installed(names: readonly string[]): Promise<string> {
  const place = sharedPlace(`installed-${names.join('-')}`);
  const directory = join(place, 'project');
  await madeOnce(place, async () => {
    const tarballs = await Promise.all(names.map(tarballOf));
    mkdirSync(directory);
    writeFileSync(join(directory, 'package.json'), JSON.stringify({ private: true }));
    await outputOf(directory, place, 'npm', 'install', '--offline', '--no-audit', '--no-fund', ...tarballs);
  });
  return directory;
}

const packagePlace = (name: string): string => sharedPlace(`package-${name}`);

/**
 * The directory of a package as npm publishes it, built once for all suites of a run. Asynchronous, so that idle connections
 * of this process do not end as they are used.
 */
export async function builtPackage(name: string): Promise<string> {
  const place = packagePlace(name);
  const source = join(place, 'source');
  await madeOnce(place, async () => {
    mkdirSync(source);
    await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/package.mjs'), name, source]);
  });
  return source;
}

/** The tarball of a package, packed once for all suites of a run. */
export async function tarballOf(name: string): Promise<string> {
  const source = await builtPackage(name);
  const place = sharedPlace(`tarball-${name}`);
  await madeOnce(place, async () => {
    const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', place];
    await promisify(execFile)('npm', args, { cwd: source });
  });
  return join(place, readdirSync(place).find((file) => file.endsWith('.tgz')) ?? '');
}

/** Builds the packages before the tests of the calling file, unless the run has them, and removes its projects after. */
export function usePacked(...names: string[]): Packed {
  const packed = new Packed(names);
  beforeAll(() => packed.build());
  afterAll(() => rmSync(packed.place, { recursive: true }));
  return packed;
}

/**
 * Gives @lethe/server below the folder the driver of SQLite that was compiled for this checkout, where npm has run no script:
 * compiling it again takes two minutes. The driver of newer versions of Node.js comes compiled.
 */
export function giveCompiledDriver(folder: string): void {
  if (SQLITE_PACKAGE !== 'better-sqlite3') return;
  const [driver] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('better-sqlite3/binding.gyp'),
  );
  if (driver === undefined) throw new Error(`no better-sqlite3 is installed in ${folder}`);
  const built = 'build/Release/better_sqlite3.node';
  const target = join(folder, driver, '..', built);
  mkdirSync(join(target, '..'), { recursive: true });
  copyFileSync(join(ROOT, 'node_modules/better-sqlite3', built), target);
}
