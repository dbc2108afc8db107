import type { Type } from '@nestjs/common';
import type { Config } from '@app/kernel';
import type { Progress } from './progress';

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
export interface Surroundings {
  readonly config: Config;
  /** The modules of a team, in addition to Lethe's own. */
  readonly further: readonly Type[];
  /** Writes to standard output, which holds the result. Resolves when the text is taken. */
  readonly data: (text: string) => Promise<void>;
  /** Writes a line for readers to standard error. */
  readonly tell: (line: string) => void;
  readonly progress: Progress;
}

/** One command of `npm run admin`. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly flags: Readonly<Record<string, Flag>>;
  /** @throws Error for a failure; a StartError for a failure that the operator can correct */
  run(given: Given, surroundings: Surroundings): Promise<void>;
}
