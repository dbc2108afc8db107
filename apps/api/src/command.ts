import 'reflect-metadata';
import { StartError, ConfigError, loadConfig } from '@app/kernel';
import type { Terminal } from '@app/runtime';

/** @throws Error; of those that a user can mend, ConfigError and StartError, the message is all that is told. */
export type Command = (args: readonly string[], terminal: Terminal) => Promise<void>;

/** Runs a command to its end: 0 when it is done, 1 when not. What went wrong stands in readable lines on standard error. */
export async function exitCodeOf(
  command: Command,
  args: readonly string[],
  terminal: Terminal,
): Promise<0 | 1> {
  try {
    await command(args, terminal);
    return 0;
  } catch (error) {
    const known = error instanceof ConfigError || error instanceof StartError;
    terminal.stderr.write(`${known ? error.message : String((error as Error).stack)}\n`);
    return 1;
  }
}

/** {@link exitCodeOf} in this process, which ends with it. */
export async function runAsProcess(command: Command): Promise<void> {
  const { stdout, stderr } = process;
  const code = await exitCodeOf(command, process.argv.slice(2), { config: loadConfig, stdout, stderr });
  // What is left of a command that failed is not waited for.
  if (code !== 0) process.exit(code);
}
