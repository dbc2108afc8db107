import 'reflect-metadata';
import { once } from 'node:events';
import type { Type } from '@nestjs/common';
import { ApiError, ConfigError, describeFault, loadConfig } from '@app/common';
import { StartError } from '@app/database';
import { askedOf, helpOf, overview, UsageError } from './command-line';
import { COMMANDS } from './commands';
import { Progress } from './progress';

/**
 * Runs one command, with the `further` modules of a team beside Lethe's own, and ends the process: 0 when it is done, 1
 * when it failed, 2 for what cannot be understood. What went wrong stands in readable lines on standard error.
 */
export async function runAdmin(args: readonly string[], ...further: Type[]): Promise<void> {
  const progress = new Progress(process.stderr);
  // Whatever a command writes is for its owner alone.
  process.umask(0o077);
  // The reader of a pipe that has seen enough is no failure of ours to tell.
  process.stdout.on('error', () => process.exit(1));
  try {
    await run(args, further, progress);
    process.exitCode = 0;
  } catch (error) {
    progress.end();
    process.stderr.write(`${tellable(error)}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  }
}

async function run(args: readonly string[], further: readonly Type[], progress: Progress): Promise<void> {
  const asked = askedOf(COMMANDS, args);
  if (asked === undefined || asked.help) {
    await write(asked === undefined ? overview(COMMANDS) : helpOf(asked.command));
    return;
  }
  await asked.command.run(asked.given, {
    config: loadConfig(),
    further,
    data: write,
    tell: (line) => {
      progress.end();
      process.stderr.write(`${line}\n`);
    },
    progress,
  });
}

/** Waits where the reader is slower: what is written by millions of lines is never held in memory. */
async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

function tellable(error: unknown): string {
  const known = [UsageError, ConfigError, StartError, ApiError].some((kind) => error instanceof kind);
  return known ? (error as Error).message : `The command failed: ${JSON.stringify(describeFault(error))}`;
}
