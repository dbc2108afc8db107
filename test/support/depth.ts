import { basename } from 'node:path';
import { engine } from './database';

/**
 * TEST_DEPTH says which tests run. Without it (`npm test`) a deep suite takes part of its cases, and each kind of fault
 * happens at least once. `deep` (`npm run test:deep`) runs what that leaves out. `full` runs every case of the suites that
 * are named; a number does so too and multiplies the counts.
 */
const DEPTH = process.env['TEST_DEPTH'];

export const isFull = DEPTH !== undefined;

/** True when `npm test` has run this suite on this engine: jest.config.js decides it by the same names. */
const hasRun = DEPTH === 'deep' && isOfEveryDay(basename(expect.getState().testPath ?? ''));

function isOfEveryDay(suite: string): boolean {
  if (suite.includes('.deep.')) return false;
  return engine === 'sqlite' || !suite.endsWith('.e2e-spec.ts') || suite.endsWith('.engines.e2e-spec.ts');
}

/** The number of repetitions in a deep suite: `full` at full depth. The test is an `itInPart`. */
export function atDepth(everyday: number, full: number): number {
  return isFull ? full * (Number(DEPTH) || 1) : everyday;
}

const everyDay = globalThis.it;

/** A test of which `npm test` takes part of the cases or repetitions. */
export const itInPart: jest.It = everyDay;

/** A large test; `npm test` runs it only on SQLite if the suite runs on both engines. */
export const itOfSize: jest.It =
  (isFull || engine === 'sqlite') && !(hasRun && engine === 'sqlite') ? everyDay : everyDay.skip;

/** A long test, which `npm test` leaves out. */
export const itAtFullDepth: jest.It = isFull ? everyDay : everyDay.skip;

/** At the depth `deep` all other tests of a suite that has run are skipped. */
if (hasRun) {
  const { each, failing } = everyDay.skip;
  const skipped = (...test: Parameters<jest.It>) => everyDay.skip(...test);
  globalThis.it = Object.assign(skipped, { each, failing }, everyDay.skip, {
    skip: everyDay.skip,
  }) as jest.It;
}

/**
 * Every `step`th case, the first and the last among them; the others at the depth `deep`, and all at full depth. The test is
 * an `itInPart`.
 */
export function someOf<Case>(cases: readonly Case[], step: number): Case[] {
  if (isFull && !hasRun) return [...cases];
  const isTaken = (at: number): boolean => at % step === 0 || at === cases.length - 1;
  return casesOf(
    cases.filter((_, at) => isTaken(at)),
    cases.filter((_, at) => !isTaken(at)),
  );
}

/** The cases of `npm test`, those that it leaves out at the depth `deep`, and all at full depth. The test is an `itInPart`. */
export function casesOf<Case>(everyday: readonly Case[], others: readonly Case[]): Case[] {
  if (!isFull) return [...everyday];
  // `it.each` refuses an empty list.
  return hasRun && others.length > 0 ? [...others] : [...everyday, ...others];
}
