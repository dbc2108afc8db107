import { parseArgs } from 'node:util';
import type { Command, Given } from './command';
import { JSON_FLAG } from './output';

/** The command line is not understood. The message describes the correct form. */
export class UsageError extends Error {}

export interface Asked {
  readonly command: Command;
  readonly given: Given;
  readonly help: boolean;
}

/**
 * The requested command with its flags; undefined for a request for help.
 * @throws UsageError
 */
export function askedOf(commands: readonly Command[], args: readonly string[]): Asked | undefined {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') return undefined;
  const command = commands.find((one) => one.name === name);
  if (command === undefined)
    throw new UsageError(`There is no command ${name}. \`lethe-server admin --help\` lists them.`);
  const { help, ...given } = valuesOf(command, rest);
  if (help !== true) requireFlags(command, given);
  return { command, given, help: help === true };
}

/** Every command with its summary. */
export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    'lethe-server admin <command> [--flags]',
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    '`lethe-server admin <command> --help` lists the flags of a command; in a checkout `npm run admin -- <command>` runs',
    'it. The database is the one of DATABASE_URL, the settings are those of the service. `--json` after any command writes',
    'its result as JSON. Exit code 0: done; 1: it failed, the message says why; 2: the command line is not understood.',
    '',
  ].join('\n');
}

/** The help of one command. */
export function helpOf({ name, summary, flags }: Command): string {
  const all: Command['flags'] = { ...flags, json: JSON_FLAG };
  const rows = Object.entries(all).map(([flag, { value, description, required }]) => ({
    flag: `--${flag}${value === undefined ? '' : ` ${value}`}`,
    text: `${description}${required ? ' (required)' : ''}`,
  }));
  const width = Math.max(0, ...rows.map(({ flag }) => flag.length));
  const lines = rows.map(({ flag, text }) => `  ${flag.padEnd(width)}  ${text}`);
  return [
    `lethe-server admin ${name}${lines.length > 0 ? ' [--flags]' : ''}`,
    '',
    summary,
    ...lines,
    '',
  ].join('\n');
}

function valuesOf(command: Command, args: readonly string[]): Given {
  const options = Object.fromEntries(
    Object.entries(command.flags).map(([flag, { type }]) => [flag, { type }]),
  );
  try {
    return parseArgs({
      args: [...args],
      options: { ...options, json: { type: 'boolean' }, help: { type: 'boolean' } },
    }).values;
  } catch (error) {
    throw new UsageError(`${firstSentence((error as Error).message)}\n\n${helpOf(command)}`);
  }
}

function requireFlags(command: Command, given: Given): void {
  for (const [flag, { required }] of Object.entries(command.flags)) {
    if (required && (given[flag] === undefined || given[flag] === ''))
      throw new UsageError(`--${flag} is missing.\n\n${helpOf(command)}`);
  }
}

/** Node adds how an argument that begins with a dash could be passed. No command takes one. */
function firstSentence(message: string): string {
  return `${message.split(/\. |\n/)[0]?.replace(/\.$/, '')}.`;
}
