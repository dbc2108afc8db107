import 'reflect-metadata';
import { once } from 'node:events';
import type { Type } from '@nestjs/common';
import { StartError, ApiError, ConfigError, describeFault, loadConfig } from '@app/kernel';
import type { Terminal } from '@app/runtime';
import { askedOf, helpOf, overview, UsageError } from './command-line';
import { COMMANDS } from './commands';
import { Progress } from './progress';

/**
 * Runs one command, with the `further` modules of a team in addition to Lethe's own, and ends the process: 0 when it is
 * done, 1 when it failed, 2 for a command line that is not understood. Errors are written in readable lines to standard
 * error.
 */
export async function runAdmin(args: readonly string[], ...further: Type[]): Promise<void> {
  // Files of a command are readable by their owner only.
  process.umask(0o077);
  // The reader of a pipe may close it early. That is not reported as a failure.
  process.stdout.on('error', () => process.exit(1));
  const { stdout, stderr } = process;
  const code = await runCommand(args, { config: loadConfig, stdout, stderr }, further);
  // A failed command exits at once and does not wait for open handles.
  if (code === 0) process.exitCode = code;
  else process.exit(code);
}

/** {@link runAdmin} without the end of the process. Returns the exit code. */
export async function runCommand(
  args: readonly string[],
  terminal: Terminal,
  further: readonly Type[] = [],
): Promise<0 | 1 | 2> {
  const progress = new Progress(terminal.stderr);
  try {
    await run(args, terminal, further, progress);
    return 0;
  } catch (error) {
    progress.end();
    terminal.stderr.write(`${tellable(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function run(
  args: readonly string[],
  { config, stdout, stderr }: Terminal,
  further: readonly Type[],
  progress: Progress,
): Promise<void> {
  // Waits for a slow reader, so that millions of lines never accumulate in memory.
  const data = async (text: string): Promise<void> => {
    if (!stdout.write(text)) await once(stdout, 'drain');
  };
  const asked = askedOf(COMMANDS, args);
  if (asked === undefined || asked.help) {
    await data(asked === undefined ? overview(COMMANDS) : helpOf(asked.command));
    return;
  }
  const tell = (line: string): void => {
    progress.end();
    stderr.write(`${line}\n`);
  };
  await asked.command.run(asked.given, { config: config(), further, data, tell, progress });
}

function tellable(error: unknown): string {
  const known = [UsageError, ConfigError, StartError, ApiError].some((kind) => error instanceof kind);
  return known ? (error as Error).message : `The command failed: ${JSON.stringify(describeFault(error))}`;
}
