import { type Command, InvalidArgumentError } from 'commander';
import { erase } from '../hunt/erase';
import { plant } from '../hunt/plant';
import { search } from '../hunt/search';
import { positive, Session, snowflake } from '../session';

const PEOPLE_MAX = 10;
const STEPS = `
1. lethe hunt plant    makes made-up users who consent, in a staging copy of Lethe. Let the bot meet them.
2. lethe hunt erase    erases them through Lethe, and waits for the holders of the bot.
3. lethe hunt search   looks into dumps, logs, caches and backups of the bot for whatever is left of them.`;

interface PlantOptions {
  readonly guild?: string;
  readonly people: number;
  readonly state: string;
  readonly run?: string;
  readonly yes?: boolean;
}

export function addHunt(program: Command): void {
  const hunt = program
    .command('hunt')
    .summary('find where a bot keeps a user after an erasure')
    .description('Finds where a bot keeps a user after an erasure, with made-up users in a staging copy.')
    .addHelpText('after', STEPS);
  const step = (name: string): Command =>
    hunt.command(name).option('--state <file>', 'what the steps remember', 'hunt.json');
  step('plant')
    .description(
      'Makes users who consent and have values in Lethe, and prints what the bot shall meet them with.',
    )
    .option('--guild <id>', 'the guild in which the bot meets them; default a made-up one', snowflake)
    .option('--people <number>', 'so many, at most 10', people, 3)
    .option('--run <command>', 'a command that lets the bot meet them: LETHE_HUNT_IDS, _TEXTS, _GUILD')
    .option('--yes', 'do not ask, where the service looks like that of production')
    .action((options: PlantOptions, command: Command) => plant(new Session(command), options));
  step('erase')
    .description('Erases the users, and waits until every holder of the bot has answered.')
    .option('--wait <seconds>', 'at most so long', positive, 300)
    .action((options: { state: string; wait: number }, command: Command) =>
      erase(new Session(command), options),
    );
  step('search')
    .description('Looks for every spelling of the users in files and folders. It calls no service.')
    .argument('[paths...]', 'files, folders, or - for the standard input')
    .option('--stdin', 'the standard input, as - does')
    .action((paths: string[], options: { state: string; stdin?: boolean }, command: Command) =>
      search(new Session(command), options.stdin ? [...paths, '-'] : paths, options),
    );
}

function people(text: string): number {
  const number = positive(text);
  if (number <= PEOPLE_MAX) return number;
  throw new InvalidArgumentError(`It must be at most ${PEOPLE_MAX}.`);
}
