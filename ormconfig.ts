import { allMigrations, databaseEngine } from '@app/database';
import { type Config, loadConfig } from '@app/kernel';

import { type DataSource, type DataSourceOptions, getMetadataArgsStorage } from 'typeorm';
// Every library that has tables: its entities and migrations register themselves when it is loaded.
import '@app/audit';
import '@app/bots';
import '@app/categories';
import '@app/consent';
import '@app/crypto';
import '@app/gdpr';
import '@app/database';
import '@app/operations';
import '@app/pages';
import '@app/sealing';
import '@app/servers';
import '@app/reports';
import '@app/user-data';
import '@app/webhooks';
// The modules of a team.
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

/**
 * What TypeORM's command line looks for (`npm run migration:generate`); whoever else reads this file opens connections
 * of its own.
 */
export const commandLine = /typeorm/.test(process.argv[1] ?? '') ? schemaSource(loadConfig()) : undefined;
