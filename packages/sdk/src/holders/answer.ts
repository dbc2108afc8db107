import type { Journal } from './journal';
import type { Keeps, Store, Who } from './store';

/** What is known of an erasure or export in Lethe: its time, and its subject. */
export interface Task extends Who {
  readonly task_id: string;
  /** `erase` or `export`. What else a later version of Lethe names is left alone. */
  readonly act: string;
  readonly created_at: string;
  readonly result: string | null;
}

/** The answer to a task, as it is acknowledged. It has nothing personal. */
export interface Answered {
  readonly result: 'erased' | 'nothing' | 'kept' | 'failed';
  /** What was found, by the name of the store. */
  readonly counts: Readonly<Record<string, number>>;
  readonly kept?: { readonly basis: string; readonly until: string };
}

/** A store with its journal, where it can keep one. */
export interface Place {
  readonly store: Store;
  readonly journal: Journal | undefined;
}

/** What could not be done in a store. Its words have no id. */
export class HolderError extends Error {
  override readonly name = 'HolderError';

  constructor(
    message: string,
    /** The store; undefined where the service is meant. */
    readonly store?: string,
    readonly task_id?: string,
    readonly code?: string,
  ) {
    super(message);
  }
}

export interface AnswerOptions {
  /** Whether no other guild of the bot gives a reason to keep data. */
  readonly isLast: () => Promise<boolean>;
  /** Whether the guild of the task has a reason to keep data: the user is back. */
  readonly isBack: () => Promise<boolean>;
  /** Whether the service has failed with an error, and no store. */
  readonly isFault: (error: unknown) => boolean;
  readonly onError: (error: HolderError) => void;
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
}

const SNOWFLAKE = /^\d{1,20}$/;
const TASK = /^[\da-f-]{36}$/i;
/** Of the basis, in code points, as the service counts them. */
const BASIS_MAX = 200;
const CASCADE =
  'Another table that was erased has taken them along by ON DELETE CASCADE: remove it, or keep that table too.';
/** What Lethe shows as a user whose ids it has lost. */
const LOST = /^0{20}$/;

/** Rows that are kept, as they were found before the others were erased. */
interface Found {
  readonly keeps: Keeps;
  readonly place: Place;
  readonly who: Task;
  readonly found: number;
}

/**
 * Erases the subject of a task in every place, and looks again. An error of one store does not keep the others. What is kept is counted
 * first, and again after all erasures: a foreign key may erase it too.
 * @throws what isLast throws: a fault of the service is none of a store
 */
export async function answerTo(
  task: Task,
  places: readonly Place[],
  options: AnswerOptions,
): Promise<Answered> {
  const counts: Record<string, number> = {};
  const kept: Found[] = [];
  let hasFailed = false;
  const { isLast } = options;
  const tried = async (place: Place, act: () => Promise<void>): Promise<void> => {
    options.signal.throwIfAborted();
    try {
      await act();
    } catch (error) {
      options.signal.throwIfAborted();
      if (options.isFault(error)) throw error;
      hasFailed = true;
      options.onError(holderError(error, place.store, task));
    }
  };
  for (const place of keptFirst(places)) {
    const { name, keeps, everywhere } = place.store;
    await tried(place, async () => {
      requireIds(task);
      if (everywhere === true && !(await isLast())) {
        if (!options.isDryRun) await (isKept(keeps) ? leaveKept(task, place, options) : leave(task, place));
        return;
      }
      const who = everywhere === 'partly' ? { ...task, isLast: await isLast() } : task;
      const isInForce = isKept(keeps);
      const noted = isInForce ? undefined : await place.journal?.erasedBy(task.task_id);
      if (noted !== undefined && (await options.isBack())) {
        // Erased by an earlier attempt, while another store failed. What is there now was given since.
        counts[name] = noted;
        return;
      }
      const found = await (isInForce || options.isDryRun ? place.store.count(who) : erased(who, place));
      counts[name] = found;
      if (!isInForce) return;
      if (found > 0) kept.push({ keeps, place, who, found });
      if (!options.isDryRun) await leaveKept(task, place, options);
    });
  }
  for (const { place, who, found } of options.isDryRun ? [] : kept)
    await tried(place, async () => {
      const left = requireCount(await place.store.count(who));
      counts[place.store.name] = left;
      if (left < found) throw new Error(`Only ${left} of ${found} kept rows are left. ${CASCADE}`);
    });
  if (hasFailed) return { result: 'failed', counts };
  if (kept.length > 0) return { result: 'kept', counts, kept: together(kept.map(({ keeps }) => keeps)) };
  return { result: Object.values(counts).some((count) => count > 0) ? 'erased' : 'nothing', counts };
}

