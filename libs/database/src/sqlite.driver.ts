import Sqlite12 from 'better-sqlite3';
import Sqlite13 from 'better-sqlite3-napi';

/** The first major version of Node.js that better-sqlite3 13 runs on. */
const NAPI_SINCE = 22;

/**
 * better-sqlite3, in the version that the running Node.js needs. Version 12 aborts the process on Node.js 24.19 and
 * newer when a statement is garbage collected; version 13 does not run on Node.js 20. Each loads its native part when
 * the first database is opened, so that the other one costs nothing.
 */
export const SqliteDatabase = Number(process.versions.node.split('.')[0]) >= NAPI_SINCE ? Sqlite13 : Sqlite12;

/**
 * How long a connection that is being opened waits for a lock, in milliseconds. Another program that closes the file, such
 * as the `sqlite3` shell, moves the log into it first, and locks the whole file meanwhile.
 */
export const OPENING_MS = 10_000;
