import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { engine, type TestDatabase } from './database';

/** The part in a backup: the data or the keys. */
export type Part = 'data' | 'keys';

/** A copy of an unused database, restored later as a whole or in one of its parts. */
export class SavedDatabase {
  private constructor(
    private readonly database: TestDatabase,
    private readonly directory: string,
    private readonly copy: string,
  ) {}

  static async of(database: TestDatabase, path: string): Promise<SavedDatabase> {
    const copy =
      engine === 'sqlite' ? mkdtempSync(join(tmpdir(), 'lethe-saved-')) : `${nameOf(database)}_saved`;
    await database.disconnect();
    if (engine === 'sqlite') cpSync(dirname(path), copy, { recursive: true });
    else await onServer(`CREATE DATABASE ${copy} TEMPLATE ${nameOf(database)}`);
    return new SavedDatabase(database, dirname(path), copy);
  }

  async restore(parts: readonly Part[] = ['data', 'keys']): Promise<void> {
    if (engine === 'sqlite') {
      const names = { data: 'lethe.db', keys: 'keys.db' };
      for (const part of parts)
        for (const file of readdirSync(this.copy).filter((name) => name.startsWith(names[part])))
          cpSync(join(this.copy, file), join(this.directory, file));
      return;
    }
    const name = nameOf(this.database);
    if (!parts.includes('data')) throw new Error('The keys alone are restored on SQLite only');
    const present = parts.includes('keys') ? [] : await this.keyRows();
    await this.database.disconnect();
    await onServer(`DROP DATABASE ${name} WITH (FORCE)`);
    await onServer(`CREATE DATABASE ${name} TEMPLATE ${this.copy}`);
    for (const { table, rows } of present) {
      await this.database.run(`DELETE FROM ${table}`);
      await this.database.run(
        `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, ?)`,
        rows,
      );
    }
  }

  /** The rows of the schema `keys` as JSON, table by table. */
  private async keyRows(): Promise<{ readonly table: string; readonly rows: string }[]> {
    const tables = ['subject_keys', 'service_keys', 'erasure_ledger'].map((name) => `keys.${name}`);
    const found: { table: string; rows: string }[] = [];
    for (const table of tables) {
      const sql = `SELECT COALESCE(json_agg(t), '[]')::text AS rows FROM ${table} t`;
      const [row] = await this.database.rows<{ rows: string }>(sql);
      found.push({ table, rows: row?.rows ?? '[]' });
    }
    return found;
  }

  async drop(): Promise<void> {
    if (engine === 'sqlite') rmSync(this.copy, { recursive: true });
    else await onServer(`DROP DATABASE ${this.copy} WITH (FORCE)`);
  }
}

function nameOf({ url }: TestDatabase): string {
  return new URL(url).pathname.slice(1);
}

async function onServer(sql: string): Promise<void> {
  const url = new URL(process.env['TEST_POSTGRES_URL'] ?? '');
  url.pathname = '/postgres';
  const client = new Client({ connectionString: url.href });
  await client.connect();
  await client.query(sql);
  await client.end();
}
