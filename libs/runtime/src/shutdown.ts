import type { INestApplicationContext } from '@nestjs/common';
import { describeFault } from '@app/kernel';
import type { Logger } from 'pino';
import { Readiness } from './readiness';

/** What a process does between its start and its end. */
export interface Application {
  readonly nest: INestApplicationContext;
  /** Answers where it listens, and what the operator reads of it. @throws StartError when the address cannot be had. */
  listen(): Promise<{ readonly url: string; readonly greeting: string }>;
  /** Takes no new connection and lets requests under way be answered; false when some had to be cut. */
  drain(timeoutMs: number): Promise<boolean>;
}

/** npm passes on a Ctrl-C that the terminal has sent to everyone already: within this it is the same signal. */
const SAME_SIGNAL_MS = 100;
/** What the modules are given to drain and close, beyond the time for requests under way. */
const CLOSING_MS = 10_000;

/**
 * Ends the process in order at SIGTERM and SIGINT, also while it is still starting: not ready, no new connections,
 * requests under way are answered, then the modules drain and close, then exit 0. A second signal ends it at once.
 */
export class Shutdown {
  private app: Application | undefined;
  private begunMs: number | undefined;

  constructor(
    private readonly timeoutMs: number,
    private readonly logger: Logger,
  ) {}

  /** There is nothing to begin any more. */
  get hasBegun(): boolean {
    return this.begunMs !== undefined;
  }

  /** From here on signals are obeyed. */
  watch(): void {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => this.receive(signal));
  }

  /** Hands over what has to be closed; false when a signal came before, so that there is nothing to start any more. */
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