const keptFirst = (places: readonly Place[]): Place[] => [
  ...places.filter(({ store }) => isKept(store.keeps)),
  ...places.filter(({ store }) => !isKept(store.keeps)),
];

/** A store that is left or kept is done: a later start must not erase what the user gives who has come back. */
export const leave = async (task: Task, { journal }: Place): Promise<void> => journal?.leave(task);

/** What is kept is answered also where the bot may note nothing. */
export const leaveKept = (
  task: Task,
  place: Place,
  { onError, signal }: Pick<AnswerOptions, 'onError' | 'signal'>,
): Promise<void> =>
  leave(task, place).catch((error: unknown) => {
    signal.throwIfAborted();
    onError(holderError(error, place.store, task));
  });

/**
 * Erases in one place, and answers what was found by the first attempt.
 * @throws Error where the second look finds something
 */
export async function erased(task: Task, { store, journal }: Place): Promise<number> {
  const found = requireCount(await store.count(task));
  const first = journal === undefined ? found : await journal.begin(task, found);
  if (found > 0) {
    await store.erase(task);
    const left = requireCount(await store.count(task));
    if (left > 0) throw new Error(`The second look still finds ${left} of ${found}.`);
  }
  await journal?.end(task, first);
  return first;
}

/** The error of a store in words without the ids of the task. The words of a driver may quote them. */
export function holderError(error: unknown, store: Store, task?: Task): HolderError {
  const { message, code } = (error ?? {}) as { message?: unknown; code?: unknown };
  const ids = task === undefined ? [] : [task.user_id, task.guild_id].filter((id) => id.length > 3);
  const words = ids.reduce(
    (text, id) => text.replaceAll(id, '…'),
    typeof message === 'string' ? message : String(error),
  );
  return new HolderError(
    `${store.name}: ${words}`,
    store.name,
    task?.task_id,
    typeof code === 'string' ? code : undefined,
  );
}

export const hasLostIds = ({ user_id }: Pick<Who, 'user_id'>): boolean => LOST.test(user_id);

/** An id becomes part of a key of Redis and of a path. @throws TypeError for ids of no user and of no task */
export function requireIds({ user_id, guild_id, task_id }: Task): void {
  if (hasLostIds({ user_id }))
    throw new TypeError('Lethe has lost the ids of this task in a restore: find the user elsewhere.');
  if (!SNOWFLAKE.test(user_id) || !SNOWFLAKE.test(guild_id))
    throw new TypeError('The ids of the task are not digits: this is no answer of Lethe.');
  if (!TASK.test(task_id)) throw new TypeError('The id of the task is no UUID: this is no answer of Lethe.');
}

/** @throws TypeError for no whole number from 0 */
export function requireCount(count: unknown): number {
  if (!Number.isSafeInteger(count) || Number(count) < 0)
    throw new TypeError('count must answer a whole number of rows.');
  return Number(count);
}

/** Whether the rows of a store have to be kept now. */
export const isKept = (keeps: Keeps | undefined): keeps is Keeps =>
  keeps !== undefined && Date.parse(untilOf(keeps)) > Date.now();

const untilOf = ({ until }: Keeps): string => new Date(until).toISOString();

/** All bases, up to the last time. */
function together(kept: readonly Keeps[]): { basis: string; until: string } {
  const all = [...new Set(kept.map((one) => one.basis))].join('; ');
  const basis = [...all].slice(0, BASIS_MAX).join('');
  return { basis, until: kept.map(untilOf).sort().at(-1) ?? '' };
}
