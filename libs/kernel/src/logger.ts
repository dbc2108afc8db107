import { fstatSync } from 'node:fs';
import { LoggerService } from '@nestjs/common';
import pino, { DestinationStream, Logger } from 'pino';
import { SonicBoom } from 'sonic-boom';
import { ApiError, OwnError } from './errors';

/** Injection token of the process's pino Logger. */
export const LOGGER = Symbol('Logger');

/**
 * Structured JSON log on standard output. Lines hold request ids, routes and statuses. They never hold keys, secrets,
 * ids of users or stored values: a caller passes only fields that are known to be safe.
 */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = { level, base: undefined, timestamp: isoTime };
  return destination === undefined ? pino(options) : pino(options, destination);
}

let second = -1;
let secondText = '';

/** The time of a line, ISO 8601. The part that all lines of one second share is formatted once. */
function isoTime(): string {
  const nowMs = Date.now();
  const millis = nowMs % 1000;
  if (nowMs - millis !== second) {
    second = nowMs - millis;
    secondText = `,"time":"${new Date(second).toISOString().slice(0, 20)}`;
  }
  return `${secondText}${String(millis).padStart(3, '0')}Z"`;
}

/** The fields of the log line of a request. No text in it holds a character that JSON escapes. */
export interface RequestLine {
  readonly requestId: string;
  readonly method: string;
  /** null for an unknown path. */
  readonly route: string | null;
  readonly status: number;
  readonly botId: string | undefined;
  readonly durationMs: number;
}

const INFO = pino.levels.values['info'];

/** Writes one line in the format of pino without its serializers, since every request writes one. */
export function logRequest(logger: Logger, line: RequestLine): void {
  if (!logger.isLevelEnabled('info')) return;
  const { requestId, method, route, status, botId, durationMs } = line;
  const stream = Reflect.get(logger, pino.symbols.streamSym) as DestinationStream;
  stream.write(
    `{"level":${INFO}${isoTime()},"requestId":"${requestId}","method":"${method}","route":${route === null ? 'null' : `"${route}"`},` +
      `"status":${status}${botId === undefined ? '' : `,"botId":"${botId}"`},"durationMs":${durationMs},"msg":"request"}\n`,
  );
}

/** Lines are written when this number of bytes waits, or after this time in milliseconds. */
const BLOCK_BYTES = 8_192;
const FLUSH_MS = 250;
/**
 * The most bytes of one write. There is one write in a turn of the event loop: with the 16 KiB that sonic-boom takes by
 * itself, 64 lines a turn are more than it writes.
 */
const WRITE_MAX_BYTES = 256 * 1024;
/** The most bytes that wait or are being written. Further lines are dropped. */
const WAITING_MAX_BYTES = 8 * 1024 * 1024;
/** The longest time that the end of a process waits for its last lines, in milliseconds. */
const END_MAX_MS = 500;

/** Where lines are written. It has no `flushSync`, which pino would call at each fatal line: it waits for a slow reader. */
interface LogDestination extends DestinationStream {
  /** Emits `error` when lines cannot be written, `write` when some are, and `drop` for each that is not kept. */
  readonly sonic: SonicBoom;
}

/**
 * Writes lines to a file descriptor in blocks, outside the event loop; with 0 as `blockBytes` each line at once. A full disk, a slow reader or a reader that has
 * ended stops neither the process nor its end: lines are kept and written later. `pino.destination` also flushes when the
 * process exits, and throws if that flush fails. sonic-boom 4, which pino asks for, repeats a failed write at the exit
 * without an end.
 */
export function logDestination(fd = 1, blockBytes = BLOCK_BYTES): LogDestination {
  // A pipe without this property would block a write, and with it the end of the process.
  if (fd === 1 && !fstatSync(fd).isFile()) void process.stdout;
  let endMs = Infinity;
  const sonic = new SonicBoom({
    fd,
    // Among texts, each line would cost the reading of all that wait for the same write.
    contentMode: 'buffer',
    minLength: blockBytes,
    maxWrite: WRITE_MAX_BYTES,
    maxLength: WAITING_MAX_BYTES,
    periodicFlush: FLUSH_MS,
    retryEAGAIN: () => performance.now() < endMs,
  });
  // Without a listener a fault would end the process.
  sonic.on('error', () => undefined);
  process.once('exit', () => {
    endMs = performance.now() + END_MAX_MS;
    try {
      sonic.flushSync();
    } catch {
      // What cannot be written does not hold up the end.
    }
  });
  // Its types know only texts.
  return { sonic, write: (line) => void sonic.write(Buffer.from(line) as unknown as string) };
}

/** The contexts in which Nest logs an error that it also throws. The caller reports that error in readable lines. */
const THROWN_ON: readonly unknown[] = ['ExceptionHandler', 'NestApplication'];

/**
 * Writes the messages of Nest's Logger to the same log: a sentence, and after it an object whose entries become fields
 * of the line, as in `logger.error('The job failed and is run again in 60 s', describeFault(error))`.
 */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    if (!THROWN_ON.includes(rest.at(-1))) this.write('error', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  private write(
    level: 'trace' | 'debug' | 'warn' | 'error' | 'fatal',
    message: unknown,
    rest: readonly unknown[],
  ): void {
    const context = rest.at(-1);
    const fields = Object.assign({}, ...rest.filter((value) => typeof value === 'object')) as object;
    if (message instanceof Error)
      this.logger[level]({ context, ...describeFault(message), ...fields }, 'NestJS reported a fault');
    else this.logger[level]({ context, ...fields }, String(message));
  }
}

/**
 * The parts of an unforeseen error that may be logged: its kind, code and place, and `reason`, the message, for Lethe's
 * own errors. Messages and parameters of other errors can hold values.
 */
export function describeFault(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { fault: typeof error };
  const isOwn =
    error instanceof OwnError ||
    // By name: it belongs to a library of the same level.
    error.name === 'UnreadableSecretError' ||
    (error instanceof ApiError && error.status >= 500);
  const { code, query, constraint } = error as Error & Record<'code' | 'query' | 'constraint', unknown>;
  const frames = error.stack
    ?.split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 12)
    .join('\n');
  const reason = isOwn ? error.message : undefined;
  return { fault: error.name, reason, code, query, constraint, frames };
}
