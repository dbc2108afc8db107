import { adminCommand, StartError } from '@app/kernel';
import { type DataSource, type DataSourceOptions, MigrationExecutor, type MigrationInterface } from 'typeorm';
import { requireKeyTables, requireUnusedKeys } from './key-tables';
import type { Ballast } from './sqlite.ballast';
import type { UnitOfWork } from './unit-of-work';

/** Reports a fault that no caller gets as an answer. */
export type OnFault = (error: unknown) => void;

/**
 * The access of a process to the database. `migrate` brings the schema up to date first. `check` only checks that the
 * schema is up to date. `read` changes nothing, and a unit that writes is refused; on SQLite such a process may read a file
 * that a service holds. `moved` is `read` for the target of a move that has not ended. `keys` is for a copy of the keys alone,
 * beside which it makes an empty database.
 */
export type Access = 'migrate' | 'check' | 'read' | 'moved' | 'keys';

/** One engine: its connection options, and how its database is opened. */
export interface DatabaseEngine {
  /** The options of TypeORM. The caller adds entities and migrations. */
  readonly options: DataSourceOptions;
  /** The place of the data for the operator, without a password. */
  readonly place: string;
  /**
   * A connection for changes of the schema, not yet initialised. It has no time-outs and excludes other processes while
   * it runs or reverts migrations.
   */
  schemaSource(options: DataSourceOptions): DataSource;
  /** Does `work`, which opens the database, again after a full disk has refused it, as long as the ballast makes room. */
  despiteFullDisk<T>(work: () => Promise<T>): Promise<T>;
  /** @throws StartError */
  open(options: DataSourceOptions, access: Access, onFault: OnFault): Promise<OpenDatabase>;
}

/** The refusal of a unit that writes where the access only reads. */
export function readingOnly(): StartError {
  return new StartError('The database is open for reading only. Start the service with it once first.');
}

export interface OpenDatabase {
  /** On SQLite, for a process that holds the file. */
  readonly ballast?: Ballast;
  readonly source: DataSource;
  readonly unitOfWork: UnitOfWork;
  /** Waits for the running units and releases everything except `source`. */
  close(): Promise<void>;
}

/** Marks a database that a move has not finished. It has one row for each table that the move has begun. */
export const MOVE_TABLE = 'lethe_move';

/**
 * A migration of the keys. On SQLite its `up` first runs alone, before all other migrations, and is committed. It then
 * runs again with the others, so it must accept tables that exist.
 */
export interface KeysMigration extends MigrationInterface {
  readonly isOfKeys: true;
}

/**
 * Brings the schema up to date, with all migrations in one transaction, or only checks that it is, as `access` says. A
 * database of a newer Lethe, or one that a move from SQLite has filled in part, stays untouched.
 * @throws StartError with the remedy.
 */
export async function bringUpToDate(source: DataSource, access: Access): Promise<void> {
  await requireKnown(source);
  if (access !== 'moved') await requireNotBeingFilled(source);
  if (access !== 'keys' && (await new MigrationExecutor(source).getExecutedMigrations()).length === 0)
    await requireUnusedKeys(source);
  // No migration makes tables in keys that have lost theirs: new keys would be made next.
  if (access === 'keys') await requireKeyTables(source);
  if (access === 'migrate' || access === 'keys') {
    await makeKeyFile(source);
    await source.runMigrations({ transaction: 'all' });
    // A move that began meanwhile has the lock of the schema until it ends or is interrupted.
    await requireNotBeingFilled(source);
  } else if (await needsMigrations(source)) {
    throw new StartError(
      `The database needs migrations. Start the service with MIGRATE_ON_START=true, the default, or run ${adminCommand('db:migrate')}.`,
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

/** Does `work` with the source open. */
export async function opened<T>(source: DataSource, work: (source: DataSource) => Promise<T>): Promise<T> {
  await source.initialize();
  try {
    return await work(source);
  } finally {
    await source.destroy();
  }
}

/** @throws StartError while a move fills the database, or after one that was interrupted */
async function requireNotBeingFilled(source: DataSource): Promise<void> {
  const runner = source.createQueryRunner();
  try {
    if (!(await runner.hasTable(MOVE_TABLE))) return;
  } finally {
    await runner.release();
  }
  throw new StartError(
    `The database is being filled by ${adminCommand('db:move')}, or the move was interrupted. Run it again to its end, or drop the database and create it again.`,
  );
}

/** @throws StartError when unknown migrations have run */
export async function requireKnown(source: DataSource): Promise<void> {
  const known = new Set(source.migrations.map((migration) => migration.name ?? migration.constructor.name));
  const executed = await new MigrationExecutor(source).getExecutedMigrations();
  const foreign = executed.filter(({ name }) => !known.has(name)).map(({ name }) => name);
  if (foreign.length === 0) return;
  throw new StartError(
    `The database was written by a newer Lethe, or by one with another module (${foreign.join(', ')}). ` +
      'It was left untouched; start that version, or restore a backup.',
  );
}
