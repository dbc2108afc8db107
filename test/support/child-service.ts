import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import { PROCESS_ENVIRONMENT, startOf } from './build';
import { freePort } from './free-port';
import { until } from './until';

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

/** The log line of each kind of process once it runs. */
const RUNS = {
  api: /Lethe listens on http:\/\/127\.0\.0\.1:(\d+)/,
  worker: /Lethe's worker runs; .* http:\/\/127\.0\.0\.1:(\d+)\//,
} as const;

/** The service or a worker as a process of its own, which can be killed. */
export class ChildService {
  private child: ChildProcess;
  private stderr = '';
  private ending: Promise<Ending>;
  private port = 0;

  constructor(
    private readonly buildDirectory: string,
    readonly databasePath: string,
    private readonly environment: Readonly<Record<string, string>> = {},
    private readonly kind: keyof typeof RUNS = 'api',
    private readonly stdout: 'ignore' | 'pipe' | number = 'ignore',
  ) {}

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts the process; a further start takes the same port. @throws Error when it ends before it listens. */
  async start(): Promise<this> {
    this.port ||= await freePort();
    this.launch();
    const listening = new Promise<number>((resolvePort) => {
      this.child.stderr?.on('data', () => {
        const port = RUNS[this.kind].exec(this.stderr)?.[1];
        if (port !== undefined) resolvePort(Number(port));
      });
    });
    const ended = this.ending.then(({ code, stderr }) => {
      throw new Error(`the service ended with ${code}: ${stderr}`);
    });
    this.port = await Promise.race([listening, ended]);
    return this;
  }

  /** From here on the process no longer keeps its parent alive, and ends with it. */
  release(): void {
    this.child.unref();
    this.child.channel?.unref();
    (this.child.stderr as Socket | null)?.unref();
  }

  /** The reader of the log ends, while the process runs on. */
  endReader(): void {
    this.child.stdout?.destroy();
  }

  /** Sends a message to the process, and resolves to the message that it answers. */
  ask<Answered>(message: string): Promise<Answered> {
    return new Promise((resolveAnswer) => {
      this.child.once('message', resolveAnswer as (answered: unknown) => void);
      this.child.send(message);
    });
  }

  /** Starts the process and waits for its end: for starts that must be refused. */
  refused(): Promise<Ending> {
    this.launch();
    return this.ending;
  }

  /** Resolves when the condition is true. @throws Error when the process ends before that. */
  async untilOf(holds: () => Promise<boolean>, everyMs?: number): Promise<void> {
    let hasHeld = false;
    const held = until(async () => hasHeld || holds(), everyMs);
    const ended = this.ending.then(({ code, signal, stderr }) => {
      hasHeld = true;
      throw new Error(`the process ended with ${signal ?? code}: ${stderr}`);
    });
    await Promise.race([held, ended]);
  }

  /** Sends a signal and waits for the end; undefined only for a process that was never started. */
  end(signal: NodeJS.Signals): Promise<Ending> {
    this.child?.kill(signal);
    return this.ending;
  }

  private launch(): void {
    this.stderr = '';
    this.child = spawn(process.execPath, startOf(this.buildDirectory, this.kind), {
      cwd: dirname(this.databasePath),
      env: {
        ...PROCESS_ENVIRONMENT,
        PORT: String(this.port),
        WORKER_PORT: String(this.port),
        DATABASE_URL: `sqlite:${this.databasePath}`,
        RATE_LIMIT_TIERS: 'free=1000000',
        RATE_LIMIT_ANONYMOUS: '1000000',
        RATE_LIMIT_CONSOLE: '1000000',
        LOG_LEVEL: 'error',
        ...this.environment,
      },
      stdio: ['ignore', this.stdout, 'pipe', 'ipc'],
    });
    this.child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.ending = new Promise((resolveEnd) =>
      this.child.on('close', (code, signal) => resolveEnd({ code, signal, stderr: this.stderr })),
    );
  }
}
