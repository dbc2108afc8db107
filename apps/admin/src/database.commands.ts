import { bringUpToDate, databaseEngine, requireKnown } from '@app/database';
import { type Config, masterKeySetting, readConfig } from '@app/kernel';
import { moveEngine, type MovePlace } from '@app/operations';
import { type DataSource, MigrationExecutor } from 'typeorm';
import { ormOptions, schemaSource } from '../../../ormconfig';
import { type Command, type Surroundings, UsageError } from './command-line';

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
  flags: {},
  run: (_, surroundings) =>
    onSchema(surroundings, async (source) => {
      await requireKnown(source);
      const [newest] = await new MigrationExecutor(source).getExecutedMigrations();
      if (newest === undefined) return 'nothing to revert';
      await source.undoLastMigration({ transaction: 'all' });
      return `${newest.name} reverted`;
    }),
};

const SOURCE = 'sqlite:PATH';
const TARGET = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE';

/** Moves all rows of a SQLite file to PostgreSQL, and writes the next steps. */
const move: Command = {
  name: 'db:move',
  summary:
    'Moves everything from SQLite to PostgreSQL, and compares both; run it again after an interruption',
  flags: {
    from: { type: 'string', value: 'URL', description: `The source: ${SOURCE}`, required: true },
    to: {
      type: 'string',
      value: 'URL',
      description: `The empty target: ${TARGET}; without it that of DATABASE_DIRECT_URL or DATABASE_URL`,
    },
  },
  run: async (given, { config, tell, result, progress }) => {
    const from = databaseOf(String(given['from']));
    if (from?.engine !== 'sqlite') throw new UsageError(`--from must be ${SOURCE}.`);
    const { databaseDirectUrl: direct } = config;
    const own = direct === undefined ? config.database : databaseOf(direct);
    const to = given['to'] === undefined ? own : databaseOf(String(given['to']));
    if (to?.engine !== 'postgres')
      throw new UsageError(`The target must be PostgreSQL: --to, or else DATABASE_URL, must be ${TARGET}.`);
    const source = placeOf({ ...config, database: from }, from.path);
    // The move holds one session for all its work.
    const target = placeOf({ ...config, database: to, databaseDirectUrl: undefined }, to.url);
    tell(`from ${source.engine.place}\n  to ${target.engine.place}`);
    const rows = await moveEngine(source, target, ({ doing, table, rows: done, total }) =>
      progress.step({ what: `${doing} ${table}`, done, total, unit: 'rows' }),
    );
    await result({ from: source.engine.place, to: target.engine.place, rows });
    tell(`${rows} rows are in the target and equal those of the source.`);
    tell('Now:');
    tell('  - Set DATABASE_URL to the target, and start the service.');
    tell(
      config.masterKeys.length > 0
        ? `  - The keys stay encrypted with the master key of ${masterKeySetting(config)}: give the service the same one.`
        : `  - The keys stay encrypted with the key file ${from.path}.key, which was not moved. Set LETHE_MASTER_KEY to its\n` +
            '    content for every process, or copy it to ./data/lethe.db.key where the service runs. Without it no service starts.',
    );
    tell(
      '  - The source is unchanged. It still holds what is erased from now on: delete it when the service runs.',
    );
  },
};

export const DATABASE_COMMANDS: readonly Command[] = [migrate, revert, move];

/** Runs `work` on a connection that can change the schema, and writes its result. */
async function onSchema(
  { config, tell, result }: Surroundings,
  work: (source: DataSource) => Promise<string>,
): Promise<void> {
  const source = await schemaSource(config).initialize();
  try {
    const [{ place }, done] = [databaseEngine(config), await work(source)];
    await result({ database: place, done });
    tell(`${place}: ${done}.`);
  } finally {
    await source.destroy();
  }
}

function placeOf(config: Config, at: string): MovePlace {
  return { at, engine: databaseEngine(config), options: ormOptions(config) };
}

/** Undefined for what is no database. No error quotes the flag, since it holds a password. */
function databaseOf(url: string): Config['database'] | undefined {
  try {
    return readConfig({ DATABASE_URL: url }).database;
  } catch {
    return undefined;
  }
}
