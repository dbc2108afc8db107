import { type Salts, sha256 } from '@app/crypto';

/** First bytes of hashed texts; 1 is used for the nodes of a tree. */
const LEAF = 0;
const CHAIN = 2;
const PART = 3;
const COMMITMENT = 4;

/** The chain value before the first batch of a log. */
export const NO_CHAIN = Buffer.alloc(32).toString('base64url');

/**
 * The personal parts of an event; `details` is JSON text. All are null once they are erased. In an event about an erasure
 * user and guild are digests.
 */
export interface Parts {
  readonly user: string | null;
  readonly guild: string | null;
  readonly details: string | null;
}

/** The parts of an event that are not personal and survive an erasure. */
export interface Skeleton {
  readonly seq: number;
  readonly id: string;
  readonly event_type: string;
  readonly source: string;
  readonly created_at: string;
}

/** The head of a batch, which its checkpoint signs. */
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

/** The bytes to be hashed, of one list of parts at a time: a buffer for each would cost as much as its hash. */
const room = Buffer.alloc(65_536);
const LENGTH_BYTES = 4;
/** The most bytes that one character takes. */
const CHARACTER_MAX = 3;

/**
 * The byte `first`, if any, and each part after its length (four bytes, big-endian), so that no two lists of parts give the
 * same bytes. They hold until the next call.
 */
export function framed(parts: readonly (string | Buffer)[], first?: number): Buffer {
  let most = 1;
  for (const part of parts)
    most += LENGTH_BYTES + part.length * (typeof part === 'string' ? CHARACTER_MAX : 1);
  const bytes = most > room.length ? Buffer.allocUnsafe(most) : room;
  let at = first === undefined ? 0 : bytes.writeUInt8(first);
  for (const part of parts) {
    const from = at + LENGTH_BYTES;
    const size = typeof part === 'string' ? bytes.write(part, from) : part.copy(bytes, from);
    at = bytes.writeUInt32BE(size, at) + size;
  }
  return bytes.subarray(0, at);
}

/** The salted hash of one part. Without the salt the part cannot be guessed. */
export function partHash(salt: Buffer, name: keyof Parts, value: string | null): Buffer {
  return sha256(framed(value === null ? [name, salt] : [name, salt, value], PART));
}

/** Commits to all three parts; kept when the parts and their salts are erased. */
export function commitmentOf({ user, guild, details }: Parts, salts: Salts): Buffer {
  return sha256(
    Buffer.concat([
      Buffer.of(COMMITMENT),
      partHash(salts.user, 'user', user),
      partHash(salts.guild, 'guild', guild),
      partHash(salts.details, 'details', details),
    ]),
  );
}

/** The leaf of an event: covers every field, the personal ones through their commitment. */
export function leafOf(botId: string, event: Skeleton, commitment: Buffer): Buffer {
  const { seq, id, event_type: type, source, created_at: createdAt } = event;
  return sha256(framed([botId, String(seq), id, type, source, createdAt, commitment], LEAF));
}

/** The chain value of a batch: covers the batch and all batches before it. */
export function chainOf(batch: BatchHead): string {
  const { bot_id: botId, number, first_seq: first, last_seq: last, events, sealed_at: sealedAt } = batch;
  const fields = [botId, String(number), String(first), String(last), String(events)];
  const hashes = [batch.root, batch.identities, batch.previous].map((text) => Buffer.from(text, 'base64url'));
  return sha256(framed([...fields, ...hashes, sealedAt], CHAIN)).toString('base64url');
}

export const CHECKPOINT_TYPE = 'lethe-audit-checkpoint+jwt';

/** The payload of a checkpoint, in this order of keys. It is not stored but computed from the batch. */
export function checkpointOf(batch: BatchHead): object {
  const { bot_id, number, first_seq, last_seq, events, root, identities, previous, sealed_at } = batch;
  const chain = chainOf(batch);
  return { bot_id, number, first_seq, last_seq, events, root, identities, previous, chain, sealed_at };
}

/** The source of an event's salts, by which the commitment can be computed again. */
export const SALTED_BY = {
  /** The subject key, while it exists. */
  subject: 0,
  /** The installation key, over digests: the event is about an erasure. */
  installation: 1,
  /** Random: the details could not be decrypted. */
  nobody: 2,
} as const;

export type SaltedBy = (typeof SALTED_BY)[keyof typeof SALTED_BY];

/** What a batch keeps of one event. */
export interface Entry {
  readonly commitment: Buffer;
  readonly saltedBy: SaltedBy;
  /** First bytes of the leaf, by which the changed event of a damaged batch is found. */
  readonly hint: Buffer;
}

const COMMITMENT_BYTES = 32;
export const HINT_BYTES = 7;
const ENTRY_BYTES = COMMITMENT_BYTES + 1 + HINT_BYTES;

export function packed(entries: readonly Entry[]): string {
  const bytes = entries.flatMap(({ commitment, saltedBy, hint }) => [commitment, Buffer.of(saltedBy), hint]);
  return Buffer.concat(bytes).toString('base64url');
}

/** Undefined for a text that is not a list of packed entries. */
export function unpacked(text: string): Entry[] | undefined {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length % ENTRY_BYTES !== 0 || bytes.toString('base64url') !== text) return undefined;
  return Array.from({ length: bytes.length / ENTRY_BYTES }, (_, at) => {
    const entry = bytes.subarray(at * ENTRY_BYTES, (at + 1) * ENTRY_BYTES);
    return {
      commitment: entry.subarray(0, COMMITMENT_BYTES),
      saltedBy: entry.readUInt8(COMMITMENT_BYTES) as SaltedBy,
      hint: entry.subarray(COMMITMENT_BYTES + 1),
    };
  });
}
