import { BOT_WIDE_GUILD_ID } from '../vocabulary';

/** A `Pool` of `pg`. A `Client` has the transactions of the bot. */
export interface PgDatabase {
  query(text: string, values: never): Promise<unknown>;
  /** Which a `Client` has not. */
  readonly totalCount: number;
}

/** A `Database` of `better-sqlite3`, or a `DatabaseSync` of `node:sqlite`. */
export interface SqliteDatabase {
  prepare(text: string): { all(...values: never[]): unknown; run(...values: never[]): unknown };
  /** Whether the bot is in a transaction, by better-sqlite3 and by node:sqlite. */
  readonly inTransaction?: boolean;
  readonly isTransaction?: boolean;
}

/** A pool of `mysql2/promise`. A connection has the transactions of the bot. */
export interface MysqlDatabase {
  execute(text: string, values: never): Promise<unknown>;
  /** Which a connection has not. */
  getConnection(): Promise<unknown>;
}

export type SqlDatabase = PgDatabase | SqliteDatabase | MysqlDatabase;
export type Row = Readonly<Record<string, unknown>>;

/** What differs between the engines. Texts have the placeholder `?`. */
export interface SqlDialect {
  rows(text: string, ...values: string[]): Promise<readonly Row[]>;
  /** Rows as they are: whole numbers with all digits, and days of the calendar without a time. */
  records(text: string, ...values: string[]): Promise<readonly Row[]>;
  run(text: string, ...values: string[]): Promise<void>;
  /** @throws TypeError for a name that needs more than letters, digits and `_` */
  quoted(name: string): string;
  /** The condition that a column holds an id, and the id as often as the condition takes it. */
  is(column: string, id: string): readonly [condition: string, ...values: string[]];
  /** The condition that a column of numbers holds the bot-wide scope, whose zeros are 0 there. */
  isZero(column: string): string;
  upsert(table: string, keys: readonly string[], value: string): string;
  /** Asks whether there is a table, with its name as the only value. */
  readonly isTable: string;
  /** SQLite takes texts of any length in a column with a length. */
  readonly takesAnyLength?: true;
}

/** @throws TypeError for an object of no known driver */
export function dialectOf(database: SqlDatabase): SqlDialect {
  const given = (database ?? {}) as Partial<PgDatabase & SqliteDatabase & MysqlDatabase>;
  if (typeof (given as { promise?: unknown }).promise === 'function')
    throw new TypeError('The database is one of mysql2 with callbacks: give database.promise().');
  // A connection of mysql2/promise has `prepare` too.
  if (typeof given.execute === 'function') {
    requirePool(typeof given.getConnection === 'function', 'a connection of mysql2', 'createPool()');
    return mysqlOf(given as MysqlDatabase);
  }
  if (typeof given.prepare === 'function') return sqliteOf(given as SqliteDatabase);
  if (typeof given.query === 'function') {
    requirePool(
      typeof given.totalCount === 'number',
      'no Pool of pg (for TypeORM take holders.typeorm)',
      'new pg.Pool()',
    );
    return pgOf(given as PgDatabase);
  }
  throw new TypeError(
    'The database must be a Pool of pg, a Database of better-sqlite3 or node:sqlite, or a pool of mysql2/promise.',
  );
}

/** What the bot rolls back on a connection of its own would be there again, after the answer that it is erased. */
function requirePool(isPool: boolean, given: string, made: string): void {
  if (!isPool)
    throw new TypeError(
      `The database is ${given}: a transaction of the bot on it could take an erasure back. Give the pool that ${made} makes.`,
    );
}

/** The parts of a name, `schema.table`, each in the quotes of the engine. */
function quotedWith(quote: string): (name: string) => string {
  return (name) => {
    if (
      typeof name !== 'string' ||
      !/^[\p{L}_][\p{L}\d_$]{0,62}(?:\.[\p{L}_][\p{L}\d_$]{0,62})?$/u.test(name)
    )
      throw new TypeError(
        `${JSON.stringify(name)} is no name of a table or column: letters, digits and _ only.`,
      );
    return name
      .split('.')
      .map((part) => `${quote}${part}${quote}`)
      .join('.');
  };
}

const onConflict = (table: string, keys: readonly string[], value: string): string =>
  `INSERT INTO ${table} (${[...keys, value].join(', ')}) VALUES (${[...keys, value].map(() => '?').join(', ')}) ` +
  `ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${value} = excluded.${value}`;

/** The type `date` of PostgreSQL, which pg reads as midnight in the zone of the process. */
const PG_DATE = 1082;

