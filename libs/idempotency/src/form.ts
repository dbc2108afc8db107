import type { Tx } from '@app/database';
import type { Digest } from '@app/primitives';

/** The row of a claim. */
export interface ClaimName {
  readonly botId: string;
  readonly id: Digest;
}

/** What a repeat has found. */
export interface Found {
  /** What {@link Form.write} has answered. */
  readonly text: string;
  readonly claim: ClaimName;
  readonly tx: Tx;
}

/** How the outcome of an act is stored for a repeat of its request. */
export interface Form<Outcome> {
  /** The text to store. It holds nothing about a person in plain. */
  write(outcome: Outcome, claim: ClaimName, tx: Tx): string | Promise<string>;
  /** The outcome for the repeat; undefined where the act has to be done again. */
  read(found: Found): Outcome | undefined | Promise<Outcome | undefined>;
  /** Whether the act continues behind this outcome. Without it every outcome is the last. */
  isPartial?(outcome: Outcome): boolean;
}

/** An outcome that is about no user or guild, and not secret. */
export function plain<Outcome>(): Form<Outcome> {
  return {
    write: (outcome) => JSON.stringify(outcome),
    read: ({ text }) => JSON.parse(text) as Outcome,
  };
}
