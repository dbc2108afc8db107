import { type NamedSubject, type SubjectDataHolders, unlessDamaged } from '@app/crypto';
import type { Tx } from '@app/database';
import { ApiError } from '@app/kernel';

/** Characters of stored values that a page reads. */
const VALUES_MAX = 64 * 1024;

/** The stored values by category, and whether some are left out. */
export interface ReadValues {
  readonly values: ReadonlyMap<string, unknown>;
  readonly isCut: boolean;
  readonly isUnreadable: boolean;
}

/** The values of a subject by category, as many as a page can show. */
export async function readValues(
  tx: Tx,
  holders: ReturnType<SubjectDataHolders['all']>,
  subject: NamedSubject,
): Promise<ReadValues> {
  const values = new Map<string, unknown>();
  let [read, isUnreadable] = [0, false];
  for (const holder of holders)
    try {
      for await (const [name, json] of (await holder.export(tx, subject, false)).data ?? []) {
        if ((read += json.length) > VALUES_MAX && values.size > 0)
          return { values, isCut: true, isUnreadable };
        values.set(name, JSON.parse(json));
      }
    } catch (error) {
      // What one holder cannot read hides nothing of another one.
      if (!(error instanceof ApiError && error.code === 'internal_error')) unlessDamaged(error);
      isUnreadable = true;
    }
  return { values, isCut: false, isUnreadable };
}
