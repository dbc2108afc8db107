import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
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
  async run(directory: string, program: string, ...args: string[]): Promise<string> {
    const env = { PATH: process.env['PATH'], HOME: this.place };
    const { code, output } = await spawned(program, args, { cwd: directory, env }).ended;
    if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${output}`);
    return output.trim();
  }

  /** A project with the packages from their tarballs, and nothing else. No registry is asked. */
  async project(name: string, manifest: object, files: Readonly<Record<string, string>>): Promise<string> {
    const tarballs = await Promise.all(this.names.map(tarballOf));
    const directory = join(this.place, name);
    mkdirSync(directory);
    writeFileSync(join(directory, 'package.json'), JSON.stringify({ name, private: true, ...manifest }));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, file), text);
    await this.run(directory, 'npm', 'install', '--offline', '--no-audit', '--no-fund', ...tarballs);
    return directory;
  }
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
