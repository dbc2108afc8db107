/** The shortest time of which a speed is taken, in milliseconds. */
const MEASURED_MS = 5_000;
/** The least part of the work that a speed is taken of. */
const MEASURED_PART = 0.01;

/** The amount of work: of a part of a command, of all its tables. */
export interface Amount {
  readonly done: number;
  readonly total: number;
}

/**
 * The time that is left for some work. The speed is that of this process alone, which has begun it `tookMs` ago: what an earlier
 * run has done counts as done, but not for the speed. Undefined until five seconds and a hundredth of the work of this
 * process have passed: before, it would be a guess.
 */
export function secondsLeft(begun: Amount, { done, total }: Amount, tookMs: number): number | undefined {
  const [here, all] = [done - begun.done, total - begun.done];
  if (tookMs < MEASURED_MS || here < all * MEASURED_PART || here <= 0) return undefined;
  return ((total - done) * tookMs) / here / 1000;
}

/** `about 40 s`, `about 3 min`, `about 2.5 h`: rounded up, since it is no promise. */
export function aboutOf(seconds: number): string {
  if (seconds < 55) return `about ${Math.max(5, Math.ceil(seconds / 5) * 5)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `about ${minutes} min` : `about ${(Math.ceil(seconds / 360) / 10).toFixed(1)} h`;
}
