import { parseArgs } from 'node:util';
import type { Type } from '@nestjs/common';
import { adminCommand, type Config } from '@app/kernel';
import { JSON_FLAG, type Output } from './output';

/** A flag of a command, with or without a value. */
export interface Flag {
  readonly type: 'string' | 'boolean';
  /** The placeholder of the value in the help. */
  readonly value?: string;
  readonly description: string;
  readonly required?: true;
}

/** The flags of the command line. */
export type Given = Readonly<Record<string, string | boolean | undefined>>;

/** The environment of a command. */
export interface Surroundings extends Omit<Output, 'end' | 'expectRows'> {
  readonly config: Config;
  /** The modules of a team, in addition to Lethe's own. */
  readonly further: readonly Type[];
}

/** One command of `npm run admin`. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly flags: Readonly<Record<string, Flag>>;
  /** The result is rows, each a line of JSON. */
  readonly rows?: true;
  /** @throws Error for a failure; a StartError for a failure that the operator can correct */
  run(given: Given, surroundings: Surroundings): Promise<void>;
}

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
    throw new UsageError(`There is no command ${name}. \`${adminCommand('--help')}\` lists them.`);
  const { help, ...given } = valuesOf(command, rest);
  if (help !== true) requireFlags(command, given);
  return { command, given, help: help === true };
}

/** Every command with its summary. */
export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    adminCommand('<command> [--flags]'),
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    `\`${adminCommand('<command> --help')}\` lists the flags of a command.`,
    'The database is the one of DATABASE_URL, the settings are those of the',
    'service. `--json` after any command writes its result as JSON. Exit code 0: done; 1: it failed, the message says why; 2: the command line is not understood.',
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
  const width = Math.max(...rows.map(({ flag }) => flag.length));
  const lines = rows.map(({ flag, text }) => `  ${flag.padEnd(width)}  ${text}`);
  return [adminCommand(`${name} [--flags]`), '', summary, ...lines, ''].join('\n');
}

function valuesOf(command: Command, args: readonly string[]): Given {
  const options = { ...command.flags, json: JSON_FLAG, help: { type: 'boolean' } } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
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
