import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port';
import { canRun } from './programs';

const BINARY = 'redis-server';

/** `describe` on machines with Redis. */
export function describeWithRedis(name: string, tests: () => void): void {
  (canRun(BINARY) ? describe : describe.skip)(name, tests);
}

/** A Redis for the calling test: a process on a free loopback port, without files. */
export class RedisServer {
  private readonly directory = mkdtempSync(join(tmpdir(), 'lethe-redis-'));
  private child: ChildProcess | undefined;
  private admin: Redis | undefined;

  private constructor(readonly port: number) {}

  /** A Redis that is not running yet. */
  static async reserve(): Promise<RedisServer> {
    return new RedisServer(await freePort());
  }

  static async started(...options: string[]): Promise<RedisServer> {
    const server = await RedisServer.reserve();
    await server.start(...options);
    return server;
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
      child.once('exit', () => reject(new Error(`${BINARY} has ended: ${output}`)));
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
