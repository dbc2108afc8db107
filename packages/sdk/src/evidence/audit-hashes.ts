import { base64url, type Bytes, bytes, joined, utf8 } from './base64url';
import { isObject, isText } from './certificate.check';
import { type Check, sha256 } from './check';
import type { Payload } from './statement.check';
import { VerificationError } from './verification-error';

/** An event in the answer of `GET /audit/proof` and in the lines of the audit export. */
export interface AuditEventEvidence {
  readonly seq: number;
  readonly id: string;
  readonly event_type: string;
  readonly source: string;
  readonly created_at: string;
  readonly commitment: string;
  readonly erased: boolean;
  readonly parts: Readonly<Partial<Record<(typeof PARTS)[number], AuditPart>>> | null;
}

export interface AuditPart {
  readonly value?: string | null;
  readonly salt?: string;
  readonly hash?: string;
}

const PARTS = ['user', 'guild', 'details'] as const;

/** The check of each field of an event. A list of the bytes of a text would have the leaf of the text. */
const FIELDS: Readonly<Record<keyof AuditEventEvidence, (value: unknown) => boolean>> = {
  seq: Number.isSafeInteger,
  id: isText,
  event_type: isText,
  source: isText,
  created_at: isText,
  commitment: isText,
  erased: (value) => typeof value === 'boolean',
  parts: (value) => value === null || isObject(value),
};

/** The first byte of each hashed text: docs/audit-log.md. */
const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);
const CHAIN = Uint8Array.of(2);
const PART = Uint8Array.of(3);
const COMMITMENT = Uint8Array.of(4);

/**
 * The leaf of an event.
 * @throws VerificationError when a field is not of its type, or the parts of the event do not match their hashes
 * @internal
 */
export function* leafOf(botId: string, event: AuditEventEvidence): Check<Bytes> {
  const given: Payload = isObject(event) ? { ...event } : {};
  const missing = Object.keys(FIELDS).filter((name) => !FIELDS[name as keyof typeof FIELDS](given[name]));
  if (missing.length > 0) throw new VerificationError(`the event lacks ${missing.join(', ')}`);
  const commitment = bytes(event.commitment);
  const { parts } = event;
  if (parts !== null) {
    const hashes: Bytes[] = [];
    for (const name of PARTS) hashes.push(yield* partHash(name, parts[name] ?? {}, event.erased));
    if (base64url(yield* sha256(COMMITMENT, ...hashes)) !== event.commitment)
      throw new VerificationError(
        `user, guild or details of event ${event.id} are not those that were sealed`,
      );
  }
  const { seq, id, event_type: type, source, created_at: createdAt } = event;
  return yield* sha256(LEAF, framed(botId, String(seq), id, type, source, createdAt, commitment));
}

/**
 * The root over leaves in their order (RFC 9162, section 2.1.1).
 * @internal
 */
export function* rootOf(leaves: readonly Bytes[]): Check<Bytes> {
  let level = leaves;
  while (level.length > 1) {
    const above: Bytes[] = [];
    for (let at = 0; at < level.length; at += 2) {
      const [left, right] = [level[at], level[at + 1]];
      if (left !== undefined) above.push(right === undefined ? left : yield* sha256(NODE, left, right));
    }
    level = above;
  }
  return level[0] ?? (yield* sha256());
}

/**
 * The root to which a path leads from a leaf (RFC 9162, section 2.1.3.2); undefined for a path of wrong length.
 * @internal
 */
export function* rootBy(
  leaf: Bytes,
  index: number,
  size: number,
  path: readonly string[],
): Check<Bytes | undefined> {
  if (!Array.isArray(path) || !Number.isSafeInteger(index) || index < 0 || index >= size) return undefined;
  const left = path.map(bytes);
  let hash = leaf;
  for (let at = index, last = size - 1; last > 0; at = Math.floor(at / 2), last = Math.floor(last / 2)) {
    if (at % 2 === 0 && at === last) continue;
    const other = left.shift();
    if (other === undefined) return undefined;
    hash = at % 2 === 1 ? yield* sha256(NODE, other, hash) : yield* sha256(NODE, hash, other);
  }
  return left.length === 0 ? hash : undefined;
}

/**
 * The chain value of a batch, from the fields of its checkpoint.
 * @internal
 */
export function* chainValue(checkpoint: Payload): Check<string> {
  const texts = ['bot_id', 'number', 'first_seq', 'last_seq', 'events'].map((name) =>
    String(checkpoint[name]),
  );
  const hashes = ['root', 'identities', 'previous'].map((name) => bytes(String(checkpoint[name])));
  return base64url(yield* sha256(CHAIN, framed(...texts, ...hashes, String(checkpoint['sealed_at']))));
}

/**
 * A part has either the value and salt of its hash, or the hash alone. A value beside a bare hash would be unverified.
 */
function* partHash(name: string, part: AuditPart, isErased: boolean): Check<Bytes> {
  const { value, salt, hash } = part;
  const given = Object.keys(part).sort().join();
  if (given === 'hash' && typeof hash === 'string' && isErased && name !== 'details') return bytes(hash);
  const isOpen = typeof salt === 'string' && (typeof value === 'string' || value === null);
  if (given !== 'salt,value' || !isOpen)
    throw new VerificationError(
      `${name} must have value and salt; a hash alone is valid for an erased user only`,
    );
  return yield* sha256(PART, framed(name, bytes(salt), ...(value === null ? [] : [value])));
}

/** Each part after its length in four bytes, the highest first. */
function framed(...parts: readonly (string | Bytes)[]): Bytes {
  return joined(
    parts.flatMap((part) => {
      const content = typeof part === 'string' ? utf8(part) : part;
      const length = new Uint8Array(4);
      new DataView(length.buffer).setUint32(0, content.length);
      return [length, content];
    }),
  );
}
