import { engine } from './database';

/**
 * TEST_DEPTH: `full` does everything (`npm run test:all`), a number so many times as much. Without it each fault happens
 * at least once (`npm test`).
 */
const DEPTH = process.env['TEST_DEPTH'];

export const isFull = DEPTH !== undefined;

/** How often a deep suite does something: `full` times at full depth. */
export function atDepth(everyday: number, full: number): number {
  return isFull ? full * (Number(DEPTH) || 1) : everyday;
}

/** A test of something large, which `npm test` does on SQLite alone where the suite runs on both engines. */
export const itOfSize: jest.It = isFull || engine === 'sqlite' ? it : it.skip;

/** All cases at full depth; without it every `step`th, the first and the last among them. */
export function someOf<Case>(cases: readonly Case[], step: number): Case[] {
  return cases.filter((_, at) => isFull || at % step === 0 || at === cases.length - 1);
}
