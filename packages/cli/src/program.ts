import { Command, CommanderError } from 'commander';
import { addBot } from './commands/bot.command';
import { addCategories } from './commands/categories.command';
import { addCompletion } from './commands/completion.command';
import { addDeliveries } from './commands/deliveries.command';
import { addDoctor } from './commands/doctor.command';
import { addEvents, addStats } from './commands/events.command';
import { addForget } from './commands/forget.command';
import { addHolders } from './commands/holders.command';
import { addHunt } from './commands/hunt.command';
import { addInit } from './commands/init.command';
import { addKeys } from './commands/keys.command';
import { addListen, addTrigger } from './commands/listen.command';
import { addMcp } from './commands/mcp.command';
import { addServers } from './commands/servers.command';
import { addExport, addLink } from './commands/subject.command';
import { addVerify } from './commands/verify.command';
import manifest from '../package.json';
import { EXIT, type ExitCode, Failure, failureOf } from './failures';
import { Output } from './output';
import { DEFAULT_URL, Session } from './session';

const CODES = `
Settings come from the environment or from .env: LETHE_URL, LETHE_KEY, LETHE_WEBHOOK_SECRET.
Exit codes: 0 done; 1 refused, or found false; 2 wrong usage; 3 no complete answer of the service, or 502, 503 or 504.`;

export function programOf(): Command {
  const program = new Command('lethe')
    .description('The command line of Lethe for developers of bots.')
    .version(manifest.version)
    .option('--json', 'one JSON value a line, for programs')
    .option('--url <url>', `address of the service (LETHE_URL, else ${DEFAULT_URL})`)
    .option('--dotenv <file>', 'file with the settings', '.env')
    .addHelpText('after', CODES)
    .showSuggestionAfterError()
    .exitOverride();
  const add = [
    ...[addInit, addBot, addListen, addTrigger, addDeliveries, addEvents, addStats, addKeys],
    ...[
      addCategories,
      addExport,
      addLink,
      addForget,
      addHolders,
      addHunt,
      addMcp,
      addServers,
      addVerify,
      addDoctor,
      addCompletion,
    ],
  ];
  for (const one of add) one(program);
  for (const command of [program, ...program.commands, ...program.commands.flatMap((each) => each.commands)])
    command.exitOverride().configureOutput({ outputError: () => undefined });
  return program;
}

/** Runs the command of a command line. Never rejects: what fails is written to standard error. */
export async function run(args: readonly string[]): Promise<ExitCode> {
  const program = programOf();
  try {
    await program.parseAsync([...args], { from: 'user' });
    return EXIT.done;
  } catch (error) {
    const isJson = args.includes('--json');
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.done;
      // The help was written.
      if (error.code === 'commander.help') return EXIT.usage;
      const isKey = args.some((arg) => /^--(api-?)?key\b/.test(arg));
      return failed(isJson, EXIT.usage, {
        code: 'usage',
        message: error.message.replace(/^error: /, ''),
        mend: isKey
          ? 'A key is no option, since other users of the machine see arguments: set LETHE_KEY.'
          : 'lethe --help lists the commands.',
      });
    }
    const { exitCode, code, message, mend } = failureOf(
      error,
      error instanceof Failure ? '' : new Session(program).url,
    );
    return failed(isJson, exitCode, { code, message, mend });
  }
}

/** Says that the results do not arrive. The code is never that of a command which is done. */
export function unwritten(args: readonly string[], { code = 'unknown' }: NodeJS.ErrnoException): ExitCode {
  return failed(args.includes('--json'), EXIT.refused, {
    code: 'output_failed',
    message: `The output cannot be written (${code}).`,
    mend: 'What the command did stays in effect. Is the disk full?',
  });
}

interface Shown {
  readonly code: string;
  readonly message: string;
  readonly mend: string;
}

function failed(isJson: boolean, exitCode: ExitCode, error: Shown): ExitCode {
  const output = new Output(isJson);
  const lines = [error.message, ...(error.mend === '' ? [] : [`→ ${error.mend}`])];
  output.fault({ error }, lines.join('\n'));
  return exitCode;
}
