import { Logger } from '@nestjs/common';
import {
  bringUpToDate,
  type DatabaseEngine,
  databaseEngine,
  opened,
  requireFilled,
  requireKnown,
  requireUnused,
} from '@app/database';
import { adminCommand, NestLogger, StartError } from '@app/kernel';
import { type DataSource, MigrationExecutor } from 'typeorm';
import { schemaSource } from '../../../ormconfig';
import { logOf } from './admin.context';
import type { Command, Surroundings } from './command-line';

const migrate: Command = {
  name: 'db:migrate',
  summary: 'Brings the schema of the database up to date; needed where MIGRATE_ON_START=false',
  flags: {},
  run: (_, surroundings) =>
    onSchema(surroundings, async (source) => {
      await bringUpToDate(source, 'migrate');
      return 'up to date';
    }),
};

const revert: Command = {
  name: 'db:revert',
  summary:
    'Reverts the newest migration, and removes data that only the newer schema can hold; stop every process first',
  flags: {
    name: { type: 'string', value: 'NAME', description: 'The newest migration; a refusal names it' },
  },
  run: ({ name }, surroundings) => {
    const { database } = surroundings.config;
    if (database.engine === 'sqlite') requireFilled(database.path);
    return onSchema(surroundings, async (source, { place }) => {
      await requireKnown(source);
      const [newest] = await new MigrationExecutor(source).getExecutedMigrations();
      if (newest === undefined) return 'nothing to revert';
      // It may be one of Lethe or of another module than the one that is meant.
      if (name !== newest.name)
        throw new StartError(
          `The newest migration is ${newest.name}, and only that one can be reverted: ${adminCommand(`db:revert --name ${newest.name}`)}.`,
        );
      // Requests of running processes would be answered 500. A SQLite file is locked already.
      if (source.options.type === 'postgres') await requireUnused(source, place);
      await source.undoLastMigration({ transaction: 'all' });
      return `${newest.name} reverted`;
    });
  },
};

export const DATABASE_COMMANDS: readonly Command[] = [migrate, revert];

/** Runs `work` on a connection that can change the schema, and writes its result. */
async function onSchema(
  { config, tell, result }: Surroundings,
  work: (source: DataSource, engine: DatabaseEngine) => Promise<string>,
): Promise<void> {
  // The log says what the migrations wait for. Standard output has the result alone.
  Logger.overrideLogger(new NestLogger(logOf(config)));
  const engine = databaseEngine(config);
  const done = await engine.despiteFullDisk(() =>
    opened(schemaSource(config), (source) => work(source, engine)),
  );
  await result({ database: engine.place, done });
  tell(`${engine.place}: ${done}.`);
}
