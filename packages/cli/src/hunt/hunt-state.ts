import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { readText } from '../env-file';
import { refused, wrongUsage } from '../failures';
import type { Canary, Person } from './canaries';

const FORMAT = 'lethe-hunt/1';
const STAGES = ['planting', 'planted', 'erasing', 'erased'] as const;
export type Stage = (typeof STAGES)[number];

/** What a hunt remembers between its steps. It has ids of made-up users, and no key. */
export interface HuntState {
  readonly format: typeof FORMAT;
  readonly url: string;
  readonly bot_id: string;
  readonly guild_id: string;
  readonly planted_at: string;
  readonly stage: Stage;
  readonly people: readonly Person[];
}

export const newState = (given: Omit<HuntState, 'format' | 'stage'>): HuntState => ({
  ...{ format: FORMAT, stage: 'planting', ...given },
});

const NEXT: Readonly<Record<Stage, string>> = {
  planting: 'has people of a plant that was interrupted. Erase them with lethe hunt erase',
  planted: 'has people who are planted and not erased. Go on with lethe hunt erase',
  erasing: 'has people whose erasure is under way. Go on with lethe hunt erase',
  erased: 'is that of a hunt that is over',
};

/** Writes a new state file, readable by its owner alone. @throws Failure where there is one, which is not replaced */
export function createState(file: string, state: HuntState): void {
  try {
    writeFileSync(file, textOf(state), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw notWritten(file, error);
    throw refused(
      `${file} ${NEXT[readState(file).stage]}.`,
      'Nothing was planted. For a new hunt remove the file, or name another one with --state.',
    );
  }
}

/** Replaces the state file as a whole. */
export function changeState(file: string, state: HuntState): void {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, textOf(state), { flag: 'wx', mode: 0o600 });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw notWritten(file, error);
  }
}

/** @throws Failure of wrong usage for a file that is missing or no state of a hunt */
export function readState(file: string): HuntState {
  const text = readText(file);
  let state: unknown;
  try {
    state = JSON.parse(text);
  } catch {
    state = undefined;
  }
  if (isState(state)) return state;
  throw wrongUsage(
    `${file} is no state of a hunt (${FORMAT}).`,
    'Name the file that lethe hunt plant has written, with --state.',
  );
}

/** @throws Failure where the state is about another bot or another service, and names both */
export function requireSame(file: string, state: HuntState, url: string, botId: string): void {
  if (state.url === url && state.bot_id === botId) return;
  throw refused(
    `${file} is about the bot ${state.bot_id} at ${state.url}, and this is ${botId} at ${url}.`,
    'Nothing was erased. Set LETHE_URL and LETHE_KEY of that bot, or name the right file with --state.',
  );
}

const textOf = (state: HuntState): string => `${JSON.stringify(state, null, 2)}\n`;

const notWritten = (file: string, error: unknown): Error =>
  refused(
    `${file} cannot be written: ${(error as Error).message}`,
    'Check the permissions of the folder, or name another file with --state.',
  );

function isState(value: unknown): value is HuntState {
  const { format, stage, people, ...rest } = (value ?? {}) as Partial<Record<keyof HuntState, unknown>>;
  return (
    format === FORMAT &&
    STAGES.some((one) => one === stage) &&
    [rest.url, rest.bot_id, rest.guild_id, rest.planted_at].every((text) => typeof text === 'string') &&
    Array.isArray(people) &&
    people.length > 0 &&
    people.every(isPerson)
  );
}

function isPerson(value: unknown): boolean {
  const { user_id, canaries, requests } = (value ?? {}) as Partial<Record<keyof Person, unknown>>;
  return (
    /^\d{19}$/.test(String(user_id)) &&
    Array.isArray(requests) &&
    requests.every((id) => typeof id === 'string') &&
    Array.isArray(canaries) &&
    canaries.every(isCanary)
  );
}

function isCanary(value: unknown): boolean {
  const { about, word } = (value ?? {}) as Partial<Record<keyof Canary, unknown>>;
  return typeof about === 'string' && /^[a-z]{24}$/.test(String(word));
}
