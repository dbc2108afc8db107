import { allMigrations, databaseEngine } from '@app/database';
import { type Config, loadConfig } from '@app/kernel';
import { type DataSource, type DataSourceOptions, getMetadataArgsStorage } from 'typeorm';
// Every library, and the modules of a team: entities and migrations register themselves when they are loaded.
import '@app/runtime';
import './modules';

/** How TypeORM connects to the configured database, with every entity and migration that is loaded. */
export function ormOptions(config: Config): DataSourceOptions {
  const entities = getMetadataArgsStorage().tables.map(({ target }) => target);
  return { ...databaseEngine(config).options, entities, migrations: allMigrations() };
}

/** A connection for changing the schema: one at a time, without time-outs. */
export function schemaSource(config: Config): DataSource {
  return databaseEngine(config).schemaSource(ormOptions(config));
}

/** The program of TypeORM, and no other one in a folder with its name. */
const TYPEORM = /[\\/](typeorm|typeorm[\\/]cli)[\w-]*(\.js)?$/;

/**
 * What TypeORM's command line looks for (`npm run migration:generate`); whoever else reads this file opens connections
 * of its own.
 */
export const commandLine = TYPEORM.test(process.argv[1] ?? '') ? schemaSource(loadConfig()) : undefined;
