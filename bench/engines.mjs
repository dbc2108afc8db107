import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { keysPath } from './lethe.keys.mjs';
import { Database as SqliteDatabase } from './sqlite.driver.mjs';
import pg from 'pg';
import { temporaryDirectory } from '../scripts/server.mjs';
import { startPostgres } from './postgres.mjs';

/** Less than the second after which PostgreSQL searches for a deadlock. */
const LOCK_TIMEOUT_MS = 200;
const BEGIN = `BEGIN; SET LOCAL lock_timeout = '${LOCK_TIMEOUT_MS}ms'`;
const LOCK_NOT_AVAILABLE = '55P03';
const TRIES_MAX = 100;

/** The SQL of the seeds for both engines. */
class Sqlite {
  constructor(url) {
    this.path = url.replace('sqlite:', '');
    this.database = new SqliteDatabase(this.path, { timeout: 10_000 });
    this.database.pragma('cache_size = -65536');
  }

  /** The keys of the installation of a Lethe. */
  async serviceKeys() {
    const keys = new SqliteDatabase(keysPath(this.path), { readonly: true });
    const rows = keys.prepare('SELECT name, id, sealed FROM service_keys').all();
    keys.close();
    return rows;
  }

  /** From here on `digest` gives the digests of this key. */
  useDigests(key, length) {
    const digest = (text) => createHmac('sha256', key).update(text).digest('base64url').slice(0, length);
    this.database.function('keyed_digest', { deterministic: true }, digest);
    this.digest = (text) => `keyed_digest(${text})`;
  }

  async all(sql) {
    return this.database.prepare(sql).all();
  }

  async run(...statements) {
    this.database.transaction(() => statements.forEach((sql) => this.database.exec(sql)))();
  }

  /** `{ column: type }`, empty for a table that is not there. */
  async columns(table) {
    const rows = await this.all(`SELECT name, type FROM pragma_table_info('${table}')`);
    return Object.fromEntries(rows.map(({ name, type }) => [name, type]));
  }

  series = (from, to) =>
    `(WITH RECURSIVE s (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM s WHERE n < ${to}) SELECT n FROM s)`;
  padded = (value, digits) => `printf('%0${digits}d', ${value})`;
  cast = (expression) => expression;
  empty = (table) => `DELETE FROM ${table}`;

  /** Brings the file into the state of one that has been in use for long. */
  async settle() {
    this.database.pragma('wal_checkpoint(TRUNCATE)');
  }

  async close() {
    this.database.close();
  }
}

class Postgres {
  static async open(url) {
    const database = new Postgres();
    // A server that is stopped during a run reports it once more on every connection.
    database.client = new pg.Client(url).on('error', () => undefined);
    await database.client.connect();
    // Seeds are known to be whole: no foreign key is looked up row by row.
    await database.client.query('SET session_replication_role = replica');
    return database;
  }

  async all(sql) {
    return (await this.client.query(sql)).rows;
  }

  serviceKeys() {
    return this.all('SELECT name, id, sealed FROM keys.service_keys');
  }

  /** HMAC-SHA-256 of two hashes, without an extension. */
  useDigests(key, length) {
    const block = Buffer.concat([key, Buffer.alloc(64 - key.length)]);
    const padded = (by) => `'\\x${Buffer.from(block.map((byte) => byte ^ by)).toString('hex')}'::bytea`;
    const hmac = (text) =>
      `sha256(${padded(0x5c)} || sha256(${padded(0x36)} || convert_to(${text}, 'UTF8')))`;
    this.digest = (text) => `substr(translate(encode(${hmac(text)}, 'base64'), '+/', '-_'), 1, ${length})`;
  }

  /** Tries again while a server still stores the results of its webhook calls, which must not be the one to fail. */
  async run(...statements) {
    for (let tries = 1; ; tries++) {
      try {
        await this.client.query(`${BEGIN}; ${statements.join('; ')}; COMMIT`);
        return;
      } catch (error) {
        await this.client.query('ROLLBACK');
        if (error.code !== LOCK_NOT_AVAILABLE || tries === TRIES_MAX) throw error;
        await pause(LOCK_TIMEOUT_MS);
      }
    }
  }

  async columns(table) {
    const rows = await this.all(`SELECT column_name AS name, data_type AS type FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name = '${table}'`);
    return Object.fromEntries(rows.map(({ name, type }) => [name, type]));
  }

  series = (from, to) => `(SELECT n::integer FROM generate_series(${from}, ${to}) AS s (n)) AS s`;
  padded = (value, digits) => `lpad((${value})::text, ${digits}, '0')`;
  cast = (expression, type) => `(${expression})::${type}`;
  empty = (table) => `TRUNCATE ${table}`;

  /** As autovacuum would before long. */
  async analyze(tables) {
    await this.client.query(`ANALYZE ${tables.join(', ')}`);
  }

  /** Sets a sequence, where there is one of this name, past the highest value in use. */
  async advance(sequence, highest) {
    const [found] = await this.all(`SELECT to_regclass('${sequence}') IS NOT NULL AS is_there`);
    if (found.is_there) await this.all(`SELECT setval('${sequence}', (${highest}) + 1)`);
  }

  async settle() {
    await this.client.query('VACUUM ANALYZE');
    await this.client.query('CHECKPOINT');
  }

  async close() {
    await this.client.end();
  }
}

function sqlite() {
  const directory = temporaryDirectory();
  return {
    name: 'sqlite',
    title: 'SQLite',
    createDatabase: async (name) => `sqlite:${join(directory, `${name}.db`)}`,
    open: async (url) => new Sqlite(url),
    directory,
    stop: async () => undefined,
  };
}

async function postgres() {
  return {
    ...(await startPostgres()),
    name: 'postgres',
    title: 'PostgreSQL',
    open: (url) => Postgres.open(url),
  };
}

export const ENGINES = { sqlite, postgres };
