import type { Tx } from '@app/database';
import { removeKey } from './destroyed-keys';

/** Keys of one read. */
const PAGE = 500;

const SOME = `SELECT id FROM keys.subject_keys WHERE id > ? ORDER BY id LIMIT ${PAGE}`;

/** Keys that no subject has, among some behind the id `after`, and where to continue; undefined at the end. */
export async function orphansBehind(
  tx: Tx,
  after: string,
): Promise<{ readonly orphans: readonly string[]; readonly last: string | undefined }> {
  const page = await tx.all<{ id: string }>(SOME, after);
  const orphans: string[] = [];
  for (const { id } of page) if (await isOrphan(tx, id)) orphans.push(id);
  return { orphans, last: page.length < PAGE ? undefined : page.at(-1)?.id };
}

/** Removes those keys that still no subject has. */
export async function removeOrphans(tx: Tx, ids: readonly string[]): Promise<void> {
  for (const id of ids) if (await isOrphan(tx, id)) await removeKey(tx, id);
}

async function isOrphan(tx: Tx, id: string): Promise<boolean> {
  return (await tx.get('SELECT 1 FROM subjects WHERE key_id = ? LIMIT 1', id)) === undefined;
}
