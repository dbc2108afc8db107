import { engine, type TestDatabase } from './database';

/** One line for each object of a schema, ordered by name: equal dumps mean equal schemas. */
export async function schemaOf(database: TestDatabase): Promise<string[]> {
  const rows = await database.rows<{ line: string }>(
    engine === 'sqlite' ? await sqliteDump(database) : POSTGRES,
  );
  return rows.map(({ line }) => line).sort();
}

/** Both files, if they exist. */
async function sqliteDump(database: TestDatabase): Promise<string> {
  const files = await database.rows<{ name: string }>(
    `SELECT name FROM pragma_database_list WHERE name IN ('main', 'keys')`,
  );
  const dumps = files.map(
    ({
      name: file,
    }) => `SELECT '${file === 'main' ? '' : 'keys '}' || type || ' ' || name || ': ' || COALESCE(sql, '') AS line
      FROM ${file}.sqlite_master WHERE name NOT LIKE 'sqlite_%'`,
  );
  return dumps.join(' UNION ALL ');
}

/**
 * Relations with their partitioning and settings, columns with type, collation and default, indices and constraints as
 * they are written.
 */
const POSTGRES = `
  WITH relation AS (
    SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname IN ('public', 'keys') AND c.relkind IN ('r', 'p', 'S')
  )
  SELECT 'relation ' || relname || ': ' || relkind::text || ' ' || COALESCE(array_to_string(reloptions, ',') || ' ', '') ||
    COALESCE(CASE WHEN relkind = 'p' THEN pg_get_partkeydef(oid) END, '') || COALESCE(pg_get_expr(relpartbound, oid), '')
    AS line FROM relation
  UNION ALL
  SELECT 'column ' || r.relname || '.' || a.attname || ': ' || format_type(a.atttypid, a.atttypmod)
    || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END || COALESCE(' ' || l.collname, '') || COALESCE(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
    FROM relation r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_collation l ON l.oid = a.attcollation
    LEFT JOIN pg_attrdef d ON d.adrelid = r.oid AND d.adnum = a.attnum WHERE r.relkind <> 'S'
  UNION ALL
  SELECT 'index ' || pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN relation r ON r.oid = i.indrelid
  UNION ALL
  SELECT 'constraint ' || r.relname || '.' || c.conname || ': ' || pg_get_constraintdef(c.oid)
    FROM pg_constraint c JOIN relation r ON r.oid = c.conrelid WHERE c.contype <> 'n'`;
