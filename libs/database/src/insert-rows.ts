import type { SqlValue, Tx } from './tx';

/** Inserts rows, and answers how many the engine has inserted or changed. */
export type InsertRows = (tx: Tx, rows: readonly (readonly SqlValue[])[]) => Promise<number>;

/**
 * An insertion of any number of rows: by one statement on PostgreSQL, whose rows are in the order of their first three
 * columns, and one by one on SQLite. `into` names the table; `end` is what follows the values. All columns are text but
 * those in `numbers`.
 */
export function insertion(
  into: `INSERT INTO ${string}`,
  columns: readonly string[],
  end: string,
  numbers: readonly string[] = [],
): InsertRows {
  const head = `${into} (${columns.join(', ')})`;
  const one = `${head} VALUES (${columns.map(() => '?').join(', ')}) ${end}`;
  const lists = columns.map((column) => (numbers.includes(column) ? '?::bigint[]' : '?::text[]'));
  const all = `${head} SELECT * FROM unnest(${lists.join(', ')}) AS given ORDER BY 1, 2, 3 ${end}`;
  return async (tx, rows) => {
    if (rows.length === 0) return 0;
    if (tx.engine === 'postgres')
      return tx.run(all, ...columns.map((_, at) => rows.map((row) => row[at] ?? null)));
    let done = 0;
    for (const row of rows) done += await tx.run(one, ...row);
    return done;
  };
}

/**
 * Finds at most one row for each key, in their order; undefined where there is none. An act of a single caller, `isAlone`, waits
 * for rows that another unit has locked; for several callers such rows are undefined too.
 */
export type FindRows<Row> = (
  tx: Tx,
  keys: readonly (readonly string[])[],
  isAlone: boolean,
) => Promise<readonly (Row | undefined)[]>;

/**
 * A search in `table` by its columns `key`, which are unique, with a row lock if one is named: one statement on PostgreSQL, in the order of the
 * keys.
 */
export function finding<Row>(
  table: string,
  key: readonly string[],
  columns: readonly string[],
  lock?: 'FOR UPDATE' | 'FOR KEY SHARE',
): FindRows<Row> {
  const shown = columns.map((column) => `${table}.${column}`).join(', ');
  const one = `SELECT ${shown} FROM ${table} WHERE ${key.map((column) => `${column} = ?`).join(' AND ')} ${lock ?? ''}`;
  const all = `SELECT given.place, ${shown}
    FROM unnest(${key.map(() => '?::text[]').join(', ')}) WITH ORDINALITY AS given (${key.join(', ')}, place)
    JOIN ${table} ON ${key.map((column) => `${table}.${column} = given.${column}`).join(' AND ')}
    ORDER BY ${key.map((column) => `${table}.${column}`).join(', ')} ${lock === undefined ? '' : `${lock} OF ${table}`}`;
  return async (tx, keys, isAlone) => {
    const found = new Array<Row | undefined>(keys.length).fill(undefined);
    if (tx.engine === 'sqlite' || (isAlone && keys.length === 1))
      for (const [at, values] of keys.entries()) found[at] = await tx.get<Row>(one, ...values);
    else {
      const lists = key.map((_, at) => keys.map((values) => values[at] ?? ''));
      const sql = isAlone || lock === undefined ? all : `${all} SKIP LOCKED`;
      for (const row of await tx.all<Row & { place: number }>(sql, ...lists))
        found[Number(row.place) - 1] = row;
    }
    return found;
  };
}