function pgOf(database: PgDatabase): SqlDialect {
  const ask = database.query.bind(database) as (
    text: string,
    values: string[],
  ) => Promise<{ rows?: unknown; fields?: readonly { name: string; dataTypeID: number }[] }>;
  const asked = async (text: string, values: string[]) => {
    let at = 0;
    const { rows, fields = [] } = await ask(
      text.replace(/\?/g, () => `$${(at += 1)}`),
      values,
    );
    if (!Array.isArray(rows)) throw new TypeError('The answer has no rows: give a Pool of pg.');
    return { rows: rows as Row[], fields };
  };
  const rows = async (text: string, ...values: string[]): Promise<readonly Row[]> =>
    (await asked(text, values)).rows;
  return {
    rows,
    records: async (text, ...values) => {
      const { rows: found, fields } = await asked(text, values);
      const days = new Set(fields.filter(({ dataTypeID }) => dataTypeID === PG_DATE).map(({ name }) => name));
      return days.size === 0
        ? found
        : found.map((row) => mapped(row, (one, name) => (days.has(name) ? dayOf(one) : one)));
    },
    run: async (text, ...values) => void (await rows(text, ...values)),
    quoted: quotedWith('"'),
    // A column of floating-point numbers holds the same number for several ids.
    is: (column, id) => [`(${column} = ? AND CAST(${column} AS TEXT) = ?)`, id, id],
    isZero: (column) => `(${column} = '${BOT_WIDE_GUILD_ID}' AND CAST(${column} AS TEXT) = '0')`,
    upsert: onConflict,
    isTable: 'SELECT 1 AS found WHERE to_regclass(?) IS NOT NULL',
  };
}

function sqliteOf(database: SqliteDatabase): SqlDialect {
  const prepared = (text: string) =>
    database.prepare(text) as { all(...values: string[]): Row[]; run(...values: string[]): unknown };
  /** What the bot rolls back would be there again, after the answer that it is erased. */
  const alone = <T>(act: () => T): T => {
    const isInside = database.inTransaction ?? database.isTransaction;
    if (isInside === true) throw inTransaction();
    if (isInside === false) return act();
    // node:sqlite says it from Node.js 22.16 on. A BEGIN in a transaction fails.
    try {
      prepared('BEGIN').run();
    } catch (error) {
      throw /within a transaction/.test(String(error)) ? inTransaction() : error;
    }
    try {
      const answer = act();
      prepared('COMMIT').run();
      return answer;
    } catch (error) {
      try {
        prepared('ROLLBACK').run();
      } catch {
        // SQLite has done so by itself.
      }
      throw error;
    }
  };
  return {
    rows: async (text, ...values) => alone(() => prepared(text).all(...values)),
    records: async (text, ...values) => {
      const found = alone(() => {
        const statement = prepared(text) as ReturnType<typeof prepared> & WholeNumbers;
        // Of better-sqlite3 and of node:sqlite. An id in a column of numbers would lose digits.
        statement.safeIntegers?.(true);
        statement.setReadBigInts?.(true);
        return statement.all(...values);
      });
      return found.map((row) => mapped(row, plainNumber));
    },
    run: async (text, ...values) => void alone(() => prepared(text).run(...values)),
    // A name in double quotes that is none of a column is a text for SQLite: no row, and no error.
    quoted: quotedWith('`'),
    // A column without a type holds a number that equals no text; one of the type REAL holds the same number for several ids. The
    // plus takes from CAST its affinity, by which a column of texts would be read as numbers, past its index.
    is: (column, id) => [
      `((${column} = ? OR ${column} = +CAST(? AS INTEGER)) AND CAST(${column} AS TEXT) = ?)`,
      id,
      id,
      id,
    ],
    isZero: (column) => `(${column} = 0 AND typeof(${column}) <> 'text')`,
    upsert: onConflict,
    takesAnyLength: true,
    isTable: "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = ?",
  };
}

const inTransaction = (): Error =>
  new Error('The bot is in a transaction on this connection: give the holder one of its own.');

interface WholeNumbers {
  safeIntegers?(isOn: boolean): unknown;
  setReadBigInts?(isOn: boolean): unknown;
}

const mapped = (row: Row, change: (value: unknown, name: string) => unknown): Row =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, change(value, name)]));

const plainNumber = (value: unknown): unknown =>
  typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;

/** The day that a driver has read as midnight in the zone of the process. */
function dayOf(value: unknown): unknown {
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) return value;
  const parts = [value.getFullYear(), value.getMonth() + 1, value.getDate()];
  return parts.map((part, at) => String(part).padStart(at === 0 ? 4 : 2, '0')).join('-');
}

function mysqlOf(database: MysqlDatabase): SqlDialect {
  const ask = database.execute.bind(database) as (
    text: string | object,
    values: string[],
  ) => Promise<[unknown]>;
  return {
    rows: async (text, ...values) => (await ask(text, values))[0] as Row[],
    records: async (text, ...values) =>
      (await ask({ sql: text, supportBigNumbers: true, dateStrings: ['DATE'] }, values))[0] as Row[],
    run: async (text, ...values) => void (await ask(text, values)),
    quoted: quotedWith('`'),
    // MySQL compares a text and a BIGINT as floating-point numbers, by which the ids of two users may be equal.
    is: (column, id) => [`(${column} = ? AND CAST(${column} AS CHAR) = ?)`, id, id],
    isZero: (column) => `(${column} = '${BOT_WIDE_GUILD_ID}' AND CAST(${column} AS CHAR) = '0')`,
    upsert: (table, keys, value) =>
      `REPLACE INTO ${table} (${[...keys, value].join(', ')}) VALUES (${[...keys, value].map(() => '?').join(', ')})`,
    isTable:
      'SELECT 1 AS found FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?',
  };
}
