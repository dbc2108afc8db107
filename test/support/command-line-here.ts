import { Readable, Writable } from 'node:stream';
import { run } from '@lethe/cli/program';
import { CommandLine, type Environment, type Ran } from './command-line';

/**
 * `lethe` in an empty folder and in this process: many times faster than in its own, for commands that end by themselves. One
 * after the other, since the folder and the environment of the process are those of the command meanwhile.
 */
export class CommandLineHere extends CommandLine {
  override async run(args: readonly string[], environment: Environment = {}): Promise<Ran> {
    const ran = { stdout: '', stderr: '' };
    const into = (name: 'stdout' | 'stderr'): Writable =>
      new Writable({
        write: (chunk: Buffer, _, written) => {
          ran[name] += chunk.toString();
          this.written += chunk.toString();
          written();
        },
      });
    const leave = entered(this.directory, this.environment(environment), {
      ...{ stdin: Readable.from([]), stdout: into('stdout'), stderr: into('stderr') },
    });
    try {
      return { code: await run(args), ...ran };
    } finally {
      leave();
    }
  }

  /** The same in a process of its own. */
  apart(args: readonly string[], environment: Environment = {}): Promise<Ran> {
    return super.run(args, environment);
  }

  /**
   * Runs a command that has to succeed. The first of its name in a file runs in a process of its own, which has to end by
   * itself with all that it has written.
   */
  async done(...args: string[]): Promise<Ran> {
    const name = args
      .filter((arg) => /^[a-z]+$/.test(arg))
      .slice(0, 2)
      .join(' ');
    const isFirst = !ended.has(name);
    ended.add(name);
    const ran = await (isFirst ? this.apart(args) : this.run(args));
    expect(ran).toMatchObject({ code: 0 });
    return ran;
  }
}

/** The commands that have run in a process of their own for this file. */
const ended = new Set<string>();

type Streams = Readonly<Record<'stdin' | 'stdout' | 'stderr', Readable | Writable>>;

let isEntered = false;

/** Gives this process another folder, environment and streams until the answered function is called. */
function entered(directory: string, environment: Environment, streams: Streams): () => void {
  if (isEntered) throw new Error('A command runs in this process already.');
  const [folder, variables] = [process.cwd(), { ...process.env }];
  const own = Object.keys(streams).map(
    (name) => [name, Object.getOwnPropertyDescriptor(process, name)] as const,
  );
  isEntered = true;
  process.chdir(directory);
  become(environment);
  for (const [name, value] of Object.entries(streams))
    Object.defineProperty(process, name, { value, configurable: true });
  return () => {
    for (const [name, property] of own) Object.defineProperty(process, name, property ?? {});
    become(variables);
    process.chdir(folder);
    isEntered = false;
  };
}

function become(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
}
