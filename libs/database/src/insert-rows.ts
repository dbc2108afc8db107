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
