import { isDamage } from '@app/database';
import { ErasureReplay } from '@app/gdpr';
import {
  ApiError,
  type Config,
  ConfigError,
  createLogger,
  Degradations,
  describeFault,
  isForPeople,
  linesForPeople,
  loadConfig,
  logDestination,
  Metrics,
  printable,
  StartError,
} from '@app/kernel';
import type { INestApplicationContext } from '@nestjs/common';
import type { Logger } from 'pino';
import 'reflect-metadata';
import type { SonicBoom } from 'sonic-boom';
import { Health } from './health';
import type { Telemetry } from './telemetry';

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
 * Starts a process and keeps it running until a signal. Faults of the configuration or the database are written in
 * readable lines to standard error, and the exit code is 1.
 */
export async function startProcess(
  create: (config: Config, logger: Logger) => Promise<Application>,
): Promise<void> {
  try {
    await run(create);
  } catch (error) {
    process.stderr.write(printable(`${sayable(withoutRoom(error) ?? error)}\n`));
    process.exit(1);
  }
}

async function run(create: (config: Config, logger: Logger) => Promise<Application>): Promise<void> {
  const config = loadConfig();
  const isRead = isForPeople(config.logFormat, process.stdout);
  const log = logDestination(1, isRead ? 0 : undefined);
  const logger = createLogger(config.logLevel, isRead ? linesForPeople(log, process.stdout) : log);
  process.on('uncaughtException', (error) => {
    const noRoom = withoutRoom(error);
    logger.fatal(describeFault(noRoom ?? error), 'ended by an unforeseen error');
    if (noRoom !== undefined) process.stderr.write(`${noRoom.message}\n`);
    process.exit(1);
  });
  const shutdown = new Shutdown(config.shutdownTimeoutMs, logger);
  shutdown.watch();
  const app = await create(config, logger);
  // The SDK is loaded by a process that has a collector alone.
  const telemetry =
    config.otlpEndpoint === undefined
      ? undefined
      : (await import('./telemetry.js')).beginTelemetry(config, app.nest, logger);
  if (!shutdown.takes(app, telemetry)) return;
  observe(log.sonic, app);
  // No request is answered before data that a backup has brought back is erased again.
  await app.nest.get(ErasureReplay).run();
  if (shutdown.hasBegun) return;
  const { url, greeting } = await app.listen();
  if (shutdown.hasBegun) return;
  app.nest.get(Health).isServing = true;
  // A terminal shows the greeting, which holds the same address.
  if (!(process.stdout.isTTY && process.stderr.isTTY)) logger.info({ url }, 'listening');
  // The greeting is written to standard error, so that standard output holds only the structured log.
  process.stderr.write(greeting);
}

function sayable(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StartError) return error.message;
  if (isDamage(error))
    return 'The process cannot start: a part of the database is damaged or cannot be read. Keep its files, check the disk, then start again or restore a backup.';
  // A unit of the start itself: some before it may have been committed.
  if (error instanceof ApiError && error.code === 'service_unavailable')
    return 'The database failed while the process started. The log has the fault: check the disk or the server of the database, then start again.';
  return String((error as Error).stack);
}

/** The name of the condition in which lines of the log cannot be written. */
const LOG_FAILING = 'log_failing';

function observe(log: SonicBoom, { nest }: Application): void {
  const [degradations, metrics] = [nest.get(Degradations), nest.get(Metrics)];
  log.on('error', () => void degradations.note(LOG_FAILING, true));
  log.on('write', () => void degradations.note(LOG_FAILING, false));
  log.on('drop', () => metrics.count('logDropped'));
}

/** The remedy, if the process may not reserve the addresses that WebAssembly needs. They take hardly any memory. */
function withoutRoom(error: unknown): StartError | undefined {
  if (!/WebAssembly.*Out of memory/i.test(String(error))) return undefined;
  return new StartError(
    'The limit of the address space (ulimit -v, or LimitAS= of systemd) is too low: encryption runs in WebAssembly, which reserves tens of GB of ' +
      'addresses, and hardly any memory. Lift it (ulimit -v unlimited); to limit memory use MemoryMax= of systemd, or the limit of the container.',
  );
}

/**
 * npm repeats a Ctrl-C that the terminal has already sent to all processes. Within this time, in milliseconds, it
 * counts as the same signal.
 */
const SAME_SIGNAL_MS = 100;
/** The time for modules to drain and close, in milliseconds, after the time for running requests. */
const CLOSING_MS = 10_000;
/** What a collector may take of it in addition, in milliseconds. */
const COLLECTOR_MS = 3_000;

/**
 * Ends the process in order at SIGTERM and SIGINT, also during its start. The process becomes not ready, accepts no
 * further connection, answers the running requests, drains and closes the modules, and exits with 0. A second signal ends it at
 * once.
 */
class Shutdown {
  private app: Application | undefined;
  private telemetry: Telemetry | undefined;
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
  takes(app: Application, telemetry?: Telemetry): boolean {
    this.app = app;
    this.telemetry = telemetry;
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
    // A start has the same time: it can wait for a table that another program holds.
    setTimeout(
      () => {
        this.logger.fatal('the shutdown did not end in time');
        process.exit(1);
      },
      this.timeoutMs + CLOSING_MS + (this.telemetry === undefined ? 0 : COLLECTOR_MS),
    );
    if (this.app !== undefined) this.end(this.app);
  }

  private end(app: Application): void {
    this.close(app).then(
      () => process.exit(0),
      (error: unknown) => {
        this.logger.fatal(describeFault(error), 'the shutdown failed');
        process.exit(1);
      },
    );
  }

  private async close(app: Application): Promise<void> {
    app.nest.get(Health).isServing = false;
    if (!(await app.drain(this.timeoutMs))) this.logger.warn('requests still under way were cut');
    await this.telemetry?.endMetrics();
    await app.nest.close();
    await this.telemetry?.endSpans();
    this.logger.info('stopped');
  }
}

/** The error for an address that cannot be used, with the remedy; `setting` is the one of the port. */
export function listenFault(
  error: unknown,
  { host, port, setting }: { host: string; port: number; setting: string },
): unknown {
  const noAddress = `HOST names ${host}, which is not an address of this machine.`;
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} of ${host} is in use. Stop the program that listens there, or choose another port with ${setting}.`,
    EACCES: `Port ${port} may not be used by this user. Choose one above 1023 with ${setting}.`,
    EADDRNOTAVAIL: noAddress,
    ENOTFOUND: noAddress,
    EAI_AGAIN: noAddress,
  };
  const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''];
  return reason === undefined ? error : new StartError(reason);
}
