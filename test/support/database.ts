import type { Database } from 'better-sqlite3';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { allMigrations, type Engine, keysPath, type SqlValue, SqliteDatabase } from '@app/database';
import { readConfig } from '@app/kernel';
import { Client, types } from 'pg';
import { schemaSource } from '../../ormconfig';

/** The engine of this run of the suites, from jest.config.js. */
export const engine: Engine = (globalThis as { testEngine?: Engine }).testEngine ?? 'sqlite';

/** The package of the SQLite driver for the Node.js that runs (libs/database/src/sqlite.driver.ts), for code that is no module of Lethe. */
export const SQLITE_PACKAGE =
  Number(process.versions.node.split('.')[0]) >= 22 ? 'better-sqlite3-napi' : 'better-sqlite3';

/** The database of one service under test. */
export interface TestDatabase {
  readonly url: string;
  /** The settings by which a service uses it: through a pooler, if TEST_POOLER_PORT names one. */
  readonly settings: Readonly<Record<string, string>>;
  /** Reads rows beside the service; placeholders are `?`. */
  rows<Row>(sql: string, ...values: readonly SqlValue[]): Promise<Row[]>;
  /** Several reads through one connection; on SQLite each read otherwise opens the file anew. */
  session<T>(work: (rows: TestDatabase['rows']) => Promise<T>): Promise<T>;
  /**
   * Every table with its columns, ordered by name; tables of keys have the prefix `keys.`. On SQLite the keys of the
   * subjects are a view over their slots.
   */
  tables(): Promise<{ name: string; columns: string[] }[]>;
  /** Changes rows without the service. */
  run(sql: string, ...values: readonly SqlValue[]): Promise<void>;
  /** Closes the connection of these reads: the next one has the settings of a new connection. */
  disconnect(): Promise<void>;
  drop(): Promise<void>;
}

/** An empty database; on PostgreSQL with the schema in it, copied from a template. */
export async function newDatabase(directory: string): Promise<TestDatabase> {
  return engine === 'sqlite' ? sqliteFile(join(directory, 'lethe.db')) : await PostgresDatabase.create();
}

/** A database without a schema. */
export async function bareDatabase(directory: string): Promise<TestDatabase> {
  return engine === 'sqlite' ? sqliteFile(join(directory, 'lethe.db')) : await PostgresDatabase.createBare();
}

/** The SQLite file at `path`, whatever engine the suites run on. */
export function sqliteFile(path: string): TestDatabase {
  return new SqliteFile(path);
}

/** The database of a server of the test itself. */
export function databaseAt(url: string): TestDatabase {
  return PostgresDatabase.at(url);
}

class SqliteFile implements TestDatabase {
  readonly url: string;

  constructor(private readonly path: string) {
    this.url = `sqlite:${path}`;
  }

  get settings(): Record<string, string> {
    return { DATABASE_URL: this.url };
  }

  async rows<Row>(sql: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.use((database) => database.prepare(sql).all(...values) as Row[]);
  }

  async session<T>(work: (rows: TestDatabase['rows']) => Promise<T>): Promise<T> {
    return this.use((database) =>
      work(async (sql, ...values) => database.prepare(sql).all(...values) as never),
    );
  }

  async tables(): Promise<{ name: string; columns: string[] }[]> {
    const columns: Column[] = [];
    for (const [schema, prefix] of existsSync(this.keysPath) ? SCHEMAS : SCHEMAS.slice(0, 1)) {
      const sql = `SELECT ? || t.name AS table_name, c.name AS column_name
        FROM ${schema}.sqlite_master t JOIN pragma_table_info(t.name, '${schema}') c
        WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite_%' AND t.name <> 'key_slots' ORDER BY t.name, c.cid`;
      columns.push(...(await this.rows<Column>(sql, prefix)));
    }
    return tablesOf(columns);
  }

  async run(sql: string, ...values: readonly SqlValue[]): Promise<void> {
    await this.use((database) => database.prepare(sql).run(...values));
  }

  async disconnect(): Promise<void> {
    // A file is opened for each read.
  }

  async drop(): Promise<void> {
    for (const path of [this.path, this.keysPath])
      for (const suffix of ['', '-wal', '-shm', '.lock']) rmSync(path + suffix, { force: true });
  }

  private get keysPath(): string {
    return keysPath(this.path);
  }

  private async use<T>(look: (database: Database) => T | Promise<T>): Promise<T> {
    const database = new SqliteDatabase(this.path, { timeout: 60_000 });
    try {
      if (existsSync(this.keysPath)) database.prepare('ATTACH DATABASE ? AS keys').run(this.keysPath);
      return await look(database);
    } finally {
      database.close();
    }
  }
}

/** The schemas, each with the prefix of its table names. */
const SCHEMAS = [
  ['main', ''],
  ['keys', 'keys.'],
] as const;

interface Column {
  readonly table_name: string;
  readonly column_name: string;
}

function tablesOf(columns: readonly Column[]): { name: string; columns: string[] }[] {
  const tables = new Map<string, string[]>();
  for (const { table_name: name, column_name: column } of columns)
    tables.set(name, [...(tables.get(name) ?? []), column]);
  return [...tables].map(([name, columnNames]) => ({ name, columns: columnNames }));
}

