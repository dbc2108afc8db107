import { type AnswerOptions, holderError, type Place, requireCount, requireIds, type Task } from './answer';
import { jsonSafe } from './json-safe';
import type { Exported, Store, Who } from './store';

/** The answer to a task with the act `export`. */
export interface ExportAnswer {
  readonly result: 'exported' | 'nothing' | 'failed';
  /** What was found, by the name of the store, also what has no room in the data. It stays in the bot. */
  readonly counts: Readonly<Record<string, number>>;
  /** What the stores have about the user, by their names; with the result `exported` alone. */
  readonly data?: ExportData;
}

/** All entries of a store; those that had room, with the number of the others; or the number alone of a store that exports none. */
export type StoreData =
  | readonly unknown[]
  | { readonly rows: readonly unknown[]; readonly left_out: number }
  | { readonly not_exported: true; readonly found: number };
export type ExportData = Readonly<Record<string, StoreData>>;

/** Of the data of one holder as JSON. Lethe takes 229,376 bytes. */
const DATA_MAX_BYTES = 225_000;
/** How many entries are asked of one store. */
const ROWS_MAX = 1000;
/** The names of the fields and a number beside the entries of one store. */
const FRAME_BYTES = 60;

/** An entry, and its length as JSON with a comma. */
type Sized = readonly [entry: unknown, bytes: number];

interface Found {
  readonly name: string;
  readonly count: number;
  /** Undefined for a store that exports nothing. */
  readonly entries: readonly Sized[] | undefined;
}

/** Asks every place for what it has about the subject of a task, and changes nothing. */
export async function exportOf(
  task: Task,
  places: readonly Place[],
  { onError, signal }: Pick<AnswerOptions, 'onError' | 'signal'>,
): Promise<ExportAnswer> {
  const all: Found[] = [];
  for (const { store } of places) {
    signal.throwIfAborted();
    try {
      requireIds(task);
      all.push({ name: store.name, ...(await foundIn(store, task)) });
    } catch (error) {
      signal.throwIfAborted();
      onError(holderError(error, store, task));
    }
  }
  const counts = Object.fromEntries(all.map(({ name, count }) => [name, count]));
  if (all.length < places.length) return { result: 'failed', counts };
  if (all.every(({ count }) => count === 0)) return { result: 'nothing', counts };
  return { result: 'exported', counts, data: dataOf(all) };
}

async function foundIn(store: Store, who: Who): Promise<Omit<Found, 'name'>> {
  // An export has also what belongs to no guild.
  const about = store.everywhere === 'partly' ? { ...who, isLast: true } : who;
  if (store.export === undefined)
    return { count: requireCount(await store.count(about)), entries: undefined };
  const given = await store.export(who, { rows: ROWS_MAX, bytes: DATA_MAX_BYTES });
  const { rows, left_out = 0 } = Array.isArray(given)
    ? { rows: given as readonly unknown[] }
    : (given as Exported);
  if (!Array.isArray(rows))
    throw new TypeError('export must answer a list, or an object with a list as rows.');
  const count = rows.length + requireCount(left_out);
  return { count, entries: rows.map((row): Sized => sized(jsonSafe(row))) };
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const sized = (entry: unknown): Sized => [entry, bytesOf(entry) + 1];

/** What fits, in the order of the places. */
function dataOf(all: readonly Found[]): ExportData {
  const frames = all.reduce((sum, { name }) => sum + bytesOf(name) + FRAME_BYTES, 0);
  const sizes = all.map(({ entries = [] }) => entries.reduce((sum, [, bytes]) => sum + bytes, 0));
  const shares = divided(DATA_MAX_BYTES - frames, sizes);
  return Object.fromEntries(
    all.map(({ name, count, entries }, at): [string, StoreData] => {
      // An empty store is empty, whether it could export or not.
      if (entries === undefined) return [name, count === 0 ? [] : { not_exported: true, found: count }];
      const rows = fitting(entries, shares[at] ?? 0);
      return [name, rows.length === count ? rows : { rows, left_out: count - rows.length }];
    }),
  );
}

/** The same room for each, and what one does not need for the others. */
function divided(room: number, sizes: readonly number[]): number[] {
  const shares: number[] = [];
  let left = room;
  const bySize = [...sizes.keys()].sort((one, other) => (sizes[one] ?? 0) - (sizes[other] ?? 0));
  for (const [done, at] of bySize.entries()) {
    const share = Math.min(sizes[at] ?? 0, Math.floor(left / (sizes.length - done)));
    shares[at] = share;
    left -= share;
  }
  return shares;
}

/** The entries in their order, but for those that are too long for the room that is left. */
function fitting(entries: readonly Sized[], room: number): unknown[] {
  let left = room;
  return entries
    .filter(([, bytes]) => {
      if (bytes > left) return false;
      left -= bytes;
      return true;
    })
    .map(([entry]) => entry);
}
