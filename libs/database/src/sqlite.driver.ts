import type Sqlite from 'better-sqlite3';

/** The first major version of Node.js that better-sqlite3 13 runs on. */
const NAPI_SINCE = 22;

/**
 * better-sqlite3, in the version that the running Node.js needs. Version 12 aborts the process on Node.js 24.19 and
 * newer when a statement is garbage collected; version 13 does not run on Node.js 20. Each loads its native part when
 * the first database is opened, so that the other one costs nothing.
 */
export const { SqliteDatabase, missing: missingDriver } = sqliteDriver(
  Number(process.versions.node.split('.')[0]) >= NAPI_SINCE
    ? ['better-sqlite3-napi', () => require('better-sqlite3-napi') as unknown]
    : ['better-sqlite3', () => require('better-sqlite3') as unknown],
);

/**
 * How long a connection that is being opened waits for a lock, in milliseconds. Another program that closes the file, such
 * as the `sqlite3` shell, moves the log into it first, and locks the whole file meanwhile.
 */
export const OPENING_MS = 10_000;

/**
 * The settings of every connection that writes, to the data or to the keys: a commit survives a power cut, and deleted text is
 * overwritten. Further ones are set where each connection is opened: for the data in sqlite.options.ts, for the keys in sqlite.tx.ts.
 */
export const WRITING = ['synchronous = FULL', 'secure_delete = ON'] as const;

/**
 * Loads a driver. npm leaves version 13 out of an installation by Node.js 20. A process without its driver still works with
 * PostgreSQL, so `missing` is for the operator who opens a SQLite database.
 */
export function sqliteDriver([name, load]: readonly [string, () => unknown]): {
  readonly SqliteDatabase: typeof Sqlite;
  readonly missing: string | undefined;
} {
  try {
    return { SqliteDatabase: load() as typeof Sqlite, missing: undefined };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    const missing = `The SQLite driver ${name} is not installed: another version of Node.js, or npm with --omit=optional, has made this installation. Install it again with the Node.js that runs Lethe (${process.version}), in a checkout by \`npm ci\``;
    const Missing = class {
      constructor() {
        throw new Error(missing);
      }
    };
    return { SqliteDatabase: Missing as unknown as typeof Sqlite, missing };
  }
}

/**
 * Does `work` on a file that is there, with the settings of a connection that writes unless it only reads, and closes the file.
 * Each statement waits for a lock as long as a connection that is being opened. For a command beside the service, or instead of it.
 */
export function withSqliteFile<T>(
  path: string,
  access: 'read' | 'write',
  work: (database: Sqlite.Database) => T,
): T {
  const readonly = access === 'read';
  const database = new SqliteDatabase(path, { readonly, fileMustExist: true, timeout: OPENING_MS });
  try {
    if (!readonly) for (const setting of WRITING) database.pragma(setting);
    return work(database);
  } finally {
    database.close();
  }
}
