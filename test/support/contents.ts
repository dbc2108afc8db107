import type { TestDatabase } from './database';

export type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** Every row of every table, without those about the schema and the processes. */
export async function contentsOf(database: TestDatabase): Promise<Rows> {
  const found: Record<string, Record<string, unknown>[]> = {};
  for (const { name, columns } of await database.tables()) {
    if (name === 'migrations' || name === 'job_leases') continue;
    const list = columns.map((column) => `"${column}"`).join(', ');
    found[name] = sorted(await database.rows<Record<string, unknown>>(`SELECT ${list} FROM ${name}`));
  }
  return found;
}

function sorted<T>(rows: readonly T[]): T[] {
  const byText = (a: T, b: T) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
  return [...rows].sort(byText);
}

/** The part of `rows` that fits the tables and columns of `others`. */
export function within(rows: Rows, others: Rows): Rows {
  return Object.fromEntries(
    Object.entries(others).map(([name, [first]]) => [
      name,
      sorted(
        (rows[name] ?? []).map((row) =>
          Object.fromEntries(Object.keys(first ?? {}).map((column) => [column, row[column]])),
        ),
      ),
    ]),
  );
}
