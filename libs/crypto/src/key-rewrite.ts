import { Injectable } from '@nestjs/common';
import { amongValues, type Lease, type Tx, UnitOfWork } from '@app/database';
import { OwnError } from '@app/kernel';

/** Pages of 8 KiB that one unit moves, about 1,000 keys. An erasure of one of them waits for this unit. */
const PAGES = 25;
/** More than the keys of these pages. */
const KEYS_MAX = 5_000;
/** Removed keys that one unit records. */
const BATCH = 1_000;

/** The two tables of the keys. */
type KeyTable = 'a' | 'b';

/**
 * Removes destroyed keys from the files of PostgreSQL, which leaves the bytes of deleted rows in place. A rewrite moves
 * every key to the other one of two tables. When no snapshot needs a row of the first table any more, its file is removed,
 * with all keys that were destroyed before the rewrite began. A request waits for one unit of a rewrite at most.
 *
 * A rewrite can end at any point and is continued, since its table has a file. On SQLite a destroyed key is overwritten in
 * its place, and there is no rewrite.
 */
@Injectable()
export class KeyRewrite {
  /** The maximum of milliseconds in which a rewrite waits for other units, and further units wait for it. */
  lockMs = 50;

  constructor(private readonly unitOfWork: UnitOfWork) {}

  /**
   * Begins a rewrite, or continues one. Returns the table that becomes empty; undefined when no key was destroyed.
   * @throws ApiError 503 when units that use the keys do not end in time
   */
  async begin(tx: Tx): Promise<KeyTable | undefined> {
    const removed = await tx.get<{ rewrites: number }>(FIRST_REMOVED);
    const number = await numberIn(tx);
    const [active, inactive] = [tableOf(number), tableOf(number + 1)];
    if ((await pagesOf(tx, inactive)) > 0) return inactive;
    if (removed === undefined) return undefined;
    if (removed.rewrites < number) return inactive;
    await tx.run(`SET LOCAL lock_timeout = ${this.lockMs}`);
    // Units that have added or removed a key under the old number have ended before it changes.
    await tx.run('LOCK TABLE keys.key_rewrite IN EXCLUSIVE MODE');
    // The plans for the empty table scan all of it. This ends them, and the next ones use the index.
    await tx.run(TRUNCATE[inactive]);
    await tx.run('UPDATE keys.key_rewrite SET number = number + 1');
    return active;
  }

  /**
   * Moves the keys of some pages to the other table, in the order of the file: the write-ahead log gets few whole pages.
   * Returns the next page, undefined at the end of the file.
   */
  async move(tx: Tx, from: KeyTable, page: number): Promise<number | undefined> {
    const next = page + PAGES;
    await tx.run(MOVE[from], `(${page},0)`, `(${next},0)`);
    return next < (await pagesOf(tx, from)) ? next : undefined;
  }

  /**
   * Removes the file of the emptied table. False as long as it holds a row that a snapshot could read, or units that have
   * read keys do not end in time. The vacuum has no time limit: a process that has lost the lease meanwhile removes nothing,
   * since keys can be added to the table again.
   * @throws LeaseLost when another process has taken over; OwnError with the warning of the server when the table was not vacuumed
   */
  async removeFile(lease: Pick<Lease, 'batch'>, from: KeyTable, stopping: AbortSignal): Promise<boolean> {
    const warning = await this.unitOfWork.vacuum(`keys.subject_keys_${from}`, stopping);
    const isEmpty = await lease.batch(async (tx) => {
      if ((await tx.get(ANY_ROW[from])) !== undefined || (await tx.get(ALL_VISIBLE[from])) === undefined)
        return false;
      await tx.run(`SET LOCAL lock_timeout = ${this.lockMs}`);
      await tx.run(LOCK[from]);
      // Again, when every unit that could have added a key has ended.
      if ((await tx.get(ANY_ROW[from])) !== undefined) return false;
      await tx.run(TRUNCATE[from]);
      return true;
    });
    if (!isEmpty && warning !== undefined)
      throw new OwnError(`PostgreSQL did not vacuum keys.subject_keys_${from}: ${warning}`);
    return isEmpty;
  }

  /** Takes some keys that the ended rewrite has removed from the list of destroyed keys; returns their number. */
  async forgetRemoved(tx: Tx): Promise<number> {
    return tx.run(
      `DELETE FROM keys.removed_keys
       WHERE id = ANY (ARRAY(SELECT id FROM keys.removed_keys WHERE rewrites < ? LIMIT ${BATCH}))`,
      await numberIn(tx),
    );
  }

  /** The keys that may be in the files. */
  async inFiles(tx: Tx, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const { sql, value } = amongValues(tx, 'id', ids);
    const tables = tx.engine === 'postgres' ? ['subject_keys', 'removed_keys'] : ['subject_keys'];
    const found = new Set<string>();
    for (const table of tables)
      for (const { id } of await tx.all<{ id: string }>(`SELECT id FROM keys.${table} WHERE ${sql}`, value))
        found.add(id);
    return found;
  }
}

/** The key that was destroyed first, with the number of rewrites until then. */
const FIRST_REMOVED = 'SELECT rewrites FROM keys.removed_keys ORDER BY rewrites LIMIT 1';

async function numberIn(tx: Tx): Promise<number> {
  return (await tx.get<{ number: number }>('SELECT number FROM keys.key_rewrite'))?.number ?? 0;
}

/** The pages of the file. */
async function pagesOf(tx: Tx, table: KeyTable): Promise<number> {
  return (await tx.get<{ pages: number }>(SIZE[table]))?.pages ?? 0;
}

/** The table that a key is added to after this number of rewrites. */
const tableOf = (rewrites: number): KeyTable => (rewrites % 2 === 0 ? 'a' : 'b');
const other = (table: KeyTable): KeyTable => (table === 'a' ? 'b' : 'a');
const forBoth = (sqlOf: (name: string, table: KeyTable) => string): Readonly<Record<KeyTable, string>> => ({
  a: sqlOf('keys.subject_keys_a', 'a'),
  b: sqlOf('keys.subject_keys_b', 'b'),
});

/** A row that another unit changes is left to a later run, so that no unit waits for the other in a circle. */
const MOVE = forBoth(
  (name, from) =>
    `WITH few AS MATERIALIZED (
       SELECT ctid FROM ${name} WHERE ctid >= ?::tid AND ctid < ?::tid LIMIT ${KEYS_MAX} FOR UPDATE SKIP LOCKED),
     moved AS (DELETE FROM ${name} WHERE ctid = ANY (ARRAY(SELECT ctid FROM few)) RETURNING id, sealed)
     INSERT INTO keys.subject_keys_${other(from)} (id, sealed) SELECT id, sealed FROM moved`,
);
const SIZE = forBoth(
  (name) => `SELECT pg_relation_size('${name}') / current_setting('block_size')::int AS pages`,
);
const LOCK = forBoth((name) => `LOCK TABLE ${name} IN ACCESS EXCLUSIVE MODE`);
const TRUNCATE = forBoth((name) => `TRUNCATE ${name}`);
/** In the order of the index, which has no entry for a removed row. */
const ANY_ROW = forBoth((name) => `SELECT 1 FROM ${name} ORDER BY id LIMIT 1`);
/** No page has a row that is visible to some transactions only. */
const ALL_VISIBLE = forBoth(
  (name) =>
    `SELECT 1 FROM pg_class WHERE oid = '${name}'::regclass AND relallvisible = relpages
       AND relpages = pg_relation_size(oid) / current_setting('block_size')::int`,
);
