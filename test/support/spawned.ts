import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';

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

export function spawned(program: string, args: readonly string[], options?: SpawnOptions): Spawned {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const written = { stdout: '', stderr: '', output: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.on('data', (chunk: Buffer) => {
      written[name] += chunk.toString();
      written.output += chunk.toString();
    });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...written }));
  return { child, written, ended };
}
