import { parseArgs } from 'node:util';
import { databaseEngine } from '@app/database';
import { StartError, type Config, readConfig } from '@app/kernel';
import { moveEngine, type MovePlace } from '@app/operations';
import { ormOptions } from '../../../ormconfig';
import type { Command } from './command';
import { MoveDisplay } from './move-display';

const USAGE =
  'npm run migrate:engine -- --from sqlite:PATH --to postgres://USER:PASSWORD@HOST:PORT/DATABASE\n' +
  'Without --to the database of DATABASE_URL is filled.';

/** Moves everything from one database to another of the other engine, and says what has to be done then. */
export const move: Command = async (args, terminal) => {
  const { stdout } = terminal;
  const config = terminal.config();
  const { from, to } = argumentsOf(args);
  if (from === undefined) throw new StartError(`--from is missing.\n${USAGE}`);
  const source = placeOf(config, '--from', from);
  const target = to === undefined ? placeOf(config) : placeOf(config, '--to', to);
  if (source.database.engine === target.database.engine)
    throw new StartError(`Source and target have the same engine: move to the other one.\n${USAGE}`);
  const display = new MoveDisplay(stdout);
  stdout.write(`from ${source.engine.place}\n  to ${target.engine.place}\n`);
  try {
    const rows = await moveEngine(source, target, (step) => display.show(step));
    display.end();
    stdout.write(farewell(rows, config, source.database, target.database));
  } finally {
    display.end();
  }
};

function argumentsOf(args: readonly string[]): { readonly from?: string; readonly to?: string } {
  try {
    return parseArgs({ args: [...args], options: { from: { type: 'string' }, to: { type: 'string' } } })
      .values;
  } catch (error) {
    throw new StartError(`${(error as Error).message}\n${USAGE}`);
  }
}

/** The database of an argument, or of `config`. @throws StartError without the argument's text: it holds a password */
function placeOf(config: Config, argument?: string, url?: string): MovePlace {
  const own = url === undefined ? config : { ...config, database: databaseOf(argument ?? '', url) };
  return { database: own.database, engine: databaseEngine(own), options: ormOptions(own) };
}

function databaseOf(argument: string, url: string): Config['database'] {
  try {
    return readConfig({ DATABASE_URL: url }).database;
  } catch {
    throw new StartError(`${argument} must be sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE.`);
  }
}

type Database = Config['database'];

function farewell(rows: number, { masterKeys }: Config, from: Database, to: Database): string {
  const file = from.engine === 'sqlite' ? `${from.path}.key` : './data/lethe.db.key';
  const there = to.engine === 'sqlite' ? `${to.path}.key` : './data/lethe.db.key';
  const key =
    masterKeys.length > 0
      ? `  - Webhook secrets stay sealed by LETHE_MASTER_KEY: give the service the same one.`
      : `  - Webhook secrets stay sealed by the key file ${file}, which was not moved: set LETHE_MASTER_KEY to its\n` +
        `    content for every process, or copy it to ${there} where the service runs. Without it no webhook can be signed.`;
  return [
    `${rows} rows are in the target, and equal to those of the source.`,
    'Now:',
    '  - Set DATABASE_URL to the target, and start the service.',
    key,
    '  - The source is as it was. What is erased from now on is still in it: delete it once the service runs.',
    '',
  ].join('\n');
}
