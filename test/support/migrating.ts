import { allMigrations, databaseEngine } from '@app/database';
import { type Config, readConfig } from '@app/kernel';
import type { DataSource } from 'typeorm';
import { ormOptions } from '../../ormconfig';
import type { TestDatabase } from './database';

export function configOf({ url }: Pick<TestDatabase, 'url'>): Config {
  return readConfig({ DATABASE_URL: url });
}

/** Runs `work` on a connection for changing the schema that knows the first `count` migrations only, as an older release. */
export async function onSchema<T>(
  database: Pick<TestDatabase, 'url'>,
  work: (source: DataSource) => Promise<T>,
  count = allMigrations().length,
): Promise<T> {
  const config = configOf(database);
  const options = { ...ormOptions(config), migrations: allMigrations().slice(0, count) };
  const source = await databaseEngine(config).schemaSource(options).initialize();
  try {
    return await work(source);
  } finally {
    await source.destroy();
  }
}

export function migrateUp(database: Pick<TestDatabase, 'url'>, count?: number): Promise<string[]> {
  const run = (source: DataSource) => source.runMigrations({ transaction: 'all' });
  return onSchema(database, async (source) => (await run(source)).map(({ name }) => name), count);
}
