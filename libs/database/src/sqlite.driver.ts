import { createRequire } from 'node:module';
import type Sqlite from 'better-sqlite3';
import { OwnError } from '@app/kernel';

/** The first major version of Node.js that better-sqlite3 13 runs on. */
const NAPI_SINCE = 22;

/**
 * better-sqlite3, in the version that the running Node.js needs. Version 12 aborts the process on Node.js 24.19 and
 * newer when a statement is garbage collected; version 13 does not run on Node.js 20. Each loads its native part when
 * the first database is opened, so that the other one costs nothing.
 */
export const SqliteDatabase = sqliteDriver(
  Number(process.versions.node.split('.')[0]) >= NAPI_SINCE ? 'better-sqlite3-napi' : 'better-sqlite3',
);

/**
 * How long a connection that is being opened waits for a lock, in milliseconds. Another program that closes the file, such
 * as the `sqlite3` shell, moves the log into it first, and locks the whole file meanwhile.
 */
export const OPENING_MS = 10_000;

/** npm leaves version 13 out of an installation by Node.js 20. Without its driver a process still works with PostgreSQL. */
export function sqliteDriver(name: string): typeof Sqlite {
  try {
    return createRequire(__filename)(name) as typeof Sqlite;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    return class {
      constructor() {
        throw new OwnError(
          `The SQLite driver ${name} is not installed: another version of Node.js, or npm with --omit=optional, has made this installation. Run \`npm ci\` with the Node.js that runs Lethe (${process.version})`,
        );
      }
    } as unknown as typeof Sqlite;
  }
}
