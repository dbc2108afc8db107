import type { TestDatabase } from './database';

/** The relations of Lethe. */
const OWN = `SELECT c.*, c.oid::regclass::text AS place FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname IN ('public', 'keys')`;

/** The columns of a new table. */
const COLUMNS = `(SELECT string_agg(quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
    || COALESCE(' COLLATE ' || quote_ident(l.collname), '') || COALESCE(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '')
    || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END, ', ' ORDER BY a.attnum)
  FROM pg_attribute a LEFT JOIN pg_collation l ON l.oid = a.attcollation AND l.collname <> 'default'
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE a.attrelid = own.oid AND a.attnum > 0 AND NOT a.attisdropped)`;

/** The statements that make the schema, before and after its rows are there, each in its order. */
const BEFORE = [
  `SELECT 'CREATE SCHEMA keys' AS line FROM pg_namespace WHERE nspname = 'keys'`,
  `SELECT 'CREATE SEQUENCE ' || place AS line FROM (${OWN} AND c.relkind = 'S') own ORDER BY place`,
  `SELECT 'CREATE TABLE ' || place || ' (' || ${COLUMNS} || ')'
    || CASE WHEN relkind = 'p' THEN ' PARTITION BY ' || pg_get_partkeydef(oid) ELSE '' END AS line
   FROM (${OWN} AND c.relkind IN ('r', 'p') AND NOT c.relispartition) own ORDER BY place`,
  `SELECT 'ALTER TABLE ' || place || ' ADD CONSTRAINT ' || quote_ident(o.conname) || ' ' || pg_get_constraintdef(o.oid) AS line
   FROM (${OWN} AND c.relkind IN ('r', 'p') AND NOT c.relispartition) own JOIN pg_constraint o ON o.conrelid = own.oid
   WHERE o.contype IN ('p', 'u', 'c', 'f') ORDER BY o.contype = 'f', place, o.conname`,
  `SELECT 'CREATE TABLE ' || place || ' PARTITION OF ' || i.inhparent::regclass::text || ' ' || pg_get_expr(relpartbound, own.oid) AS line
   FROM (${OWN} AND c.relispartition AND c.relkind = 'r') own JOIN pg_inherits i ON i.inhrelid = own.oid ORDER BY place`,
  `SELECT 'ALTER TABLE ' || place || ' SET (' || array_to_string(reloptions, ', ') || ')' AS line
   FROM (${OWN} AND c.relkind = 'r' AND c.reloptions IS NOT NULL) own ORDER BY place`,
  `SELECT 'ALTER TABLE ' || place || ' ALTER COLUMN ' || quote_ident(a.attname) || ' SET STATISTICS ' || a.attstattarget AS line
   FROM (${OWN} AND c.relkind = 'r') own JOIN pg_attribute a ON a.attrelid = own.oid WHERE a.attstattarget >= 0 ORDER BY place, a.attnum`,
  `SELECT replace(pg_get_indexdef(x.indexrelid), ' ON ONLY ', ' ON ') AS line FROM (${OWN} AND c.relkind IN ('r', 'p') AND NOT c.relispartition) own
   JOIN pg_index x ON x.indrelid = own.oid
   WHERE NOT EXISTS (SELECT 1 FROM pg_constraint o WHERE o.conindid = x.indexrelid AND o.contype IN ('p', 'u')) ORDER BY 1`,
  `SELECT pg_get_functiondef(p.oid) AS line FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
   WHERE n.nspname IN ('public', 'keys') ORDER BY p.proname`,
  `SELECT 'CREATE VIEW ' || place || ' AS ' || rtrim(pg_get_viewdef(oid), ';') AS line FROM (${OWN} AND c.relkind = 'v') own ORDER BY place`,
  `SELECT pg_get_triggerdef(t.oid) AS line FROM (${OWN}) own JOIN pg_trigger t ON t.tgrelid = own.oid
   WHERE NOT t.tgisinternal AND t.tgparentid = 0 ORDER BY t.tgname`,
];
const AFTER = [
  `SELECT 'ALTER SEQUENCE ' || place || ' OWNED BY ' || d.refobjid::regclass::text || '.' || quote_ident(a.attname) AS line
   FROM (${OWN} AND c.relkind = 'S') own JOIN pg_depend d ON d.objid = own.oid AND d.deptype = 'a'
   JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid ORDER BY place`,
];

/** Rows in one statement: the line of a dump stays readable. */
const ROWS_EACH = 50;

/**
 * A PostgreSQL database as SQL: the schemas of Lethe with every row. A bare machine has the programs of a server and not
 * `pg_dump`. Views, functions and triggers are in it, too; roles and rights are not.
 */
export async function dumped(database: TestDatabase): Promise<string> {
  const lines = [
    'SET check_function_bodies = off',
    // Rows are inserted in any order.
    'SET session_replication_role = replica',
    ...(await linesOf(database, BEFORE)),
    ...(await rowsOf(database)),
    ...(await sequencesOf(database)),
    ...(await linesOf(database, AFTER)),
  ];
  return `${lines.join(';\n')};\n`;
}

async function linesOf(database: TestDatabase, queries: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const sql of queries)
    for (const { line } of await database.rows<{ line: string }>(sql)) found.push(line.trim());
  return found;
}

async function rowsOf(database: TestDatabase): Promise<string[]> {
  const places = await database.rows<{ place: string; columns: string; values: string }>(
    `SELECT place, (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
         WHERE attrelid = own.oid AND attnum > 0 AND NOT attisdropped) AS columns,
       (SELECT string_agg('quote_nullable(' || quote_ident(attname) || ')', ', ' ORDER BY attnum) FROM pg_attribute
         WHERE attrelid = own.oid AND attnum > 0 AND NOT attisdropped) AS values
     FROM (${OWN} AND c.relkind IN ('r', 'p') AND NOT c.relispartition) own ORDER BY place`,
  );
  const found: string[] = [];
  for (const { place, columns, values } of places) {
    const rows = await database.rows<{ line: string }>(
      `SELECT '(' || concat_ws(', ', ${values}) || ')' AS line FROM ${place} ORDER BY 1`,
    );
    for (let at = 0; at < rows.length; at += ROWS_EACH) {
      const some = rows.slice(at, at + ROWS_EACH).map(({ line }) => line);
      found.push(`INSERT INTO ${place} (${columns}) VALUES\n${some.join(',\n')}`);
    }
  }
  return found;
}

async function sequencesOf(database: TestDatabase): Promise<string[]> {
  const names = await database.rows<{ place: string }>(
    `SELECT place FROM (${OWN} AND c.relkind = 'S') own ORDER BY place`,
  );
  const found: string[] = [];
  for (const { place } of names) {
    const sql = `SELECT last_value AS last, is_called AS called FROM ${place}`;
    const [row] = await database.rows<{ last: number; called: boolean }>(sql);
    if (row !== undefined) found.push(`SELECT setval('${place}', ${row.last}, ${row.called})`);
  }
  return found;
}
