import type { InstallationKeys, SubjectKey } from '@app/crypto';
import { ENCRYPTION_KEY_BYTES, EncryptionKey } from '@app/primitives';
import type { EventKey, StoredEvent } from './event-commitments';
import type { StoredEvents } from './event-opener';

/** The keys that the thread is started with. */
export interface ThreadSecrets {
  /** The key of the digests that replace ids. */
  readonly digest: Uint8Array;
  /** The installation key. */
  readonly service: { readonly id: string; readonly bytes: Uint8Array };
}

export function secretsOf({
  digest,
  installation,
}: Pick<InstallationKeys, 'digest' | 'installation'>): ThreadSecrets {
  return { digest: Uint8Array.from(digest), service: { id: installation.id, bytes: installation.copy() } };
}

/** An event, and the place of its key among those of the batch, -1 for none. */
type BatchEvent = StoredEvent & { readonly key: number };

/** A batch for the thread, in few large pieces, since each piece costs the sender. */
export interface ThreadBatch {
  readonly botId: string;
  /** JSON of {@link BatchEvent}s. */
  readonly events: string;
  readonly keyIds: readonly string[];
  /** The ids of the subject of each key. */
  readonly ids: readonly EventKey['ids'][];
  /** The keys in a row; the reader overwrites them. */
  readonly keys: Uint8Array;
}

/** @throws ConcurrentChange when a needed key was destroyed */
export function threadBatch(botId: string, { rows, keys }: StoredEvents): ThreadBatch {
  const places = new Map<string, number>();
  const needed: SubjectKey[] = [];
  const events = rows.map((row, at): BatchEvent => {
    const { seq, id, event_type, source, created_at, guild_id, user_id, details, key_id } = row;
    const key = keys[at];
    if (key !== undefined && !places.has(key.id)) places.set(key.id, needed.push(key) - 1);
    const place = (key && places.get(key.id)) ?? -1;
    return { seq, id, event_type, source, created_at, guild_id, user_id, details, key_id, key: place };
  });
  const bytes = new Uint8Array(needed.length * ENCRYPTION_KEY_BYTES);
  for (const [at, key] of needed.entries()) key.copy(bytes, at * ENCRYPTION_KEY_BYTES);
  return {
    botId,
    events: JSON.stringify(events),
    keyIds: [...places.keys()],
    ids: needed.map(({ ids }) => ids),
    keys: bytes,
  };
}

/** The events and their keys, which share the memory of the batch: overwriting the batch voids them. */
export function eventsOf(batch: ThreadBatch): { events: StoredEvent[]; keys: (EventKey | undefined)[] } {
  const { buffer, byteOffset } = batch.keys;
  const known = batch.keyIds.map((id, at) => {
    const bytes = Buffer.from(buffer, byteOffset + at * ENCRYPTION_KEY_BYTES, ENCRYPTION_KEY_BYTES);
    return Object.assign(new EncryptionKey(id, bytes), { ids: batch.ids[at] });
  });
  const events = JSON.parse(batch.events) as BatchEvent[];
  return { events, keys: events.map(({ key }) => known[key]) };
}
