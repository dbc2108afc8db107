import { LoggerService } from '@nestjs/common';
import pino, { DestinationStream, Logger } from 'pino';

/** Injection token of the process's pino Logger. */
export const LOGGER = Symbol('Logger');

/**
 * Structured JSON log on standard output. Lines hold request ids, routes and statuses; never keys, secrets, ids of
 * users or stored values, so nothing that is not listed here by name may be handed to it.
 */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = { level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** Nest's own messages in the same log. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, context?: string): void {
    this.logger.debug({ context }, String(message));
  }

  warn(message: unknown, context?: string): void {
    this.logger.warn({ context }, String(message));
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.logger.error({ context: rest.at(-1) }, String(message));
  }

  fatal(message: unknown, context?: string): void {
    this.logger.fatal({ context }, String(message));
  }

  debug(message: unknown, context?: string): void {
    this.logger.trace({ context }, String(message));
  }
}

/** What may be logged of an unforeseen error: its kind, code and place; messages and parameters can hold values. */
export function describeFault(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { fault: typeof error };
  const { code, query, constraint } = error as Error & Record<'code' | 'query' | 'constraint', unknown>;
  const frames = error.stack
    ?.split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 12)
    .join('\n');
  return { fault: error.name, code, query, constraint, frames };
}
