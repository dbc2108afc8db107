import { type DataSource, MigrationExecutor, type MigrationInterface } from 'typeorm';
import { StartError } from '@app/kernel';
import { requireKeyTables } from './key-tables';

/** Marks a database that a move has not finished; one row for each table that was begun. */
export const MOVE_TABLE = 'lethe_move';

/**
 * A migration of the keys. On SQLite its `up` runs before all other migrations and is committed by itself, so it runs
 * once more and has to pass over what is there.
 */
export interface KeysMigration extends MigrationInterface {
  readonly isOfKeys: true;
}

/**
 * Brings the schema up to date, all migrations in one transaction, or checks that it is where migrations are run by
 * hand (`MIGRATE_ON_START=false`). A database that was written by a newer Lethe, or that a move from another engine has
 * filled in part, is left untouched.
 * @throws StartError that says what to do.
 */
export async function bringUpToDate(source: DataSource, migrate: boolean): Promise<void> {
  await requireKnown(source);
  if (await isBeingFilled(source)) {
    throw new StartError(
      'The database is being filled by npm run admin -- db:move, or the move was interrupted. Run it again to its end, or drop the database and create it again.',
    );
  }
  if (migrate) {
    await makeKeyFile(source);
    await source.runMigrations({ transaction: 'all' });
  } else if (await needsMigrations(source)) {
    throw new StartError(
      'The database needs migrations. Run them with npm run admin -- db:migrate, or set MIGRATE_ON_START=true.',
    );
  }
  await requireKeyTables(source);
}

/**
 * SQLite commits to its two files one after the other: the keys come first, so that no data that says it has them is
 * ever without.
 */
async function makeKeyFile(source: DataSource): Promise<void> {
  if (source.options.type === 'postgres') return;
  const pending = await new MigrationExecutor(source).getPendingMigrations();
  const runner = source.createQueryRunner();
  for (const { instance } of pending)
    if (instance !== undefined && 'isOfKeys' in instance) await instance.up(runner);
  await runner.release();
}

/** Whether migrations that this Lethe knows have not run. */
export async function needsMigrations(source: DataSource): Promise<boolean> {
  return (await new MigrationExecutor(source).getPendingMigrations()).length > 0;
}

/** Whether a move from another engine was begun and not finished. */
export async function isBeingFilled(source: DataSource): Promise<boolean> {
  const runner = source.createQueryRunner();
  try {
    return await runner.hasTable(MOVE_TABLE);
  } finally {
    await runner.release();
  }
}

/** @throws StartError when migrations have run that this Lethe does not know */
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
