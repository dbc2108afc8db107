import { basename, dirname } from 'node:path';
import { engine } from './database';

/**
 * TEST_DEPTH says which tests run. Without it (`npm test`) each kind of fault happens at least once. `deep` (`npm run
 * test:deep`) runs what that leaves out, the `.deep.` suites with part of their cases. `full` runs every case, which is done
 * at night; a number does so too and multiplies the counts.
 */
const DEPTH = process.env['TEST_DEPTH'];

export const isFull = DEPTH !== undefined && DEPTH !== 'deep';
/** True in `npm test`. */
export const isEveryDay = DEPTH === undefined;

const path = expect.getState().testPath ?? '';
const suite = basename(path);
/** True when `npm test` has run this suite on this engine: jest.config.js decides it by the same names. */
const hasRun = DEPTH === 'deep' && isOfEveryDay();
/** True when this run takes part of the cases. */
const isInPart = isEveryDay || (DEPTH === 'deep' && suite.includes('.deep.'));

function isOfEveryDay(): boolean {
  if (suite.includes('.deep.')) return false;
  if (engine === 'sqlite' || !suite.endsWith('.e2e-spec.ts')) return true;
  return suite.endsWith('.engines.e2e-spec.ts') && basename(dirname(path)) !== 'contract';
}

/**
 * The number of repetitions: `part` where this run takes part, `full` at full depth, and in between about a third of it, a
 * multiple of `part`. The test is an `itInPart`, or its suite a `.deep.` one.
 */
export function atDepth(part: number, full: number): number {
  if (isInPart) return part;
  return isFull ? full * (Number(DEPTH) || 1) : part * Math.ceil(full / 3 / part);
}

/** The same for the distance between two cases. */
export function stepAtDepth(part: number, full: number): number {
  if (isInPart) return part;
  return isFull ? full : Math.max(full, Math.ceil(part / 3));
}

const everyDay = globalThis.it;

/** A test of which `npm test` takes part of the cases or repetitions. */
export const itInPart: jest.It = everyDay;

/** A large test; `npm test` runs it only on SQLite if the suite runs on both engines. */
export const itOfSize: jest.It =
  (!isEveryDay || engine === 'sqlite') && !(hasRun && engine === 'sqlite') ? everyDay : everyDay.skip;

/** A long test, which `npm test` leaves out. */
export const itAtFullDepth: jest.It = isEveryDay ? everyDay.skip : everyDay;

/** A very long test, which runs at night alone; its parts have short tests. */
export const itAtNight: jest.It = isFull ? everyDay : everyDay.skip;

/** At the depth `deep` all other tests of a suite that has run are skipped. */
if (hasRun) {
  const { each, failing } = everyDay.skip;
  const skipped = (...test: Parameters<jest.It>) => everyDay.skip(...test);
  globalThis.it = Object.assign(skipped, { each, failing }, everyDay.skip, {
    skip: everyDay.skip,
  }) as jest.It;
}

/**
 * Every `step`th case, the first and the last among them, where this run takes part; the others where `npm test` has taken
 * them, and all at full depth. The test is an `itInPart`, or its suite a `.deep.` one.
 */
export function someOf<Case>(cases: readonly Case[], step: number): Case[] {
  if (!isInPart && !hasRun) return [...cases];
  const isTaken = (at: number): boolean => at % step === 0 || at === cases.length - 1;
  const some = cases.filter((_, at) => isTaken(at) === isInPart);
  // `it.each` refuses an empty list.
  return some.length > 0 ? some : [...cases];
}

/** The cases of `npm test`, those that it leaves out at the depth `deep`, and all at full depth. The test is an `itInPart`. */
export function casesOf<Case>(everyday: readonly Case[], others: readonly Case[]): Case[] {
  if (isEveryDay) return [...everyday];
  // `it.each` refuses an empty list.
  return hasRun && others.length > 0 ? [...others] : [...everyday, ...others];
}
