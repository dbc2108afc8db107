import { databaseEngine } from '@app/database';
import { type Config, readConfig } from '@app/kernel';
import { moveEngine, type MovePlace } from '@app/operations';
import { ormOptions } from '../../../ormconfig';
import type { Command, Surroundings } from './command';
import { UsageError } from './command-line';

const SOURCE = 'sqlite:PATH';
const TARGET = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE';

/** Moves all rows of a SQLite file to PostgreSQL, and writes the next steps. */
export const MOVE_COMMAND: Command = {
  name: 'db:move',
  summary:
    'Moves everything from SQLite to PostgreSQL, and compares both; run it again after an interruption',
  flags: {
    from: { type: 'string', value: 'URL', description: `The source: ${SOURCE}`, required: true },
    to: {
      type: 'string',
      value: 'URL',
      description: `The empty target: ${TARGET}; without it that of DATABASE_URL`,
    },
  },
  run: async (given, { config, tell, result, progress }) => {
    const from = databaseOf(String(given['from']));
    if (from?.engine !== 'sqlite') throw new UsageError(`--from must be ${SOURCE}.`);
    const to = given['to'] === undefined ? config.database : databaseOf(String(given['to']));
    if (to?.engine !== 'postgres')
      throw new UsageError(`The target must be PostgreSQL: --to, or else DATABASE_URL, must be ${TARGET}.`);
    const source = placeOf({ ...config, database: from }, from.path);
    const target = placeOf({ ...config, database: to }, to.url);
    tell(`from ${source.engine.place}\n  to ${target.engine.place}`);
    const rows = await moveEngine(source, target, ({ doing, table, rows: done, total }) =>
      progress.step({ what: `${doing} ${table}`, done, total, unit: 'rows' }),
    );
    await result({ from: source.engine.place, to: target.engine.place, rows });
    report(rows, { config, tell }, `${from.path}.key`);
  },
};

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

function report(
  rows: number,
  { config, tell }: Pick<Surroundings, 'config' | 'tell'>,
  keyFile: string,
): void {
  tell(`${rows} rows are in the target and equal those of the source.`);
  tell('Now:');
  tell('  - Set DATABASE_URL to the target, and start the service.');
  if (config.masterKeys.length > 0)
    tell('  - The keys stay encrypted with LETHE_MASTER_KEY: give the service the same one.');
  else
    tell(
      `  - The keys stay encrypted with the key file ${keyFile}, which was not moved. Set LETHE_MASTER_KEY to its\n` +
        '    content for every process, or copy it to ./data/lethe.db.key where the service runs. Without it no service starts.',
    );
  tell(
    '  - The source is unchanged. It still holds what is erased from now on: delete it when the service runs.',
  );
}
