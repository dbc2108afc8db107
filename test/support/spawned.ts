import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';

/** What a program has written, each stream and both in their order. */
export interface Written {
  readonly stdout: string;
  readonly stderr: string;
  readonly output: string;
}

export interface ScriptRun extends Written {
  readonly code: number | null;
}

/** A program in a process of its own. */
export interface Spawned {
  readonly child: ChildProcess;
  readonly written: Written;
  readonly ended: Promise<ScriptRun>;
}

/** Whether this machine has a device on which every write fails as on a full disk. */
export const HAS_FULL_DISK = existsSync('/dev/full');

/** A program of Node.js whose standard output is a full disk. */
export function ontoFullDisk(args: readonly string[], options?: SpawnOptions): Promise<ScriptRun> {
  return spawned('sh', ['-c', 'exec "$@" > /dev/full', 'sh', process.execPath, ...args], options).ended;
}

/** A program of Node.js whose reader has closed the pipe before the first line. */
export function ontoClosedPipe(args: readonly string[], options?: SpawnOptions): Promise<ScriptRun> {
  const { child, ended } = spawned(process.execPath, args, options);
  child.stdout?.destroy();
  return ended;
}

export function spawned(program: string, args: readonly string[], options?: SpawnOptions): Spawned {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const written = { stdout: '', stderr: '', output: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      written[name] += chunk;
      written.output += chunk;
    });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...written }));
  return { child, written, ended };
}
