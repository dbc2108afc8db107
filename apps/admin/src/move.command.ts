import { databaseEngine } from '@app/database';
import { type Config, readConfig } from '@app/kernel';
import { moveEngine, type MovePlace } from '@app/operations';
import { ormOptions } from '../../../ormconfig';
import type { Command, Surroundings } from './command';
import { UsageError } from './command-line';

const PLACE = 'sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE';

/** Moves all rows to a database of the other engine, and writes the next steps. */
export const MOVE_COMMAND: Command = {
  name: 'db:move',
  summary:
    'Moves everything from SQLite to PostgreSQL or back, and compares both; run it again after an interruption',
  flags: {
    from: { type: 'string', value: 'URL', description: `The source: ${PLACE}`, required: true },
    to: { type: 'string', value: 'URL', description: 'The empty target; without it that of DATABASE_URL' },
  },
  run: async (given, { config, tell, result, progress }) => {
    const source = placeOf(config, '--from', String(given['from']));
    const target = given['to'] === undefined ? placeOf(config) : placeOf(config, '--to', String(given['to']));
    if (source.database.engine === target.database.engine)
      throw new UsageError(
        'Source and target have the same engine. Name a target of the other one with --to or DATABASE_URL.',
      );
    tell(`from ${source.engine.place}\n  to ${target.engine.place}`);
    const rows = await moveEngine(source, target, ({ doing, table, rows: done, total }) =>
      progress.step({ what: `${doing} ${table}`, done, total, unit: 'rows' }),
    );
    await result({ from: source.engine.place, to: target.engine.place, rows });
    report(rows, { config, tell }, source.database, target.database);
  },
};

/**
 * The database of a flag, or of `config`. @throws UsageError that does not quote the flag, since it holds a password
 */
function placeOf(config: Config, flag?: string, url?: string): MovePlace {
  const own = url === undefined ? config : { ...config, database: databaseOf(flag ?? '', url) };
  return { database: own.database, engine: databaseEngine(own), options: ormOptions(own) };
}

function databaseOf(flag: string, url: string): Config['database'] {
  try {
    return readConfig({ DATABASE_URL: url }).database;
  } catch {
    throw new UsageError(`${flag} must be ${PLACE}.`);
  }
}

type Database = Config['database'];

function report(
  rows: number,
  { config, tell }: Pick<Surroundings, 'config' | 'tell'>,
  from: Database,
  to: Database,
): void {
  tell(`${rows} rows are in the target and equal those of the source.`);
  tell('Now:');
  tell('  - Set DATABASE_URL to the target, and start the service.');
  if (config.masterKeys.length > 0)
    tell('  - The keys stay encrypted with LETHE_MASTER_KEY: give the service the same one.');
  else
    tell(
      `  - The keys stay encrypted with the key file ${keyFileOf(from)}, which was not moved. Set LETHE_MASTER_KEY to its\n` +
        `    content for every process, or copy it to ${keyFileOf(to)} where the service runs. Without it no service starts.`,
    );
  tell(
    '  - The source is unchanged. It still holds what is erased from now on: delete it when the service runs.',
  );
}

function keyFileOf(database: Database): string {
  return database.engine === 'sqlite' ? `${database.path}.key` : './data/lethe.db.key';
}
