import { setImmediate as nextTurn } from 'node:timers/promises';
import { amongValues, pages, type Tx, type UnitOfWork } from '@app/database';
import { removeKeys } from './destroyed-keys';

/** Keys of one read; requests are answered in between. */
const PAGE = 500;

const SOME = `SELECT id FROM keys.subject_keys WHERE id > ? ORDER BY id LIMIT ${PAGE}`;

interface StoredId {
  readonly id: string;
  readonly isOrphan: boolean;
}

/** The keys that no subject has, some at a time. */
export async function* orphanKeys(unitOfWork: UnitOfWork): AsyncGenerator<readonly string[]> {
  const read = (after?: StoredId): Promise<StoredId[]> =>
    unitOfWork.read(async (tx) => {
      const ids = (await tx.all<{ id: string }>(SOME, after?.id ?? '')).map(({ id }) => id);
      const orphans = new Set(await orphansAmong(tx, ids));
      return ids.map((id) => ({ id, isOrphan: orphans.has(id) }));
    });
  for await (const page of pages(PAGE, read)) {
    yield page.filter(({ isOrphan }) => isOrphan).map(({ id }) => id);
    await nextTurn();
  }
}

/** Removes those keys that still no subject has. */
export async function removeOrphans(tx: Tx, ids: readonly string[]): Promise<void> {
  await removeKeys(tx, await orphansAmong(tx, ids));
}

async function orphansAmong(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const among = amongValues(tx, 'key_id', ids);
  const sql = `SELECT key_id AS id FROM subjects WHERE ${among.sql}`;
  const held = new Set((await tx.all<{ id: string }>(sql, among.value)).map(({ id }) => id));
  return ids.filter((id) => !held.has(id));
}
