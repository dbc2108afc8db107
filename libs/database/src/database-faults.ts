import { ApiError } from '@app/kernel';

/** The engine cannot do it now; nothing was changed. */
export function databaseUnavailable(): ApiError {
  return new ApiError(
    'service_unavailable',
    'The database cannot do this now; nothing was changed, try again',
  );
}

/** The connection was lost between the order to commit and its confirmation: either may be true. */
export function outcomeUnknown(): ApiError {
  return new ApiError(
    'service_unavailable',
    'The connection to the database was lost during the commit: look whether it took effect, then try again',
  );
}

/** An act of several units came to a stop behind the first of them. */
export function partlyDone(): ApiError {
  return new ApiError(
    'service_unavailable',
    'The database could not do all of this: part of it is done, repeat the request to go on',
  );
}

/** What a caller is told of an error behind the first unit of an act: no 503 may say that nothing was changed. */
export function asPartlyDone(error: unknown): unknown {
  return error instanceof ApiError && error.code === 'service_unavailable' ? partlyDone() : error;
}

/** The bot was deleted after the request had been authenticated. */
export function botDeleted(): ApiError {
  return new ApiError('unauthorized', 'The API key is not valid any more');
}

const SQLITE_UNAVAILABLE = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|NOMEM|PROTOCOL)/;

/**
 * PostgreSQL: connection (08), read-only after a failover (25006), time-outs of idle units and transactions (25P0x),
 * a password or database that is being changed (28, 3D), no resources (53), out of limits (54 is no such),
 * a lock that was not free in time (55P03), cancelled or shutting down (57), the system's own errors (58, XX).
 */
const POSTGRES_UNAVAILABLE = /^(08|25006|25P0[34]|28|3D|40|53|55P03|57|58)/;

/** What Node says of a connection that cannot be had or was lost. */
const CONNECTION = /^(ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT$)/;

/** Errors of the driver and its pool that carry no code. */
const CONNECTION_MESSAGE =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|The server does not support SSL|Query read timeout)/;

/** The code of a driver's error, also where TypeORM has wrapped it. */
export function driverCode(error: unknown): string {
  const { code, driverError } = (error ?? {}) as { code?: unknown; driverError?: { code?: unknown } };
  const found = driverError?.code ?? code;
  return typeof found === 'string' ? found : '';
}

/** Whether the connection itself is gone, so that nothing more can be asked over it. */
export function isConnectionLost(error: unknown): boolean {
  const code = driverCode(error);
  return (
    CONNECTION.test(code) ||
    /^(08|57P)/.test(code) ||
    CONNECTION_MESSAGE.test(String((error as Error).message))
  );
}

/** Whether a unit that was undone may succeed when it is run again: it met another one (SQLSTATE 40001, 40P01). */
export function isCollision(error: unknown): boolean {
  return ['40001', '40P01'].includes(driverCode(error));
}

/** What a caller is told of an error inside a unit: engine trouble becomes 503, all else stays what it is. */
export function translateFault(error: unknown): unknown {
  if (error instanceof ApiError) return error;
  const code = driverCode(error);
  if (SQLITE_UNAVAILABLE.test(code) || (code.length === 5 && POSTGRES_UNAVAILABLE.test(code)))
    return databaseUnavailable();
  if (isConnectionLost(error)) return databaseUnavailable();
  // Every foreign key leads to the bot.
  if (code === 'SQLITE_CONSTRAINT_FOREIGNKEY' || code === '23503') return botDeleted();
  return error;
}
