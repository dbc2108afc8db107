import { setTimeout as pause } from 'node:timers/promises';

/** Resolves once it holds; in between others have their turn, the time limit of the test among them. */
export async function until(holds: () => boolean | Promise<boolean>, everyMs = 20): Promise<void> {
  while (!(await holds())) await pause(everyMs);
}

/** Resolves once the clock shows another millisecond, so that what comes is later than what was. */
export function nextMillisecond(): Promise<void> {
  const sinceMs = Date.now();
  return until(() => Date.now() > sinceMs, 1);
}
