import type { FieldFault } from '@app/kernel';

/** Adds the fault that `faultOf` finds in each number of `value`. */
export function addNumberFaults(
  value: unknown,
  path: string,
  faults: FieldFault[],
  faultOf = numberFault,
): void {
  if (typeof value === 'number') {
    const message = faultOf(value);
    if (message !== undefined) faults.push({ field: path, message });
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value))
      addNumberFaults(inner, entryPath(value, path, key), faults, faultOf);
  }
}

/** The path of an entry of the object or list at `path`. */
export function entryPath(parent: object, path: string, key: string): string {
  if (Array.isArray(parent)) return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** Larger numbers are written with an exponent. */
const EXPONENT_FROM = 1e21;

const LOSES_DIGITS =
  'must be at most 2^53 - 1 in size: send larger numbers as a string, so that they keep their digits';

/**
 * The reason why a JSON number cannot be kept exactly; undefined for a number that can. 1e400 is read as Infinity and
 * written as null, and integers above 2^53 lose digits (RFC 8259, section 6).
 */
export function numberFault(value: number): string | undefined {
  if (!Number.isFinite(value)) return 'must be a finite number';
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < EXPONENT_FROM) {
    return LOSES_DIGITS;
  }
  return undefined;
}

/** The fault of a number from 1e21 on that was written without an exponent. With one it is kept as it is written. */
export function longNumberFault(value: number): string | undefined {
  return Math.abs(value) >= EXPONENT_FROM ? LOSES_DIGITS : undefined;
}

/**
 * Applies `patch` to `target` (RFC 7396): `null` removes a key, objects are merged, every other value replaces. New
 * objects have no prototype, so that keys like `__proto__` are ordinary keys.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = Object.create(null) as Record<string, unknown>;
  if (isObject(target)) for (const [key, value] of Object.entries(target)) merged[key] = value;
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
