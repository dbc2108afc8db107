import { monitorEventLoopDelay } from 'node:perf_hooks';
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

/**
 * Begins to measure; the answer is the longest time that this process has stood still since, in milliseconds. A machine that
 * stops it for seconds says nothing about what it waits for.
 */
export function standstill(): () => number {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  return () => {
    delay.disable();
    return delay.max / 1e6;
  };
}
