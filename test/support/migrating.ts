import { allMigrations, databaseEngine, type MigrationClass } from '@app/database';
import { type Config, readConfig } from '@app/kernel';
import type { DataSource, Logger } from 'typeorm';
import { ormOptions } from '../../ormconfig';
import type { TestDatabase } from './database';

export function configOf({ url }: Pick<TestDatabase, 'url'>): Config {
  return readConfig({ DATABASE_URL: url });
}

interface Schema {
  /** Default: all. Fewer are an older release, more a later one. */
  readonly migrations?: readonly MigrationClass[];
  readonly logger?: Logger;
  /** For a comparison of the entities with the schema; migrations need none, and their metadata is built for each connection. */
  readonly withEntities?: boolean;
}

/** Runs `work` on a connection for changing the schema. */
export async function onSchema<T>(
  database: Pick<TestDatabase, 'url'>,
  work: (source: DataSource) => Promise<T>,
  { migrations = allMigrations(), logger, withEntities = false }: Schema = {},
): Promise<T> {
  const config = configOf(database);
  const options = {
    ...ormOptions(config),
    ...(!withEntities && { entities: [] }),
    migrations: [...migrations],
    ...(logger && { logger }),
  };
  const source = await databaseEngine(config).schemaSource(options).initialize();
  try {
    return await work(source);
  } finally {
    await source.destroy();
  }
}

export function migrateUp(
  database: Pick<TestDatabase, 'url'>,
  migrations?: readonly MigrationClass[],
): Promise<string[]> {
  const run = (source: DataSource) => source.runMigrations({ transaction: 'all' });
  return onSchema(database, async (source) => (await run(source)).map(({ name }) => name), { migrations });
}

const ignore = (): void => undefined;

export const SILENT: Logger = {
  logQuery: ignore,
  logQueryError: ignore,
  logQuerySlow: ignore,
  logSchemaBuild: ignore,
  logMigration: ignore,
  log: ignore,
};

/**
 * Runs the migrations and fails their `nth` statement, of those that match, before it reaches the database. Answers whether
 * they ended, which is the case with fewer statements.
 */
export function migrateFailing(
  database: Pick<TestDatabase, 'url'>,
  nth: number,
  migrations?: readonly MigrationClass[],
  matching = /(?:)/,
): Promise<boolean> {
  return onSchema(
    database,
    async (source) => {
      failStatement(source, nth, matching);
      try {
        await source.runMigrations({ transaction: 'all' });
        return true;
      } catch (error) {
        if (!String(error).includes(FAULT)) throw error;
        return false;
      }
    },
    { migrations, logger: SILENT },
  );
}

const FAULT = 'a statement that fails';

function failStatement(source: DataSource, nth: number, matching: RegExp): void {
  const create = source.createQueryRunner.bind(source);
  const wrapped = new WeakSet<object>();
  let count = 0;
  source.createQueryRunner = (...mode) => {
    const runner = create(...mode);
    if (wrapped.has(runner)) return runner;
    wrapped.add(runner);
    const query: typeof runner.query = runner.query.bind(runner);
    runner.query = ((...given: Parameters<typeof query>) => {
      const isEnd = /^ROLLBACK/.test(given[0]);
      return !isEnd && matching.test(given[0]) && ++count === nth
        ? Promise.reject(new Error(FAULT))
        : query(...given);
    }) as typeof runner.query;
    return runner;
  };
}
