/** Up to this number of milliseconds each duration has a step of its own. */
const EXACT_MAX_MS = 20;
/** Above it each step is longer than the one before by this factor. */
const FACTOR = 1.15;
/** Longer durations, of more than two months, are in this step too. */
const STEP_MAX = 160;

/** Durations that are counted by their step. */
interface Durations {
  readonly steps: ReadonlyMap<number, number>;
  readonly longestMs: number;
}

/** The step of a duration. A clock that went back makes none negative. */
export function stepOf(durationMs: number): number {
  if (durationMs <= EXACT_MAX_MS) return Math.max(0, Math.round(durationMs));
  const above = Math.ceil(Math.log(durationMs / EXACT_MAX_MS) / Math.log(FACTOR));
  return Math.min(STEP_MAX, EXACT_MAX_MS + above);
}

/**
 * The duration in whole milliseconds that a share of all durations does not exceed, by the nearest rank; off by less than
 * 10 % of the duration at that rank.
 */
export function quantile({ steps, longestMs }: Durations, share: number): number {
  const ordered = [...steps].sort(([one], [other]) => one - other);
  const count = ordered.reduce((sum, [, total]) => sum + total, 0);
  let left = Math.max(1, Math.ceil(count * share));
  const found = ordered.find(([, total]) => (left -= total) <= 0);
  return found === undefined ? longestMs : Math.min(longestMs, middleOf(found[0]));
}

/** Between the ends of the step, at the same ratio to both. */
function middleOf(step: number): number {
  if (step <= EXACT_MAX_MS) return step;
  return Math.round(EXACT_MAX_MS * FACTOR ** (step - EXACT_MAX_MS - 0.5));
}
