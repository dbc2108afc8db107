import { parseArgs } from 'node:util';
import { ENGINES } from './engines.mjs';
import { OPERATIONS } from './operations.mjs';

const USAGE = `npm run bench -- [--engine sqlite|postgres] [--only ${Object.keys(OPERATIONS).join(',')}]
  [--seconds N] [--rounds N] [--events N] [--quick] [--write]`;

const NAMES = {
  engine: { type: 'string' },
  only: { type: 'string' },
  seconds: { type: 'string' },
  rounds: { type: 'string' },
  events: { type: 'string' },
  quick: { type: 'boolean', default: false },
  write: { type: 'boolean', default: false },
};

/** The options of the command line; ends the process with the usage if they are invalid. */
export function readOptions() {
  try {
    const { values } = parseArgs({ options: NAMES });
    const { quick } = values;
    const options = {
      engines: listed(values.engine, ENGINES),
      only: listed(values.only, OPERATIONS),
      seconds: positive(values.seconds ?? (quick ? '1' : '2')),
      rounds: positive(values.rounds ?? (quick ? '3' : '5')),
      events: positive(values.events ?? (quick ? '100000' : '1000000')),
      write: values.write,
    };
    if (options.write && (quick || values.only !== undefined || values.events !== undefined))
      throw new Error('--write takes whole runs only: neither --quick nor --only nor --events');
    return options;
  } catch (error) {
    console.error(`${error.message}\n${USAGE}`);
    process.exit(2);
  }
}

function listed(text, known) {
  const names = text?.split(',') ?? Object.keys(known);
  for (const name of names) if (!(name in known)) throw new Error(`${name} is none of ${Object.keys(known)}`);
  return names;
}

function positive(text) {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`${text} is no positive number`);
  return number;
}
