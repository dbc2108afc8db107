import type { Tx } from '@app/database';
import type { Digest } from '@app/primitives';
import type { NamedSubject, Subject } from '@app/subjects';

/** The row of a claim. */
export interface ClaimName {
  readonly botId: string;
  readonly id: Digest;
}

/** The text to store for a repeat. It holds no id of a user or guild in plain. */
export interface Kept {
  readonly text: string;
  /** The subject of the text: it is erased with this subject. */
  readonly subject?: Subject;
}

/** How the outcome of an act is stored for a repeat of its request. */
export interface Form<Outcome> {
  write(outcome: Outcome, claim: ClaimName): Kept;
  /** The outcome for the repeat; undefined where the act has to be done again. */
  read(given: Found): Outcome | undefined | Promise<Outcome | undefined>;
  /** Whether the act continues behind this outcome. Without it every outcome is the last. */
  isPartial?(outcome: Outcome): boolean;
}

/** What a repeat has found. */
export interface Found extends Kept {
  readonly claim: ClaimName;
  readonly tx: Tx;
}

/** An outcome that is about no user or guild, and not secret. */
export function plain<Outcome>(): Form<Outcome> {
  return {
    write: (outcome) => ({ text: JSON.stringify(outcome) }),
    read: ({ text }) => JSON.parse(text) as Outcome,
  };
}

/**
 * An outcome about a subject, stored without the fields of `given`: the repeated request has these values. What is stored
 * must not identify anybody.
 */
export function about<Outcome extends object>(
  subject: NamedSubject,
  given: Partial<NoInfer<Outcome>>,
): Form<Outcome> {
  return {
    write: (outcome) => {
      // The fields stay, so that the answer to a repeat has them in the same order.
      const blank = Object.fromEntries(Object.keys(given).map((name) => [name, null]));
      return { text: JSON.stringify({ ...outcome, ...blank }), subject };
    },
    read: ({ text }) => Object.assign(JSON.parse(text) as Outcome, given),
  };
}
