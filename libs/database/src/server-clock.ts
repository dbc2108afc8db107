import type { Tx } from './tx';
import type { UnitOfWork } from './unit-of-work';

/**
 * `ms`, or the time of the server of the database where that is later: the clock of one machine can be behind that of others. A
 * SQLite file has one machine.
 */
export async function notBeforeServer(database: UnitOfWork | Tx, ms: number): Promise<number> {
  if (database.engine === 'sqlite') return ms;
  const sql = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) AS ms';
  return Math.max(ms, Number((await database.get<{ ms: string }>(sql))?.ms));
}
