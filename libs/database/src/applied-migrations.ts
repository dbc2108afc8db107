import { allMigrations } from './database.module';
import type { UnitOfWork } from './unit-of-work';

/** The migrations of a database, by their names. */
interface AppliedMigrations {
  readonly applied: readonly string[];
  /** Known to this process, and not applied yet. */
  readonly pending: readonly string[];
  /** Applied by another version, or by a module that this process does not have. */
  readonly unknown: readonly string[];
}

/** Reads which migrations have run, also where another process has run some since the start of this one. */
export async function appliedMigrations(unitOfWork: UnitOfWork): Promise<AppliedMigrations> {
  const rows = await unitOfWork.read((tx) =>
    tx.all<{ name: string }>('SELECT name FROM migrations ORDER BY id'),
  );
  const applied = rows.map(({ name }) => name);
  const known = allMigrations().map(({ name }) => name);
  return {
    applied,
    pending: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  };
}

/** The version of the engine. */
export async function engineVersion(unitOfWork: UnitOfWork): Promise<string> {
  const sql =
    unitOfWork.engine === 'sqlite'
      ? 'SELECT sqlite_version() AS version'
      : `SELECT split_part(current_setting('server_version'), ' ', 1) AS version`;
  return (await unitOfWork.read((tx) => tx.get<{ version: string }>(sql)))?.version ?? '';
}

/** Whether PostgreSQL renames files of its log and keeps them, with the keys in them; false where the server does not say. */
export async function keepsFilesOfLog(unitOfWork: UnitOfWork): Promise<boolean> {
  if (unitOfWork.engine === 'sqlite') return false;
  const sql = `SELECT current_setting('wal_recycle', true) AS setting`;
  return (await unitOfWork.read((tx) => tx.get<{ setting: string | null }>(sql)))?.setting === 'on';
}
