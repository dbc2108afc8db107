import { ApiError } from '@app/common';

/** The engine cannot do it now; nothing was changed. */
export function databaseUnavailable(): ApiError {
  return new ApiError(
    'service_unavailable',
    'The database cannot do this now; nothing was changed, try again',
  );
}

const UNAVAILABLE = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|NOMEM|PROTOCOL)/;

/** The code of a driver's error, also where TypeORM has wrapped it. */
export function driverCode(error: unknown): string {
  const { code, driverError } = (error ?? {}) as { code?: unknown; driverError?: { code?: unknown } };
  const found = driverError?.code ?? code;
  return typeof found === 'string' ? found : '';
}

/** What a caller is told of an error inside a unit: engine trouble becomes 503, all else stays what it is. */
export function translateFault(error: unknown): unknown {
  const code = driverCode(error);
  if (UNAVAILABLE.test(code)) return databaseUnavailable();
  // Every foreign key leads to the bot: it was deleted after this request had been authenticated.
  if (code === 'SQLITE_CONSTRAINT_FOREIGNKEY')
    return new ApiError('unauthorized', 'The API key is not valid any more');
  return error;
}
