import { adminCommand, launcherName, version } from '@app/kernel';
import { writeEnvironment } from './init';
import { systemdUnit } from './systemd-unit';

const usage = (): string => `${launcherName()} <command>

  init            writes .env with fresh keys into this folder, and shows what to back up and a systemd unit
  start           runs the service
  worker          runs a worker: jobs and webhooks without the interface (PostgreSQL)
  migrate         brings the schema up to date
  admin COMMAND   runs a command of the operator; \`${adminCommand('--help')}\` lists them
  verify KIND …   checks a certificate, a proof or an audit log without the service
  unit            prints a systemd unit for this folder
  --version       prints the version

Settings are environment variables, or lines of a file .env in the working folder.
`;

interface Program {
  /** Runs the program by loading it. */
  readonly run: () => Promise<unknown>;
  /** The arguments that it always has. */
  readonly args?: readonly string[];
  /** Whether it has arguments of its own. */
  readonly takesArguments?: boolean;
}

const admin = () => import('../../admin/src/main.js');

const PROGRAMS: Readonly<Record<string, Program>> = {
  start: { run: () => import('../../api/src/main.js') },
  worker: { run: () => import('../../worker/src/main.js') },
  admin: { run: admin, takesArguments: true },
  migrate: { run: admin, args: ['db:migrate'], takesArguments: true },
  verify: { run: () => import('./verify.js'), takesArguments: true },
};

/** Runs one command of `lethe-server`. Answers the exit code; a program that is started sets its own. */
export async function launch([name = '--help', ...args]: readonly string[]): Promise<number | undefined> {
  const program = own(PROGRAMS, name);
  const isWithin = program?.takesArguments === true || args.length === 0;
  if (program !== undefined && isWithin) {
    process.argv.splice(2, process.argv.length, ...(program.args ?? []), ...args);
    await program.run();
    return undefined;
  }
  const command = own(OWN, name);
  if (command === undefined || args.length > 0) {
    const isKnown = command !== undefined || program !== undefined;
    const fault = isKnown ? `${name} takes no argument.` : await unknown(name);
    process.stderr.write(`${fault}\n\n${usage()}`);
    return 2;
  }
  return command();
}

/** What the table has under a name, and no member of every object. */
function own<Entry>(table: Readonly<Record<string, Entry>>, name: string): Entry | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

async function unknown(name: string): Promise<string> {
  const { COMMANDS } = await import('../../admin/src/admin.js');
  const isOfAdmin = COMMANDS.some((command) => command.name === name);
  return `There is no command ${name}.${isOfAdmin ? ` Did you mean \`${adminCommand(name)}\`?` : ''}`;
}

const shows = (text: () => string) => (): number => {
  process.stdout.write(text());
  return 0;
};

const OWN: Readonly<Record<string, () => number>> = {
  init: () => writeEnvironment(process.cwd()),
  unit: shows(() => systemdUnit(process.cwd())),
  '--version': shows(() => `${version()}\n`),
  '--help': shows(usage),
  '-h': shows(usage),
  help: shows(usage),
};
