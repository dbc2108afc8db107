import type { Exported, Room, Who } from './store';

/** Which columns or fields of a row an export has: all by default. */
export interface ExportedFields {
  /** These alone. */
  readonly columns?: readonly string[];
  /** All but these: secrets of the bot, and what is about other people. */
  readonly without?: readonly string[];
}

export type Fields = Readonly<Record<string, unknown>>;

/** @throws TypeError for both lists at once, and for what is no list of names */
export function requireFields({ columns, without }: ExportedFields): void {
  if (columns !== undefined && without !== undefined)
    throw new TypeError('Give columns or without, not both.');
  for (const names of [columns, without])
    if (
      names !== undefined &&
      !(Array.isArray(names) && names.length > 0 && names.every((one) => typeof one === 'string'))
    )
      throw new TypeError('columns and without are lists of at least one name.');
}

/** Names are compared without regard to case: a database may write them otherwise, and a secret would be exported. */
const isNamed = (names: readonly string[]): ((name: string) => boolean) => {
  const all = new Set(names.map((name) => name.toLowerCase()));
  return (name) => all.has(name.toLowerCase());
};

/** The fields of a row that are exported. */
export function chosen(row: Fields, { columns, without }: ExportedFields): Fields {
  if (columns === undefined && without === undefined) return row;
  const isIn = isNamed(columns ?? without ?? []);
  return Object.fromEntries(Object.entries(row).filter(([name]) => isIn(name) === (columns !== undefined)));
}

/** @throws Error for a name in `without` that no column has: the column that is meant would be exported */
export function requireKnown(row: Fields | undefined, { without = [] }: ExportedFields): void {
  const isThere = isNamed(Object.keys(row ?? {}));
  const unknown = row === undefined ? undefined : without.find((name) => !isThere(name));
  if (unknown !== undefined) throw new Error(`without names ${unknown}, which is no column of the table.`);
}

/** The export of a store that lists rows: where the list is as long as it may be, all are counted. */
export async function listed(
  who: Who,
  { rows: most }: Room,
  list: (most: number) => PromiseLike<readonly unknown[]>,
  count: (who: Who) => Promise<number>,
): Promise<Exported> {
  const rows = await list(most);
  const all = rows.length < most ? rows.length : await count(who);
  return { rows, left_out: Math.max(0, all - rows.length) };
}
