import type { INestApplicationContext } from '@nestjs/common';
import { describeFault } from '@app/kernel';
import type { Logger } from 'pino';
import { Readiness } from './readiness';

/** The start and the end of a process. */
export interface Application {
  readonly nest: INestApplicationContext;
  /**
   * Returns the address of the process and the greeting for the operator. @throws StartError when the address cannot be
   * used
   */
  listen(): Promise<{ readonly url: string; readonly greeting: string }>;
  /** Accepts no new connection and answers the running requests. Resolves to false when some were cut. */
  drain(timeoutMs: number): Promise<boolean>;
}

/**
 * npm repeats a Ctrl-C that the terminal has already sent to all processes. Within this time, in milliseconds, it
 * counts as the same signal.
 */
const SAME_SIGNAL_MS = 100;
/** The time for modules to drain and close, in milliseconds, after the time for running requests. */
const CLOSING_MS = 10_000;

/**
 * Ends the process in order at SIGTERM and SIGINT, also during its start. The process becomes not ready, accepts no
 * connection, answers the running requests, drains and closes the modules, and exits with 0. A second signal ends it at
 * once.
 */
export class Shutdown {
  private app: Application | undefined;
  private begunMs: number | undefined;

  constructor(
    private readonly timeoutMs: number,
    private readonly logger: Logger,
  ) {}

  /** Whether a signal has arrived, so that nothing new may begin. */
  get hasBegun(): boolean {
    return this.begunMs !== undefined;
  }

  /** Starts to handle signals. */
  watch(): void {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => this.receive(signal));
  }

  /**
   * Registers the application for the shutdown. Returns false when a signal has already arrived: then nothing may
   * start.
   */
  takes(app: Application): boolean {
    this.app = app;
    if (this.begunMs === undefined) return true;
    this.end(app);
    return false;
  }

  private receive(signal: NodeJS.Signals): void {
    if (this.begunMs !== undefined) {
      if (performance.now() - this.begunMs > SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    this.begunMs = performance.now();
    this.logger.info({ signal }, 'shutting down');
    if (this.app !== undefined) this.end(this.app);
  }

  private end(app: Application): void {
    setTimeout(() => {
      this.logger.fatal('the shutdown did not end in time');
      process.exit(1);
    }, this.timeoutMs + CLOSING_MS);
    this.close(app).then(
      () => process.exit(0),
      (error: unknown) => {
        this.logger.fatal(describeFault(error), 'the shutdown failed');
        process.exit(1);
      },
    );
  }

  private async close(app: Application): Promise<void> {
    app.nest.get(Readiness).ready = false;
    if (!(await app.drain(this.timeoutMs))) this.logger.warn('requests still under way were cut');
    await app.nest.close();
    this.logger.info('stopped');
  }
}
