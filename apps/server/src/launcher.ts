import { version } from '@app/kernel';
import { writeEnvironment } from './init';
import { writeUnit } from './systemd-unit';

const USAGE = `lethe-server <command>

  init            writes .env with fresh keys into this folder, and shows what to back up and a systemd unit
  start           runs the service
  worker          runs a worker: jobs and webhooks without the interface (PostgreSQL)
  migrate         brings the schema up to date
  admin COMMAND   runs a command of the operator; \`lethe-server admin --help\` lists them
  verify KIND …   checks a certificate, a proof or an audit log without the service
  unit            prints a systemd unit for this folder
  --version       prints the version

Settings are environment variables, or lines of a file .env in the working folder.
`;

interface Program {
  /** Runs the program by loading it. */
  readonly run: () => Promise<unknown>;
  /** The arguments that its own begin with. */
  readonly args?: readonly string[];
  /** It takes arguments, and has a usage of its own. */
  readonly takesArguments?: true;
}

const admin = () => import('../../admin/src/main.js');

const PROGRAMS: Readonly<Record<string, Program>> = {
  start: { run: () => import('../../api/src/main.js') },
  worker: { run: () => import('../../worker/src/main.js') },
  admin: { run: admin, takesArguments: true },
  migrate: { run: admin, args: ['db:migrate'], takesArguments: true },
  verify: { run: () => import('./verify.js'), takesArguments: true },
};

const HELP: readonly string[] = ['--help', '-h', 'help'];

/** Runs one command of `lethe-server`. Answers the exit code; a program that is started sets its own. */
export async function launch([name = '--help', ...args]: readonly string[]): Promise<number | undefined> {
  const [program, own] = [PROGRAMS[name], OWN[name]];
  if (program === undefined && own === undefined) return refuses(`There is no command ${name}.`);
  if (program?.takesArguments !== true && args.length > 0) {
    const isHelp = args.every((each) => HELP.includes(each));
    return isHelp ? help() : refuses(`${name} takes no argument.`);
  }
  if (own !== undefined) return own();
  process.argv.splice(2, process.argv.length, ...(program?.args ?? []), ...args);
  await program?.run();
  return undefined;
}

function refuses(fault: string): number {
  process.stderr.write(`${fault}\n\n${USAGE}`);
  return 2;
}

function shows(text: string): number {
  process.stdout.write(text);
  return 0;
}

const help = (): number => shows(USAGE);

const OWN: Readonly<Record<string, () => number>> = {
  init: () => writeEnvironment(process.cwd()),
  unit: () => writeUnit(process.cwd()),
  '--version': () => shows(`${version()}\n`),
  ...Object.fromEntries(HELP.map((name) => [name, help])),
};
