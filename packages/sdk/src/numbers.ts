/** @throws RangeError that names a number among the options that is not finite, or out of its range. */
export function requireNumber(name: string, value: unknown, min: number, max: number): void {
  if (value === undefined) return;
  if (typeof value !== 'number' || !(value >= min && value <= max))
    throw new RangeError(
      `${name} must be a number from ${min} to ${max}, not ${typeof value === 'number' ? value : typeof value}.`,
    );
}

/** The longest time of a timer, in milliseconds: JavaScript ends a longer one at once. */
export const TIMER_MAX_MS = 2 ** 31 - 1;
