import { OwnError } from '@app/kernel';
import type { Pool, PoolClient } from 'pg';
import { isConnectionLost, outcomeUnknown } from './database-faults';

/**
 * Keeps the process alive when a connection is lost: an `error` event without a listener ends the process. A unit on the
 * connection gets the error from its statements. The pool announces a connection before it removes its own listener.
 */
export function survivesLosses(pool: Pool): void {
  const ignore = (): void => undefined;
  pool.on('acquire', (client) => client.off('error', ignore).on('error', ignore));
}

/** SQLSTATE of a warning. With a COMMIT it comes when its wait for a synchronous standby was cancelled. */
const WARNING = '01000';

/**
 * Returns whether what is committed is also on the synchronous standby, where there has to be one.
 * @throws ApiError 503 when it is unknown whether the commit took effect
 */
export async function commit(client: PoolClient): Promise<boolean> {
  let isWarned = false;
  const hear = ({ code }: { readonly code: string | undefined }): void =>
    void (isWarned ||= code === WARNING);
  client.on('notice', hear);
  try {
    const { command } = await client.query('COMMIT');
    // PostgreSQL answers ROLLBACK when a statement has failed and the unit has caught its error.
    if (command !== 'COMMIT') throw new OwnError('The unit of work went on after a statement had failed');
  } catch (error) {
    throw isConnectionLost(error) ? outcomeUnknown() : error;
  } finally {
    client.off('notice', hear);
  }
  return !isWarned;
}

/** Resolves to false when the connection cannot be used again. */
export async function rolledBack(client: PoolClient, error: unknown): Promise<boolean> {
  if (isConnectionLost(error)) return false;
  try {
    await client.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}
