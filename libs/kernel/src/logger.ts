import { LoggerService } from '@nestjs/common';
import pino, { DestinationStream, Logger } from 'pino';
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
interface RequestLine {
  readonly requestId: string;
  readonly method: string;
  readonly route: string | undefined;
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
    `{"level":${INFO}${isoTime()},"requestId":"${requestId}","method":"${method}","route":${route === undefined ? 'null' : `"${route}"`},` +
      `"status":${status}${botId === undefined ? '' : `,"botId":"${botId}"`},"durationMs":${durationMs},"msg":"request"}\n`,
  );
}

/** The context in which Nest logs an error that it also throws. The caller reports that error in readable lines. */
const THROWN_ON = 'ExceptionHandler';

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
    if (rest.at(-1) !== THROWN_ON) this.write('error', message, rest);
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
