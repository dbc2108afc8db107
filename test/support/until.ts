import { setTimeout as pause } from 'node:timers/promises';

/** Resolves when the condition is true; yields in between, so that the time limit of the test works. */
export async function until(holds: () => boolean | Promise<boolean>, everyMs = 20): Promise<void> {
  while (!(await holds())) await pause(everyMs);
}

/** Resolves in the next millisecond, so that later times are greater. */
export function nextMillisecond(): Promise<void> {
  const sinceMs = Date.now();
  return until(() => Date.now() > sinceMs, 1);
}

/** Resolves in the next second, for names and times of whole seconds. */
export function nextSecond(): Promise<void> {
  const second = (): number => Math.floor(Date.now() / 1000);
  const since = second();
  return until(() => second() > since);
}
