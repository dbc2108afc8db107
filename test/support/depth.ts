import { engine } from './database';

/**
 * TEST_DEPTH: `full` runs everything (`npm run test:all`); a number multiplies the counts. Without it a deep suite takes
 * part of its cases, and each kind of fault happens at least once (`npm test`).
 */
const DEPTH = process.env['TEST_DEPTH'];

export const isFull = DEPTH !== undefined;

/** The number of repetitions in a deep suite: `full` at full depth. */
export function atDepth(everyday: number, full: number): number {
  return isFull ? full * (Number(DEPTH) || 1) : everyday;
}

/** A large test; `npm test` runs it only on SQLite if the suite runs on both engines. */
export const itOfSize: jest.It = isFull || engine === 'sqlite' ? it : it.skip;

/** A long test; only `npm run test:all` runs it. */
export const itAtFullDepth: jest.It = isFull ? it : it.skip;

/** All cases at full depth; without it every `step`th, the first and the last among them. */
export function someOf<Case>(cases: readonly Case[], step: number): Case[] {
  return cases.filter((_, at) => isFull || at % step === 0 || at === cases.length - 1);
}
