import { type DataSource, MigrationExecutor } from 'typeorm';
import { StartError } from './start-error';

/**
 * Brings the schema up to date, all migrations in one transaction, or checks that it is where migrations are run by
 * hand (`MIGRATE_ON_START=false`). A database that was written by a newer Lethe is left untouched.
 * @throws StartError that says what to do.
 */
export async function bringUpToDate(source: DataSource, migrate: boolean): Promise<void> {
  const executor = new MigrationExecutor(source);
  const known = new Set(source.migrations.map((migration) => migration.name ?? migration.constructor.name));
  const foreign = (await executor.getExecutedMigrations()).filter(({ name }) => !known.has(name));
  if (foreign.length > 0) {
    throw new StartError(
      `The database was written by a newer Lethe, or by one with another module (${foreign.map(({ name }) => name).join(', ')}). ` +
        'It was left untouched; start that version, or restore a backup.',
    );
  }
  if (migrate) await source.runMigrations({ transaction: 'all' });
  else if ((await executor.getPendingMigrations()).length > 0) {
    throw new StartError(
      'The database needs migrations. Run them with MIGRATE_ON_START=true or npm run migration:run.',
    );
  }
}
