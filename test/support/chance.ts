import { randomInt } from 'node:crypto';
import { basename } from 'node:path';
import { isFull } from './depth';

const GIVEN = process.env['TEST_CHANCE_SEED'];

/**
 * The seed of what a suite does by chance. Outside the nights it is always the same one, so that a run of the gate is red for a
 * change and never for its day. At full depth each suite has another one; TEST_CHANCE_SEED repeats it.
 */
export function seedOfSuite(): number {
  return Number(GIVEN ?? (isFull ? randomInt(2 ** 31) : 1));
}

let suite: string | undefined;
let state = 0;

/** A random number in [0, 1) (mulberry32). The first one of a suite prints the seed of all. */
export function chance(): number {
  const { testPath } = expect.getState();
  if (testPath !== suite) {
    suite = testPath;
    state = seedOfSuite();
    process.stderr.write(`${basename(testPath ?? '')}: TEST_CHANCE_SEED=${state}\n`);
  }
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

/** One of several, by chance. */
export function oneOf<T>(some: readonly T[]): T {
  return some[Math.floor(chance() * some.length)] as T;
}
