import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

const BINARY = 'redis-server';

/** `describe` on machines with Redis. Without it the tests are skipped with a notice; in CI they fail. */
export function describeWithRedis(name: string, tests: () => void): void {
  if (spawnSync(BINARY, ['--version']).status === 0) return describe(name, tests);
  if (process.env['CI'] === undefined) {
    process.stderr.write(`There is no ${BINARY} on the PATH: the tests of ${name} are skipped.\n`);
    return describe.skip(name, tests);
  }
  describe(name, () =>
    it(`needs ${BINARY} on the PATH`, () => {
      throw new Error(`there is no ${BINARY}`);
    }),
  );
}

/**
 * A free loopback port that the system gives to no connection and no other server while its Redis is away: it is below
 * those that are given without a wish.
 */
async function quietPort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 30_000);
    const placeholder = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      placeholder.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    placeholder.close();
    await once(placeholder, 'close');
    return port;
  }
}

/** A Redis for the calling test: a process on a free loopback port, without files. */
export class RedisServer {
  private readonly directory = mkdtempSync(join(tmpdir(), 'lethe-redis-'));
  private child: ChildProcess | undefined;
  private admin: Redis | undefined;

  private constructor(readonly port: number) {}

  /** A started Redis. Where another program has taken the port meanwhile, it starts on another one. */
  static async started(...options: string[]): Promise<RedisServer> {
    for (;;) {
      const server = new RedisServer(await quietPort());
      try {
        await server.start(...options);
        return server;
      } catch (error) {
        await server.remove();
        if (!(error instanceof Error && error.message.includes('Address already in use'))) throw error;
      }
    }
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts the process and waits until it accepts connections; a later start uses the same port. */
  async start(...options: string[]): Promise<void> {
    const fixed = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--dir', this.directory];
    const child = spawn(BINARY, [...fixed, ...options], { stdio: ['ignore', 'pipe', 'ignore'] });
    this.child = child;
    let output = '';
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes('Ready to accept connections')) resolve();
      });
      child.once('error', reject);
      child.once('close', () => reject(new Error(`${BINARY} has ended: ${output}`)));
    });
  }

  /** A client of the server, beside the service. */
  get client(): Redis {
    this.admin ??= new Redis(this.url, { enableReadyCheck: false }).on('error', () => undefined);
    return this.admin;
  }

  /** The number of connections accepted since the start. */
  async connections(): Promise<number> {
    return Number(/total_connections_received:(\d+)/.exec(await this.client.info('stats'))?.[1]);
  }

  /** Kills the process. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    this.child = undefined;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** From here on it accepts connections and answers none. */
  hang(): void {
    this.child?.kill('SIGSTOP');
  }

  wake(): void {
    this.child?.kill('SIGCONT');
  }

  async remove(): Promise<void> {
    this.admin?.disconnect();
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
