import { type Salts, sha256 } from '@app/primitives';

/** First bytes of what is hashed; 1 is that of the nodes of a tree. */
const NOTHING = Buffer.alloc(0);
const LEAF = Buffer.of(0);
const CHAIN = Buffer.of(2);
const PART = Buffer.of(3);
const COMMITMENT = Buffer.of(4);

/** What a log's first batch follows. */
export const NO_CHAIN = Buffer.alloc(32).toString('base64url');

/** The personal parts of an event; `details` is JSON text as it was given, null for none. */
export interface Parts {
  readonly user: string;
  readonly guild: string;
  readonly details: string | null;
}

/** The parts of an event that are nobody's, and stay. */
export interface Skeleton {
  readonly seq: number;
  readonly id: string;
  readonly event_type: string;
  readonly source: string;
  readonly created_at: string;
}

/** What a batch says of the events in it, and its checkpoint signs. */
export interface BatchHead {
  readonly bot_id: string;
  readonly number: number;
  readonly first_seq: number;
  readonly last_seq: number;
  readonly events: number;
  readonly root: string;
  readonly identities: string;
  readonly previous: string;
  readonly sealed_at: string;
}

/** Each part behind its length (four bytes, big-endian), so that no two lists of parts give the same bytes. */
export function framed(parts: readonly (string | Buffer)[], first: Buffer = NOTHING): Buffer {
  let length = first.length;
  for (const part of parts) length += 4 + (typeof part === 'string' ? Buffer.byteLength(part) : part.length);
  const bytes = Buffer.allocUnsafe(length);
  let at = first.copy(bytes);
  for (const part of parts) {
    const size = typeof part === 'string' ? bytes.write(part, at + 4) : part.copy(bytes, at + 4);
    at = bytes.writeUInt32BE(size, at) + size;
  }
  return bytes;
}

/** One part under its salt: whoever lacks the salt cannot try out what it could have been. */
export function partHash(salt: Buffer, name: keyof Parts, value: string | null): Buffer {
  return sha256(framed(value === null ? [name, salt] : [name, salt, value], PART));
}

/** What stands for all three parts, when they and their salts are gone too. */
export function commitmentOf({ user, guild, details }: Parts, salts: Salts): Buffer {
  return sha256(
    Buffer.concat([
      COMMITMENT,
      partHash(salts.user, 'user', user),
      partHash(salts.guild, 'guild', guild),
      partHash(salts.details, 'details', details),
    ]),
  );
}

/** The leaf of an event: every field of it, the personal ones through their commitment. */
export function leafOf(botId: string, event: Skeleton, commitment: Buffer): Buffer {
  const { seq, id, event_type: type, source, created_at: createdAt } = event;
  return sha256(framed([botId, String(seq), id, type, source, createdAt, commitment], LEAF));
}

/** Stands for a batch and for everything before it. */
export function chainOf(batch: BatchHead): string {
  const { bot_id: botId, number, first_seq: first, last_seq: last, events, sealed_at: sealedAt } = batch;
  const fields = [botId, String(number), String(first), String(last), String(events)];
  const hashes = [batch.root, batch.identities, batch.previous].map((text) => Buffer.from(text, 'base64url'));
  return sha256(framed([...fields, ...hashes, sealedAt], CHAIN)).toString('base64url');
}

export const CHECKPOINT_TYPE = 'lethe-audit-checkpoint+jwt';

/** What a checkpoint signs, always in this order: it is never stored, but made from the batch again. */
export function checkpointOf(batch: BatchHead): object {
  return {
    bot_id: batch.bot_id,
    number: batch.number,
    first_seq: batch.first_seq,
    last_seq: batch.last_seq,
    events: batch.events,
    root: batch.root,
    identities: batch.identities,
    previous: batch.previous,
    chain: chainOf(batch),
    sealed_at: batch.sealed_at,
  };
}
