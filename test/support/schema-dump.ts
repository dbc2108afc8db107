import { engine, type TestDatabase } from './database';

/** One line for each thing in a schema, in the order of their names: two schemas are equal if these are. */
export async function schemaOf(database: TestDatabase): Promise<string[]> {
  const rows = await database.rows<{ line: string }>(engine === 'sqlite' ? SQLITE : POSTGRES);
  return rows.map(({ line }) => line).sort();
}

const SQLITE = `SELECT type || ' ' || name || ': ' || COALESCE(sql, '') AS line FROM sqlite_master
  WHERE name NOT LIKE 'sqlite_%'`;

/** Relations with their partitioning, columns with type and collation, indices and constraints as they are written. */
const POSTGRES = `
  WITH relation AS (
    SELECT c.* FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'S')
  )
  SELECT 'relation ' || relname || ': ' || relkind::text || ' ' ||
    COALESCE(CASE WHEN relkind = 'p' THEN pg_get_partkeydef(oid) END, '') || COALESCE(pg_get_expr(relpartbound, oid), '')
    AS line FROM relation
  UNION ALL
  SELECT 'column ' || r.relname || '.' || a.attname || ': ' || format_type(a.atttypid, a.atttypmod)
    || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END || COALESCE(' ' || l.collname, '')
    FROM relation r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_collation l ON l.oid = a.attcollation WHERE r.relkind <> 'S'
  UNION ALL
  SELECT 'index ' || pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN relation r ON r.oid = i.indrelid
  UNION ALL
  SELECT 'constraint ' || r.relname || '.' || c.conname || ': ' || pg_get_constraintdef(c.oid)
    FROM pg_constraint c JOIN relation r ON r.oid = c.conrelid WHERE c.contype <> 'n'`;
