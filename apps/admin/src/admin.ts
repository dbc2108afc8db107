import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import { encryptionReady } from '@app/crypto';
import { FileInUse } from '@app/database';
import { StartError, ApiError, ConfigError, describeFault, loadConfig } from '@app/kernel';
import { BACKUP_COMMANDS } from './backup.commands';
import { BOT_COMMANDS } from './bots.commands';
import { askedOf, type Command, helpOf, overview, UsageError } from './command-line';
import { DATABASE_COMMANDS } from './database.commands';
import { DOCTOR_COMMAND } from './doctor.command';
import { DRILL_COMMAND } from './drill.command';
import { KEY_COMMANDS } from './keys.commands';
import { LEDGER_COMMANDS } from './ledger.commands';
import { MOVE_COMMAND } from './move.command';
import { inJson, inWords, type Output, tellUnwritten, type Terminal } from './output';
import { REPORT_COMMANDS } from './reports.commands';
import { STATUS_COMMAND } from './status.command';

/** Every command, in the order of docs/reference.md. */
export const COMMANDS: readonly Command[] = [
  STATUS_COMMAND,
  DOCTOR_COMMAND,
  ...DATABASE_COMMANDS,
  MOVE_COMMAND,
  ...BACKUP_COMMANDS,
  DRILL_COMMAND,
  ...LEDGER_COMMANDS,
  ...BOT_COMMANDS,
  ...KEY_COMMANDS,
  ...REPORT_COMMANDS,
];

/**
 * Runs one command, with the `further` modules of a team in addition to Lethe's own, and ends the process: 0 when it is
 * done, 1 when it failed, 2 for a command line that is not understood. Errors are written in readable lines to standard
 * error.
 */
export async function runAdmin(args: readonly string[], ...further: Type[]): Promise<void> {
  // Files of a command are readable by their owner only.
  process.umask(0o077);
  // The reader of a pipe may close it early, and has what it wanted: no words, and the code 1, since the command may not be done.
  // The command line of bots ends with 0 there, and lethe-verify with its own code; no package imports the inside of another.
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') tellUnwritten(process.stderr, code, args.includes('--json'));
    process.exit(1);
  });
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
  const isJson = args.includes('--json');
  const output = isJson ? inJson(terminal) : inWords(terminal);
  try {
    const help = await run(args, terminal, further, output);
    if (help === undefined) await output.end();
    else await output.data(help);
    return 0;
  } catch (error) {
    output.progress.end();
    const message = tellable(error);
    // The help after the first paragraph of a usage error is for readers.
    await output.end(isJson ? message.split('\n\n')[0] : message);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Returns the help that was asked for; undefined after a command was run. */
async function run(
  args: readonly string[],
  { config }: Terminal,
  further: readonly Type[],
  output: Output,
): Promise<string | undefined> {
  const asked = askedOf(COMMANDS, args);
  if (asked === undefined) return overview(COMMANDS);
  if (asked.help) return helpOf(asked.command);
  if (asked.command.rows === true) output.expectRows();
  // Commands also decrypt without the modules of Lethe, which wait for it themselves.
  await encryptionReady;
  await asked.command.run(asked.given, { config: config(), further, ...output });
  return undefined;
}

function tellable(error: unknown): string {
  if (error instanceof FileInUse)
    return `Another process is using ${error.file}: the service, or another command. Stop it, and run this command again.`;
  const known = [UsageError, ConfigError, StartError, ApiError].some((kind) => error instanceof kind);
  return known ? (error as Error).message : `The command failed: ${JSON.stringify(describeFault(error))}`;
}
