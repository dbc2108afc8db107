import { Injectable } from '@nestjs/common';
import { type Tx, UnitOfWork } from '@app/database';

/** Keys that one unit moves. An erasure of one of them waits for this unit, a few milliseconds. */
const CHUNK = 1_000;
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

  /** Moves some keys behind the id `after` to the other table; answers the last id, undefined when no key is left. */
  async move(tx: Tx, from: KeyTable, after: string): Promise<string | undefined> {
    const last = (await tx.get<{ last: string | null }>(MOVE[from], after))?.last ?? undefined;
    // A plan that was made for an empty table scans all of it: this replaces the plans of all connections.
    if (after === '' && last !== undefined) await tx.run(`ANALYZE keys.subject_keys_${other(from)}`);
    return last;
  }

  /** Removes the file of the emptied table; false as long as a snapshot or a unit still needs one of its rows. */
  async removeFile(from: KeyTable): Promise<boolean> {
    await this.unitOfWork.vacuum(`keys.subject_keys_${from}`);
    const row = await this.unitOfWork.read((tx) => tx.get<{ bytes: number }>(SIZE[from]));
    return row?.bytes === 0;
  }

  /** Some keys that the ended rewrite has removed from the files, taken from the list of destroyed keys. */
  async takeRemoved(tx: Tx): Promise<string[]> {
    const select = `SELECT id FROM keys.removed_keys WHERE rewrites < ? LIMIT ${CHUNK}`;
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
     SELECT id FROM keys.subject_keys_${from} WHERE id > ? ORDER BY id LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED),
   gone AS (
     DELETE FROM keys.subject_keys_${from} stored USING few WHERE stored.id = few.id
     RETURNING stored.id, stored.sealed),
   moved AS (
     INSERT INTO keys.subject_keys_${other(from)} (id, sealed) SELECT id, sealed FROM gone ORDER BY id RETURNING id)
   SELECT MAX(id) AS last FROM moved`;

const MOVE = { a: moveFrom('a'), b: moveFrom('b') };
const SIZE = {
  a: `SELECT pg_relation_size('keys.subject_keys_a') AS bytes`,
  b: `SELECT pg_relation_size('keys.subject_keys_b') AS bytes`,
};
