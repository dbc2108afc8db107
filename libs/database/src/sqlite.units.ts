import type { Tx } from './tx';

/** A unit that waits for its group. */
export interface Unit {
  readonly work: (tx: Tx) => Promise<unknown>;
  /** The second part of a unit that destroys keys. */
  readonly then?: (tx: Tx, value: never, isScrubbed: boolean) => Promise<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** A unit that was run. Its outcome is answered after the COMMIT of its group. */
export interface Ended {
  readonly unit: Unit;
  readonly outcome: { value: unknown } | { error: unknown };
  readonly callbacks: readonly (() => void)[];
}

/** Answers what each unit of a group has come to. */
export function settle(group: readonly Ended[]): void {
  for (const { unit, outcome } of group) {
    if ('error' in outcome) unit.reject(outcome.error);
    else unit.resolve(outcome.value as never);
  }
}
