import { basename, dirname, join } from 'node:path';
import type { DataSource, QueryRunner } from 'typeorm';
import { StartError } from '@app/kernel';
import { COLLATION } from './postgres.options';
import { isPostgres } from './schema';

/**
 * The tables that hold keys, and what has to outlive the data: on SQLite in a file of their own, on PostgreSQL in a
 * schema of their own, each with its own backups. `keys.` leads to them on both.
 *
 * - `keys.subject_keys`: the key of each subject, sealed by the keyring;
 * - `keys.service_keys`: the installation's own, sealed likewise; `public_part` is what everybody may know of one;
 * - `keys.erasure_ledger`: who was erased, by a keyed digest, so that a restored backup cannot bring them back.
 */
export const KEY_TABLES = {
  subject_keys: {
    columns: { bot_id: 36, guild_id: 20, user_id: 20, id: 32, sealed: 'text', created_at: 24 },
    key: ['bot_id', 'guild_id', 'user_id'],
  },
  service_keys: {
    columns: {
      name: 32,
      id: 64,
      sealed: 'text',
      public_part: 'text?',
      created_at: 24,
      retired_at: '24?',
    },
    key: ['name', 'id'],
  },
  erasure_ledger: {
    columns: {
      bot_id: 36,
      request_id: 36,
      subject: 20,
      key_id: '32?',
      erased_at: 24,
      place: 'integer?',
      chain: 'text?',
    },
    key: ['bot_id', 'request_id'],
  },
} as const satisfies Record<string, KeyTable>;

interface KeyTable {
  /** The length of a text, or its type; a question mark for what may be NULL. */
  readonly columns: Readonly<Record<string, number | string>>;
  readonly key: readonly string[];
}

/** Beside the data: `keys.db` for `lethe.db`, else `NAME.keys.db`, so that no two databases share a file of keys. */
export function keysPath(path: string): string {
  const name = basename(path).replace(/\.db$/, '');
  return join(dirname(path), name === 'lethe' ? 'keys.db' : `${name}.keys.db`);
}

/** Makes the tables where they are missing; those that are there stay as they are. */
export async function createKeyTables(runner: QueryRunner): Promise<void> {
  if (isPostgres(runner) && !(await hasSchema(runner))) await runner.query('CREATE SCHEMA keys');
  for (const [name, { columns, key }] of Object.entries<KeyTable>(KEY_TABLES)) {
    const parts = Object.entries(columns).map(([column, type]) => `${column} ${typeOf(runner, type)}`);
    await runner.query(
      `CREATE TABLE IF NOT EXISTS keys.${name} (${parts.join(', ')}, PRIMARY KEY (${key.join(', ')}))`,
    );
  }
}

/** @throws StartError for data without its keys, which nobody could read. */
export async function requireKeyTables(source: DataSource): Promise<void> {
  try {
    await source.query('SELECT 1 FROM keys.subject_keys LIMIT 1');
  } catch {
    throw new StartError(
      source.options.type === 'postgres'
        ? 'The schema "keys" of the database is missing: restore it from its backup. Without it no stored data can be read.'
        : `${keysPath(String(source.options.database))} is missing or empty: restore it from its backup. Without it no stored data can be read.`,
    );
  }
}

async function hasSchema(runner: QueryRunner): Promise<boolean> {
  const found = (await runner.query(`SELECT 1 FROM pg_namespace WHERE nspname = 'keys'`)) as unknown[];
  return found.length > 0;
}

function typeOf(runner: QueryRunner, given: number | string): string {
  const nullable = String(given).endsWith('?');
  const type = String(given).replace('?', '');
  const nullability = nullable ? '' : ' NOT NULL';
  if (type === 'integer') return `${isPostgres(runner) ? 'bigint' : type}${nullability}`;
  const text = type === 'text' ? type : `varchar(${type})`;
  return `${text}${isPostgres(runner) ? ` COLLATE "${COLLATION}"` : ''}${nullability}`;
}
