import { ApiError } from '@app/kernel';

const UNDONE = '; nothing was changed, try again';

/** The engine cannot do the act now. Nothing was changed. */
export function databaseUnavailable(): ApiError {
  return new ApiError('service_unavailable', `The database cannot do this now${UNDONE}`);
}

/** The server is in recovery. It refuses every write, and what it has may be older than what was answered. */
export function databaseIsStandby(): ApiError {
  return new ApiError('service_unavailable', `The database is a standby and may be behind${UNDONE}`);
}

/** Whether the engine could not do the act and nothing was changed, so that the same act can be tried again. */
export function isUndone(error: unknown): boolean {
  return error instanceof ApiError && error.message.endsWith(UNDONE);
}

/** The connection was lost, or the disk failed, during the COMMIT. It may have taken effect or not. */
export function outcomeUnknown(): ApiError {
  return new ApiError(
    'service_unavailable',
    'The database failed during the commit: look whether it took effect, then try again',
  );
}

/** The answer to an error after the first unit of an act was committed. A 503 must not say that nothing was changed. */
export function asPartlyDone(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== 'service_unavailable') return error;
  return new ApiError(
    error.code,
    'The database could not do all of this: part of it is done, repeat the request to go on',
  );
}

/** The bot was deleted after the authentication of the request. */
export function botDeleted(): ApiError {
  return new ApiError('unauthorized', 'The API key is not valid any more');
}

const SQLITE_UNAVAILABLE = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|NOMEM|PROTOCOL)/;

/**
 * PostgreSQL: connection (08), read-only after a failover (25006), time-outs of idle transactions (25P0x), login or
 * database not available (28, 3D), collisions (40), no resources (53), a lock that was not free in time (55P03),
 * cancelled or shutting down (57), errors of the system (58).
 */
const POSTGRES_UNAVAILABLE = /^(08|25006|25P0[34]|28|3D|40|53|55P03|57|58)/;

/** Codes of Node for a connection that cannot be opened or was lost. */
const CONNECTION =
  /^(ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EADDRNOTAVAIL|EHOST(UNREACH|DOWN)|ENET(UNREACH|DOWN)|E[MN]FILE$|ENOENT$)/;

/** Codes of Node and OpenSSL for a certificate that is not accepted, or another fault of TLS. */
const TLS =
  /CERT|CRL|^ERR_(TLS|SSL)|^UNABLE_TO_|^EPROTO$|^INVALID_(CA|PURPOSE)$|^PATH_LENGTH_|^HOSTNAME_MISMATCH$/;
/** The same faults as messages of the driver. */
const TLS_MESSAGE = /^(The server does not support SSL|There was an error establishing an SSL)/;

/** Messages of the driver and its pool for errors without a code. */
const CONNECTION_MESSAGE =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|Query read timeout)/;

/** A stored page that cannot be read: SQLite's codes with their extensions, and `data_corrupted`, `index_corrupted`. */
const DAMAGE = /^(SQLITE_(CORRUPT|NOTADB|IOERR_(READ|SHORT_READ|DATA|CORRUPTFS))|XX00[12]$)/;

/** Whether a statement has met a damaged page, or a file that is no database any more. */
export function isDamage(error: unknown): boolean {
  return DAMAGE.test(driverCode(error));
}

/** No room for a page, or for the index of a log, on the disk of a SQLite file. */
const FULL = /^(SQLITE_(FULL|IOERR_SHM|IOERR_WRITE)|ENOSPC$)/;

/** Whether a full disk refuses to open a SQLite file; also for an error that another one has caused. */
export function isOfFullDisk(error: unknown): boolean {
  const { cause } = (error ?? {}) as { cause?: unknown };
  return FULL.test(driverCode(error)) || (cause !== undefined && isOfFullDisk(cause));
}

/** The code of a driver's error, also of one that TypeORM has wrapped. */
export function driverCode(error: unknown): string {
  const { code, driverError } = (error ?? {}) as { code?: unknown; driverError?: { code?: unknown } };
  const found = driverError?.code ?? code;
  return typeof found === 'string' ? found : '';
}

/** Whether a connection cannot be secured. */
export function isInsecure(error: unknown): boolean {
  return TLS.test(driverCode(error)) || TLS_MESSAGE.test(String((error as Error).message));
}

/** Whether the connection is lost, or cannot be opened, so that no further statement can use it. */
export function isConnectionLost(error: unknown): boolean {
  const code = driverCode(error);
  return (
    CONNECTION.test(code) ||
    /^(08|57P)/.test(code) ||
    isInsecure(error) ||
    CONNECTION_MESSAGE.test(String((error as Error).message))
  );
}

/**
 * Whether a unit that was undone may succeed in a further run: it collided with another unit (SQLSTATE 40001, 40P01).
 */
export function isCollision(error: unknown): boolean {
  return ['40001', '40P01'].includes(driverCode(error));
}

/** Whether a statement, or its wait for a lock, took too long in a unit that was undone: a part of it may succeed alone. */
export function isTimeOut(error: unknown): boolean {
  return error instanceof ApiError && ['55P03', '57014'].includes(driverCode(error.cause));
}

/**
 * Whether the database is unavailable for every unit. A time-out, or a page or block that cannot be read, may concern one row of the
 * unit that it undid: parts of this unit may succeed.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.code !== 'service_unavailable') return false;
  return !isTimeOut(error) && !isDamage(error.cause) && driverCode(error.cause) !== '58030';
}

/** The answer to an error inside a unit. Errors of the engine become 503; other errors stay unchanged. */
export function translateFault(error: unknown): unknown {
  if (error instanceof ApiError) return error;
  const code = driverCode(error);
  if (SQLITE_UNAVAILABLE.test(code) || (code.length === 5 && POSTGRES_UNAVAILABLE.test(code)))
    return Object.assign(databaseUnavailable(), { cause: error });
  if (isConnectionLost(error)) return databaseUnavailable();
  // Every foreign key refers to the bot.
  if (code === 'SQLITE_CONSTRAINT_FOREIGNKEY' || code === '23503') return botDeleted();
  return error;
}
