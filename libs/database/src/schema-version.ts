import { type DataSource, MigrationExecutor, type MigrationInterface } from 'typeorm';
import { StartError } from '@app/kernel';
import type { Access } from './database.engine';
import { requireKeyTables, requireUnusedKeys } from './key-tables';

/** Marks a database that a move has not finished. It has one row for each table that the move has begun. */
export const MOVE_TABLE = 'lethe_move';

/**
 * A migration of the keys. On SQLite its `up` first runs alone, before all other migrations, and is committed. It then
 * runs again with the others, so it must accept tables that exist.
 */
export interface KeysMigration extends MigrationInterface {
  readonly isOfKeys: true;
}

/** The schema is older than the code, and this access does not change it. */
export class PendingMigrations extends StartError {}

/**
 * The end of the name of a migration beside which older releases go on serving: from the one that brought the migration
 * with the first of these times on. The name is all that such a release can read of a migration that it does not have.
 */
const SERVED = /From(\d{13})To\d{13}$/;
const TIME = /\d{13}$/;

/**
 * Brings the schema up to date, with all migrations in one transaction, or only checks that it is, as `access` says. A
 * database of a newer Lethe that this one cannot serve, or one that a move from another engine has filled in part, stays
 * untouched.
 * @throws StartError with the remedy.
 */
export async function bringUpToDate(source: DataSource, access: Access): Promise<void> {
  await requireServed(source);
  if (await isBeingFilled(source)) {
    throw new StartError(
      'The database is being filled by lethe-server admin db:move, or the move was interrupted. Run it again to its end, or drop the database and create it again.',
    );
  }
  if (access !== 'keys' && (await new MigrationExecutor(source).getExecutedMigrations()).length === 0)
    await requireUnusedKeys(source);
  if (access === 'migrate' || access === 'keys') {
    await makeKeyFile(source);
    await source.runMigrations({ transaction: 'all' });
  } else if (await needsMigrations(source)) {
    throw new PendingMigrations(
      'The database needs migrations. Run them with lethe-server admin db:migrate, or set MIGRATE_ON_START=true.',
    );
  }
  await requireKeyTables(source);
}

/**
 * SQLite commits to its two files one after the other. The keys come first, so that no data exists without its keys.
 */
async function makeKeyFile(source: DataSource): Promise<void> {
  if (source.options.type === 'postgres') return;
  const pending = await new MigrationExecutor(source).getPendingMigrations();
  const runner = source.createQueryRunner();
  for (const { instance } of pending)
    if (instance !== undefined && 'isOfKeys' in instance) await instance.up(runner);
  await runner.release();
}

/** Whether known migrations have not run. */
export async function needsMigrations(source: DataSource): Promise<boolean> {
  return (await new MigrationExecutor(source).getPendingMigrations()).length > 0;
}

/** Whether a move from another engine has begun and is not finished. */
export async function isBeingFilled(source: DataSource): Promise<boolean> {
  const runner = source.createQueryRunner();
  try {
    return await runner.hasTable(MOVE_TABLE);
  } finally {
    await runner.release();
  }
}

/** @throws StartError when unknown migrations have run */
export async function requireKnown(source: DataSource): Promise<void> {
  const unknown = await unknownMigrations(source);
  if (unknown.length > 0) throw newerThanThis(unknown);
}

/**
 * The same, except that processes of two releases share a PostgreSQL database during an upgrade: unknown migrations are
 * accepted where the name of each says that this release serves beside it.
 */
async function requireServed(source: DataSource): Promise<void> {
  const unknown = await unknownMigrations(source);
  if (unknown.length === 0) return;
  const own = new Set(namesOf(source).map((name) => TIME.exec(name)?.[0]));
  const isServed = unknown.every((name) => own.has(SERVED.exec(name)?.[1] ?? 'none'));
  if (source.options.type !== 'postgres' || !isServed || (await needsMigrations(source)))
    throw newerThanThis(unknown);
}

function namesOf(source: DataSource): string[] {
  return source.migrations.map((migration) => migration.name ?? migration.constructor.name);
}

/** The names of migrations that have run and are not of this code. */
async function unknownMigrations(source: DataSource): Promise<string[]> {
  const known = new Set(namesOf(source));
  const executed = await new MigrationExecutor(source).getExecutedMigrations();
  return executed.map(({ name }) => name).filter((name) => !known.has(name));
}

function newerThanThis(unknown: readonly string[]): StartError {
  return new StartError(
    `The database was written by a newer Lethe, or by one with another module (${unknown.join(', ')}). ` +
      'It was left untouched; start that version, or restore a backup.',
  );
}
