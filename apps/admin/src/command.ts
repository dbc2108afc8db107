import type { Type } from '@nestjs/common';
import type { Config } from '@app/kernel';
import type { Output } from './output';

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

/** One command of `lethe-server admin`. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly flags: Readonly<Record<string, Flag>>;
  /** The result is rows, each a line of JSON. */
  readonly rows?: true;
  /** @throws Error for a failure; a StartError for a failure that the operator can correct */
  run(given: Given, surroundings: Surroundings): Promise<void>;
}
