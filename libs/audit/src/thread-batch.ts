import { type OpeningKey, SEALING_KEY_BYTES, SealingKey } from '@app/primitives';
import type { EventRow, StoredEvents } from './event-opener';

/** What the thread is started with. */
export interface ThreadSecrets {
  /** The key of digests in the place of ids. */
  readonly digest: Uint8Array;
  /** The installation's key. */
  readonly service: { readonly id: string; readonly bytes: Uint8Array };
}

/** A batch on its way to the thread: in few large pieces, since each piece of its own costs the sender. */
export interface ThreadBatch {
  readonly botId: string;
  /** The rows as JSON. */
  readonly rows: string;
  readonly keyIds: readonly string[];
  /** The keys one behind the other; who has read them overwrites them. */
  readonly keys: Uint8Array;
}

/** @throws ConcurrentChange when one of the keys was destroyed */
export function threadBatch(botId: string, { rows, keys }: StoredEvents): ThreadBatch {
  const distinct = new Map(keys.flatMap((key) => (key === undefined ? [] : [[key.id, key]])));
  const bytes = new Uint8Array(distinct.size * SEALING_KEY_BYTES);
  [...distinct.values()].forEach((key, at) => bytes.set(key.bytes, at * SEALING_KEY_BYTES));
  return { botId, rows: JSON.stringify(rows), keyIds: [...distinct.keys()], keys: bytes };
}

/** The events again, and their keys, which are of no use once those of the batch are overwritten. */
export function eventsOf(batch: ThreadBatch): { rows: EventRow[]; keys: (OpeningKey | undefined)[] } {
  const rows = JSON.parse(batch.rows) as EventRow[];
  const { buffer, byteOffset } = batch.keys;
  const known = new Map(
    batch.keyIds.map((id, at) => {
      const bytes = Buffer.from(buffer, byteOffset + at * SEALING_KEY_BYTES, SEALING_KEY_BYTES);
      return [id, new SealingKey(id, bytes)];
    }),
  );
  return { rows, keys: rows.map(({ key_id: id }) => (id === null ? undefined : known.get(id))) };
}
