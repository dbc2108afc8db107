import { driverCode, isConnectionLost } from '@app/database';
import { StartError } from '@app/kernel';
import { listOf, type MovedTable, quoted, type Row } from './moved-tables';

/** What PostgreSQL refuses in a row, and SQLite has stored, by SQLSTATE. */
const OF_ROW: Readonly<Record<string, string>> = {
  '22001': 'a text is longer than its column allows',
  '22003': 'a number is larger than its column allows',
  '22021': 'a text holds a NUL character, which PostgreSQL cannot store',
  '22P02': 'a value is no whole number',
  '23502': 'a value that its column needs is missing',
  '23503': 'a row to which it refers is missing',
  '23505': 'another row has the same values, which must be unique',
};

/** Whether PostgreSQL refuses a value (22) or a constraint is broken (23). */
export function isOfRow(error: unknown): boolean {
  return /^2[23]/.test(driverCode(error));
}

/**
 * The refusal of the first row that `insert` does not take after those before it, without its values.
 * @param rows those that were refused together
 * @param last the place of the last of them in the order of the key, from 1
 */
export async function rowFault(
  error: unknown,
  table: MovedTable,
  rows: readonly Row[],
  last: number,
  insert: (row: Row) => Promise<void>,
): Promise<StartError> {
  const before = last - rows.length;
  for (const [index, row] of rows.entries())
    try {
      await insert(row);
    } catch (refused) {
      if (!isOfRow(refused)) throw refused;
      return faultOf(refused, table, `row ${before + index + 1}`, 1, before + index);
    }
  return faultOf(error, table, `rows ${before + 1} to ${last}`, rows.length, before);
}

function faultOf(
  error: unknown,
  table: MovedTable,
  which: string,
  limit: number,
  offset: number,
): StartError {
  const code = driverCode(error);
  return new StartError(
    `The target refuses ${which} of ${table.name} in the order of the key: ${OF_ROW[code] ?? 'a rule of the table'} (${code}). ` +
      'Nothing of the batch was moved. Correct it in the source and run this again: it continues with this batch. ' +
      `To see it there: SELECT * FROM ${quoted(table.name)} ORDER BY ${listOf(table.key)} LIMIT ${limit} OFFSET ${offset}`,
  );
}

/** What ends a move and is not its own refusal, in words and with the remedy; any other error as it is. */
export function readable(error: unknown): unknown {
  if (error instanceof StartError) return error;
  const code = driverCode(error);
  const again = 'un this again: it continues where it ended.';
  if (isConnectionLost(error))
    return new StartError(
      `The connection to PostgreSQL was lost (${code || (error as Error).message}). R${again}`,
    );
  if (code.startsWith('57'))
    return new StartError(`PostgreSQL has cancelled a statement of the move (${code}). R${again}`);
  if (code === '53100')
    return new StartError(
      `The disk of the PostgreSQL server is full (${code}). Make room there, then r${again}`,
    );
  if (code.startsWith('53'))
    return new StartError(
      `The PostgreSQL server lacks memory, connections or another resource (${code}). R${again}`,
    );
  return error;
}
