import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildSync } from 'esbuild';
import { sharedPlace } from './made-once';
import { until } from './until';

const ROOT = resolve(__dirname, '../..');

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Environment = Readonly<Record<string, string>>;

/** `lethe` in an empty folder, each command in a process of its own, without the environment of this process. */
export class CommandLine {
  /** All that the commands have written. */
  written = '';
  private readonly running = new Set<ChildProcess>();

  constructor(
    private readonly program: string,
    readonly directory = mkdtempSync(join(tmpdir(), 'lethe-cli-')),
  ) {}

  async run(args: readonly string[], environment: Environment = {}): Promise<Ran> {
    return (await this.start(args, environment)).ended;
  }

  /** The environment of a command. */
  protected environment(given: Environment): Environment {
    return { PATH: process.env['PATH'] ?? '', HOME: this.directory, ...given };
  }

  /** A command that runs on; `wrote` resolves once its output has the text. */
  async start(args: readonly string[], environment: Environment = {}) {
    const env = this.environment(environment);
    const child = spawn(process.execPath, [this.program, ...args], {
      ...{ cwd: this.directory, env, stdio: ['ignore', 'pipe', 'pipe'] },
    });
    this.running.add(child);
    const ran = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (chunk: string) => {
        ran[name] += chunk;
        this.written += chunk;
      });
    const ended = once(child, 'close').then(([code]): Ran => {
      this.running.delete(child);
      return { code: code as number | null, ...ran };
    });
    const has = (text: string): boolean => (ran.stdout + ran.stderr).includes(text);
    const wrote = async (text: string): Promise<void> => {
      await until(() => has(text) || !this.running.has(child));
      if (!has(text)) throw new Error(`it ended without ${text}: ${ran.stdout}${ran.stderr}`);
    };
    return { child, ended, wrote };
  }

  /** Ends the commands that still run. */
  end(): void {
    for (const child of this.running) child.kill('SIGKILL');
  }

  remove(): void {
    this.end();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** The program of the present sources in one file; the first suite of a run that needs it makes it. */
export function builtCommandLine(): { readonly program: string } {
  const program = join(sharedPlace('command-line'), 'lethe.cjs');
  if (existsSync(program)) return { program };
  // Suites that make it at the same time each make a whole one.
  const own = `${program}-${process.pid}`;
  buildSync({
    entryPoints: [join(ROOT, 'packages/cli/src/lethe.ts')],
    outfile: own,
    bundle: true,
    platform: 'node',
    tsconfig: join(ROOT, 'tsconfig.json'),
  });
  renameSync(own, program);
  return { program };
}
