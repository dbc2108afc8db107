import { randomInt } from 'node:crypto';
import { basename } from 'node:path';
import { isEveryDay, isFull } from './depth';

const GIVEN = process.env['TEST_CHANCE_SEED'];

/**
 * Returns the seed of all random choices of a suite. It is a constant in `npm test`, and another constant in `npm run test:deep`:
 * a red run has its cause in a change, never in a new seed. At full depth each suite draws a seed. TEST_CHANCE_SEED sets it.
 */
export function seedOfSuite(): number {
  if (GIVEN !== undefined) return Number(GIVEN);
  if (isFull) return randomInt(2 ** 31);
  return isEveryDay ? 1 : 2;
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