/** The address of a database of the server through a pooler of this machine. */
export function throughPooler(url: string, port: number | string): string {
  return Object.assign(new URL(url), { port: String(port) }).href;
}

/** Named by the text of the migrations: checkouts with others use the same server at the same time. */
const TEMPLATE = `lethe_template_${digestOf(allMigrations().map(String)).slice(0, 16)}`;
/** The advisory lock of the process that makes the template. */
const TEMPLATE_LOCK = 7_221;

class PostgresDatabase implements TestDatabase {
  /** Kept open: a new connection costs more than most queries and has no cached metadata. */
  private client: Promise<Client> | undefined;

  private constructor(
    readonly url: string,
    /** Of a database of the shared server, which is dropped with it. */
    private readonly name?: string,
  ) {}

  static at(url: string): PostgresDatabase {
    return new PostgresDatabase(url);
  }

  get settings(): Record<string, string> {
    const port = process.env['TEST_POOLER_PORT'];
    if (port === undefined) return { DATABASE_URL: this.url };
    return { DATABASE_URL: throughPooler(this.url, port), DATABASE_DIRECT_URL: this.url };
  }

  static async createBare(): Promise<PostgresDatabase> {
    const name = newName();
    await onServer((server) => server.query(`CREATE DATABASE ${name}`));
    return new PostgresDatabase(urlOf(name), name);
  }

  static async create(): Promise<PostgresDatabase> {
    const name = newName();
    await onServer(async (server) => {
      await server.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
      const { rowCount } = await server.query('SELECT 1 FROM pg_database WHERE datname = $1', [TEMPLATE]);
      if (rowCount === 0) await makeTemplate(server);
      // Copies files (from version 15 on), which is faster for a small schema.
      const { rows } = await server.query<{ server_version_num: string }>('SHOW server_version_num');
      const strategy = Number(rows[0]?.server_version_num) >= 150_000 ? ' STRATEGY file_copy' : '';
      await server.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}${strategy}`);
    });
    return new PostgresDatabase(urlOf(name), name);
  }

  async rows<Row>(sql: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    let count = 0;
    const text = sql.replace(/\?/g, () => `$${++count}`);
    const client = await this.connected();
    return (await client.query(text, [...values])).rows as Row[];
  }

  session<T>(work: (rows: TestDatabase['rows']) => Promise<T>): Promise<T> {
    return work((sql, ...values) => this.rows(sql, ...values));
  }

  async tables(): Promise<{ name: string; columns: string[] }[]> {
    return tablesOf(
      await this.rows<Column>(
        `SELECT CASE table_schema WHEN 'keys' THEN 'keys.' ELSE '' END || table_name AS table_name, column_name
         FROM information_schema.columns
         WHERE table_schema IN ('public', 'keys')
           AND table_name NOT IN (SELECT relname FROM pg_class WHERE relispartition)
         ORDER BY table_schema = 'keys', table_name COLLATE "C", ordinal_position`,
      ),
    );
  }

  async run(sql: string, ...values: readonly SqlValue[]): Promise<void> {
    await this.rows(sql, ...values);
  }

  async disconnect(): Promise<void> {
    await (await this.client)?.end();
  }

  async drop(): Promise<void> {
    await this.disconnect();
    if (this.name !== undefined)
      await onServer((server) => server.query(`DROP DATABASE ${this.name} WITH (FORCE)`));
  }

  private connected(): Promise<Client> {
    const gone = () => (this.client = undefined);
    this.client ??= connect(this.url).then(
      (client) => client.once('end', gone),
      (error: unknown) => {
        gone();
        throw error;
      },
    );
    return this.client;
  }
}

/** Makes the schema once; every suite begins with a copy. */
async function makeTemplate(server: Client): Promise<void> {
  const making = `${TEMPLATE}_making`;
  await server.query(`DROP DATABASE IF EXISTS ${making} WITH (FORCE)`);
  await server.query(`CREATE DATABASE ${making}`);
  const source = schemaSource(readConfig({ DATABASE_URL: urlOf(making) }));
  await source.initialize();
  await source.runMigrations({ transaction: 'all' });
  await source.destroy();
  await server.query(`ALTER DATABASE ${making} RENAME TO ${TEMPLATE}`);
}

function newName(): string {
  return `lethe_${randomBytes(8).toString('hex')}`;
}

function urlOf(name: string): string {
  const url = new URL(process.env['TEST_POSTGRES_URL'] ?? '');
  url.pathname = `/${name}`;
  return url.href;
}

async function onServer<T>(use: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect(urlOf('postgres'));
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

async function connect(url: string): Promise<Client> {
  const getTypeParser = (oid: number) =>
    [20, 1700].includes(oid) ? Number : (types.getTypeParser(oid) as (text: string) => unknown);
  const client = new Client({ connectionString: url, types: { getTypeParser } });
  // A stopped server is reported here, and by the next query.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

function digestOf(texts: readonly string[]): string {
  return createHash('sha256').update(texts.join('\n')).digest('hex');
}
