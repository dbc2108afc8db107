import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '../..');

/** Packages as npm publishes them, and empty projects that install them. */
export class Packed {
  readonly place = mkdtempSync(join(tmpdir(), 'lethe-packed-'));
  private readonly tarballs = new Map<string, Promise<string>>();

  constructor(private readonly names: readonly string[]) {}

  /** The directory that a package is built in. */
  source(name: string): string {
    return join(this.place, `source-${name}`);
  }

  /** Asynchronous, so that idle connections of this process do not end as they are used. */
  async build(): Promise<void> {
    for (const name of this.names) {
      mkdirSync(this.source(name));
      const script = join(ROOT, 'scripts/package.mjs');
      await promisify(execFile)(process.execPath, [script, name, this.source(name)]);
    }
  }

  /** The output of a program; the service in another process answers meanwhile. */
  async run(directory: string, program: string, ...args: string[]): Promise<string> {
    const env = { PATH: process.env['PATH'], HOME: this.place };
    const child = spawn(program, args, { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => void (output += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${output}`);
    return output.trim();
  }

  /** A project with the packages from their tarballs, and nothing else. No registry is asked. */
  async project(name: string, manifest: object, files: Readonly<Record<string, string>>): Promise<string> {
    const tarballs = await Promise.all(this.names.map((one) => this.tarball(one)));
    const directory = join(this.place, name);
    mkdirSync(directory);
    writeFileSync(join(directory, 'package.json'), JSON.stringify({ name, private: true, ...manifest }));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, file), text);
    await this.run(directory, 'npm', 'install', '--offline', '--no-audit', '--no-fund', ...tarballs);
    return directory;
  }

  private tarball(name: string): Promise<string> {
    const source = this.source(name);
    const packed = this.tarballs.get(name) ?? this.run(source, 'npm', 'pack', '--ignore-scripts', '--silent');
    this.tarballs.set(name, packed);
    return packed.then((file) => join(source, file));
  }
}

/** Builds the packages before the tests of the calling file, and removes them after. */
export function usePacked(...names: string[]): Packed {
  const packed = new Packed(names);
  beforeAll(() => packed.build(), 60_000);
  afterAll(() => rmSync(packed.place, { recursive: true }));
  return packed;
}
