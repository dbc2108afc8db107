import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDatabase, type TestDatabase } from '../support/database';

/** Rows of no bot, or found by a text that names none: each server would have all of them. */
const EVERYWHERE: Readonly<Record<string, string>> = {
  bots: 'every table refers to it',
  api_keys: 'a caller is found by the digest of its key alone',
  privacy_links: 'a user is found by the token of the link alone; links live for minutes',
  job_leases: 'one row for each job',
  installation: 'one row',
  storage_samples: 'one row for each day',
  'keys.service_keys': 'the keys of the installation',
};
/** Rows without a bot on purpose: no bot can be found by them. They need the work that docs/scale.md describes. */
const NAMELESS: Readonly<Record<string, string>> = {
  'keys.subject_keys_a': 'the keys of subjects, by their id',
  'keys.subject_keys_b': 'the same, while the tables are rewritten',
  'keys.removed_keys': 'the ids of destroyed keys, until the rewrite',
  'keys.key_rewrite': 'how far the rewrite is',
};

interface Table {
  readonly name: string;
  readonly primary: string;
  readonly unique: readonly string[];
  readonly refers: readonly string[];
}

let database: TestDatabase;
let tables: readonly Table[];
beforeAll(async () => {
  database = await newDatabase(tmpdir());
  tables = await database.rows<Table>(
    `SELECT CASE space.nspname WHEN 'keys' THEN 'keys.' ELSE '' END || t.relname AS name,
       COALESCE((SELECT pg_get_indexdef(indexrelid, 1, false) FROM pg_index WHERE indrelid = t.oid AND indisprimary), '') AS primary,
       ARRAY(SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = t.oid AND indisunique AND NOT EXISTS (
         SELECT 1 FROM pg_attribute WHERE attrelid = t.oid AND attname = 'bot_id' AND attnum = ANY (indkey::int2[]))) AS unique,
       ARRAY(SELECT confrelid::regclass::text FROM pg_constraint WHERE conrelid = t.oid AND contype = 'f') AS refers
     FROM pg_class t JOIN pg_namespace space ON space.oid = t.relnamespace
     WHERE space.nspname IN ('public', 'keys') AND t.relkind IN ('r', 'p') AND NOT t.relispartition
       AND t.relname <> 'migrations' ORDER BY 1`,
  );
});
afterAll(() => database.drop());

const isDistributed = ({ name }: Table): boolean => !(name in EVERYWHERE) && !(name in NAMELESS);

/** The tables in the statement of docs/scale.md that calls `name`. */
function documented(name: string): string[] {
  const text = readFileSync(join(__dirname, '../../docs/scale.md'), 'utf8');
  const [, list = ''] = new RegExp(`${name}\\(t\\b[^;]*ARRAY\\[([^\\]]*)\\]`).exec(text) ?? [];
  return [...list.matchAll(/'([\w.]+)'/g)].map(([, table = '']) => table).sort();
}

describe('a database over several servers, where each bot is on one', () => {
  it('has bot_id first in every primary key and in every unique index, but for tables that every server has', () => {
    const distributed = tables.filter(isDistributed);
    expect(distributed.length).toBeGreaterThan(15);
    expect(
      distributed.filter(({ primary, unique }) => primary !== 'bot_id' || unique.length > 0),
    ).toStrictEqual([]);
  });

  it('refers only to tables that every server has', () => {
    const foreign = tables.flatMap(({ refers }) => refers).filter((name) => !(name in EVERYWHERE));
    expect(foreign).toStrictEqual([]);
  });

  it('has an exception only for a table that is still there and cannot be distributed', () => {
    const there = new Set(tables.map(({ name }) => name));
    expect(
      [...Object.keys(EVERYWHERE), ...Object.keys(NAMELESS)].filter((name) => !there.has(name)),
    ).toStrictEqual([]);
    const needless = tables.filter(
      (table) => !isDistributed(table) && table.primary === 'bot_id' && table.unique.length === 0,
    );
    expect(needless).toStrictEqual([]);
  });

  it('is what docs/scale.md writes', () => {
    expect(documented('create_reference_table')).toStrictEqual(Object.keys(EVERYWHERE).sort());
    const distributed = tables.filter(isDistributed).map(({ name }) => name);
    expect(documented('create_distributed_table')).toStrictEqual(distributed.sort());
  });
});
