import { Injectable } from '@nestjs/common';
import { type Tx, UnitOfWork } from '@app/database';

/** Pages of 8 KiB that one unit moves, about 1,000 keys. An erasure of one of them waits for this unit, a few milliseconds. */
const PAGES = 25;
/** More than the keys of these pages. */
const KEYS_MAX = 5_000;
/** Removed keys that one unit records. */
const BATCH = 1_000;
/** The maximum of milliseconds in which the start of a rewrite waits for units that add keys. Others wait behind it. */
const LOCK_MS = 50;

/** The two tables of the keys. */
type KeyTable = 'a' | 'b';

/**
 * Removes destroyed keys from the files of PostgreSQL, which leaves the bytes of deleted rows in place. A rewrite moves
 * every key to the other one of two tables. VACUUM then removes the file of the first table, with all keys that were
 * destroyed before the rewrite began. No reader ever waits for a rewrite.
 *
 * A rewrite can end at any point and is continued from its rows in `keys.removed_keys`. On SQLite a destroyed key is
 * overwritten in its place, and there is no rewrite.
 */
@Injectable()
export class KeyRewrite {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /**
   * Begins a rewrite, or continues one. Answers the table that becomes empty; undefined when no key was destroyed.
   * @throws ApiError 503 when units that add keys do not end in time
   */
  async begin(tx: Tx): Promise<KeyTable | undefined> {
    const removed = await tx.get<{ rewrites: number }>(FIRST_REMOVED);
    if (removed === undefined) return undefined;
    const number = await numberIn(tx);
    if (removed.rewrites < number) return tableOf(number - 1);
    await tx.run(`SET LOCAL lock_timeout = ${LOCK_MS}`);
    // Units that have added or removed a key under the old number have ended before it changes.
    await tx.run('LOCK TABLE keys.key_rewrite IN EXCLUSIVE MODE');
    await tx.run('UPDATE keys.key_rewrite SET number = number + 1');
    return tableOf(number);
  }

  /**
   * Moves the keys of some pages to the other table, in the order of the file: the write-ahead log gets few whole pages.
   * Answers the next page, undefined at the end of the file.
   */
  async move(tx: Tx, from: KeyTable, page: number): Promise<number | undefined> {
    const next = page + PAGES;
    await tx.run(MOVE[from], `(${page},0)`, `(${next},0)`);
    // A plan that was made for an empty table scans all of it: this replaces the plans of all connections.
    if (page === 0) await tx.run(`ANALYZE keys.subject_keys_${other(from)}`);
    const size = await tx.get<{ pages: number }>(SIZE[from]);
    return size !== undefined && next < size.pages ? next : undefined;
  }

  /** Removes the file of the emptied table; false as long as a snapshot or a unit still needs one of its rows. */
  async removeFile(from: KeyTable): Promise<boolean> {
    await this.unitOfWork.vacuum(`keys.subject_keys_${from}`);
    const row = await this.unitOfWork.read((tx) => tx.get<{ pages: number }>(SIZE[from]));
    return row?.pages === 0;
  }

  /** Some keys that the ended rewrite has removed from the files, taken from the list of destroyed keys. */
  async takeRemoved(tx: Tx): Promise<string[]> {
    const select = `SELECT id FROM keys.removed_keys WHERE rewrites < ? LIMIT ${BATCH}`;
    const ids = (await tx.all<{ id: string }>(select, await numberIn(tx))).map(({ id }) => id);
    await tx.run('DELETE FROM keys.removed_keys WHERE id = ANY(?)', ids);
    return ids;
  }
}

/** The key that was destroyed first, with the number of rewrites until then. */
const FIRST_REMOVED = 'SELECT rewrites FROM keys.removed_keys ORDER BY rewrites LIMIT 1';

async function numberIn(tx: Tx): Promise<number> {
  return (await tx.get<{ number: number }>('SELECT number FROM keys.key_rewrite'))?.number ?? 0;
}

/** The table that a key is added to after so many rewrites. */
const tableOf = (rewrites: number): KeyTable => (rewrites % 2 === 0 ? 'a' : 'b');
const other = (table: KeyTable): KeyTable => (table === 'a' ? 'b' : 'a');

/** A row that another unit changes is left to a later run, so that no unit waits for the other in a circle. */
const moveFrom = (from: KeyTable): string =>
  `WITH few AS MATERIALIZED (
     SELECT ctid FROM keys.subject_keys_${from} WHERE ctid >= ?::tid AND ctid < ?::tid
     LIMIT ${KEYS_MAX} FOR UPDATE SKIP LOCKED),
   moved AS (
     DELETE FROM keys.subject_keys_${from} WHERE ctid = ANY (ARRAY(SELECT ctid FROM few)) RETURNING id, sealed)
   INSERT INTO keys.subject_keys_${other(from)} (id, sealed) SELECT id, sealed FROM moved`;
const sizeOf = (table: KeyTable): string =>
  `SELECT pg_relation_size('keys.subject_keys_${table}') / current_setting('block_size')::int AS pages`;

const MOVE = { a: moveFrom('a'), b: moveFrom('b') };
const SIZE = { a: sizeOf('a'), b: sizeOf('b') };
