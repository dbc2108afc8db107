import { rmSync } from 'node:fs';
import { Writable } from 'node:stream';
import { readConfig } from '@app/kernel';
import { runCommand } from '../../apps/admin/src/admin';
import type { ScriptRun } from './child-script';
import type { TestDatabase } from './database';
import { PATIENT } from './patient';
import { Service } from './service';

type Environment = Readonly<Record<string, string>>;

/**
 * Runs a command of `npm run admin` in this process: many times faster than in its own, for commands that are not killed
 * and do not fail at their start.
 */
export async function adminHere(args: readonly string[], environment: Environment): Promise<ScriptRun> {
  const taken = { stdout: '', stderr: '', output: '' };
  const into = (name: 'stdout' | 'stderr'): Writable =>
    new Writable({
      write: (chunk: Buffer, _, done) => {
        taken[name] += chunk.toString();
        taken.output += chunk.toString();
        done();
      },
    });
  const terminal = {
    config: () => readConfig({ ...PATIENT, ...environment }),
    stdout: into('stdout'),
    stderr: into('stderr'),
  };
  const umask = process.umask(0o077);
  try {
    const code = await runCommand(args, terminal);
    return { code, ...taken };
  } finally {
    process.umask(umask);
  }
}

/** A service in this process with the methods of one in its own process. */
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

  /** Of the service that runs. */
  get app(): Service['app'] {
    if (this.service === undefined) throw new Error('the service does not run');
    return this.service.app;
  }

  async start(): Promise<this> {
    const service = new Service({ ...this.database.settings, ...this.environment }, this.database);
    service.port = this.port;
    this.service = await service.start();
    this.port = service.port;
    return this;
  }

  /** Ends the service in order, if it runs. */
  async end(): Promise<void> {
    const { service } = this;
    this.service = undefined;
    await service?.app.close();
    if (service !== undefined) rmSync(service.directory, { recursive: true, force: true });
  }
}
