import { bringUpToDate, databaseEngine, requireKnown } from '@app/database';
import { StartError } from '@app/kernel';
import { type DataSource, MigrationExecutor } from 'typeorm';
import { schemaSource } from '../../../ormconfig';
import type { Command } from './command';

const COMMANDS = { run, revert } as const;

/** `run` brings the schema up to date, `revert` takes the newest migration back; then it ends. */
export const migrate: Command = async ([command = 'run'], terminal) => {
  if (!isCommand(command)) throw new StartError(`${command} is none of ${Object.keys(COMMANDS).join(', ')}.`);
  const config = terminal.config();
  const source = await schemaSource(config).initialize();
  try {
    terminal.stdout.write(`${databaseEngine(config).place}: ${await COMMANDS[command](source)}.\n`);
  } finally {
    await source.destroy();
  }
};

async function run(source: DataSource): Promise<string> {
  await bringUpToDate(source, true);
  return 'up to date';
}

async function revert(source: DataSource): Promise<string> {
  await requireKnown(source);
  const [newest] = await new MigrationExecutor(source).getExecutedMigrations();
  if (newest === undefined) return 'nothing to revert';
  await source.undoLastMigration({ transaction: 'all' });
  return `${newest.name} reverted`;
}

function isCommand(name: string): name is keyof typeof COMMANDS {
  return Object.hasOwn(COMMANDS, name);
}
