import type { Type } from '@nestjs/common';
import type { Config } from '@app/kernel';
import type { Progress } from './progress';

/** A flag of a command: with a text behind it, or without. */
export interface Flag {
  readonly type: 'string' | 'boolean';
  /** What stands behind it in the help. */
  readonly value?: string;
  readonly description: string;
  readonly required?: true;
}

/** What was given on the command line. */
export type Given = Readonly<Record<string, string | boolean | undefined>>;

/** What a command works with. */
export interface Surroundings {
  readonly config: Config;
  /** The modules of a team, beside Lethe's own. */
  readonly further: readonly Type[];
  /** The answer: standard output. Resolves once it is taken. */
  readonly data: (text: string) => Promise<void>;
  /** What people read: standard error. */
  readonly tell: (line: string) => void;
  readonly progress: Progress;
}

/** One command of `npm run admin`. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly flags: Readonly<Record<string, Flag>>;
  /** @throws Error for a failure; one that the operator can mend is a StartError. */
  run(given: Given, surroundings: Surroundings): Promise<void>;
}
