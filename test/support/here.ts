import { rmSync } from 'node:fs';
import { Writable } from 'node:stream';
import { readConfig } from '@app/kernel';
import type { Terminal } from '@app/runtime';
import { runCommand } from '../../apps/admin/src/admin';
import { type Command, exitCodeOf } from '../../apps/api/src/command';
import { migrate } from '../../apps/api/src/migrate-command';
import { move } from '../../apps/api/src/move-command';
import type { ScriptRun } from './child-script';
import type { TestDatabase } from './database';
import { Service } from './service';

type Environment = Readonly<Record<string, string>>;

/**
 * A command of `npm run admin` in this process: many times faster than one of its own, for commands that are not killed and
 * do not fail while they start.
 */
export function adminHere(args: readonly string[], environment: Environment): Promise<ScriptRun> {
  return here(args, environment, runCommand);
}

/** `npm run migrate:engine` in this process. */
export function moveHere(args: readonly string[], environment: Environment): Promise<ScriptRun> {
  return here(args, environment, exitCodeBy(move));
}

/** `npm run migration:run` or `migration:revert` in this process. */
export function migrateHere(args: readonly string[], environment: Environment): Promise<ScriptRun> {
  return here(args, environment, exitCodeBy(migrate));
}

const exitCodeBy = (command: Command) => (args: readonly string[], terminal: Terminal) =>
  exitCodeOf(command, args, terminal);

async function here(
  args: readonly string[],
  environment: Environment,
  run: (args: readonly string[], terminal: Terminal) => Promise<number>,
): Promise<ScriptRun> {
  const taken = { stdout: '', stderr: '', output: '' };
  const into = (name: 'stdout' | 'stderr'): Writable =>
    new Writable({
      write: (chunk: Buffer, _, done) => {
        taken[name] += chunk.toString();
        taken.output += chunk.toString();
        done();
      },
    });
  const terminal = { config: () => readConfig(environment), stdout: into('stdout'), stderr: into('stderr') };
  const umask = process.umask(0o077);
  try {
    const code = await run(args, terminal);
    return { code, ...taken };
  } finally {
    process.umask(umask);
  }
}

/** A service in this process that is started and ended like one of its own. */
export class ServiceHere {
  private service: Service | undefined;
  private port = 0;

  constructor(
    private readonly database: TestDatabase,
    private readonly environment: Environment,
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<this> {
    const service = new Service({ DATABASE_URL: this.database.url, ...this.environment }, this.database);
    service.port = this.port;
    this.service = await service.start();
    this.port = service.port;
    return this;
  }

  /** In order; does nothing where none runs. */
  async end(): Promise<void> {
    const { service } = this;
    this.service = undefined;
    await service?.app.close();
    if (service !== undefined) rmSync(service.directory, { recursive: true, force: true });
  }
}
