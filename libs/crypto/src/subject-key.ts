import { ConcurrentChange } from '@app/database';
import type { Random } from '@app/kernel';
import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { type DecryptionKey, EncryptionKey, type Salts } from './encryption-key';
import type { Keyring } from './keyring';
import type { SubjectIds } from './subject';
import { createHash } from 'node:crypto';

/** Overwrites the bytes of a key that nothing can use any more, as after its removal from the cache. */
const unreachable = new FinalizationRegistry<Buffer>((bytes) => bytes.fill(0));

/**
 * The key of one subject (GDPR Art. 32(1)(a)). Each text has a random nonce. After the key is destroyed, every copy of
 * its texts is unreadable.
 */
export class SubjectKey implements DecryptionKey {
  private readonly key: EncryptionKey;
  private wiped = false;

  /** Overwrites `secret`, from which the key is derived. */
  constructor(
    readonly id: string,
    secret: Buffer,
    private readonly random: Random,
    /** The ids of the subject, which are stored with its key only. */
    readonly ids?: SubjectIds,
  ) {
    this.key = EncryptionKey.of(id, secret);
    secret.fill(0);
    unreachable.register(this, this.key.bytes);
  }

  /**
   * `context` names the place of the text, which decrypts in no other place. @throws ConcurrentChange when the key is
   * destroyed
   */
  encrypt(plain: string, context: string): string {
    return this.inForce().encrypt(plain, context, this.random.nonce());
  }

  /**
   * @throws UnreadableSecretError for a text that was changed, moved to another place or encrypted with another key;
   * ConcurrentChange when the key is destroyed
   */
  decrypt(encrypted: string, context: string): string {
    return this.inForce().decrypt(encrypted, context);
  }

  /** Salts that depend on the context and the key only. @throws ConcurrentChange when the key is destroyed */
  salts(context: string): Salts {
    return this.inForce().salts(context);
  }

  /** Overwrites the key in memory. The key cannot be used afterwards. */
  wipe(): void {
    this.wiped = true;
    this.key.bytes.fill(0);
  }

  private inForce(): EncryptionKey {
    if (this.wiped) throw new ConcurrentChange();
    return this.key;
  }
}

const SECRET_BYTES = 32;
/** Bytes of an id after the secret, padded with spaces: the stored keys of all subjects have one length. */
const SUBJECT_ID_BYTES = 20;
export const ID_LENGTH = 12;

/** A subject key as it is stored: encrypted with the master key, together with the ids of the subject. */
export interface StoredKey {
  readonly id: string;
  readonly sealed: string;
}

/**
 * Identifies a key, also after its destruction. The key cannot be found from the fingerprint, but a copy of the key can
 * be recognised.
 */
function fingerprintOf(secret: Buffer): string {
  // The secret is hashed in place: no copy of it is left in memory.
  const digest = createHash('sha256').update('lethe/subject-key/').update(secret);
  return digest.digest('base64url').slice(0, ID_LENGTH);
}

/** The place of a stored key, to which it is bound. The ids inside bind it to its subject. */
export function contextOfKey(id: string): string {
  return `subject_keys/${id}`;
}

/** The secret and the ids in one text. Without ids, of a subject that lost its key, their place is blank. */
function packed(secret: Buffer, ids: SubjectIds | undefined): Buffer {
  const { guild_id: guildId, user_id: userId } = ids ?? { guild_id: '', user_id: '' };
  const names = guildId.padStart(SUBJECT_ID_BYTES) + userId.padStart(SUBJECT_ID_BYTES);
  return Buffer.concat([secret, Buffer.from(names)]);
}

/** A new key of a subject, with its ids if they are known. With zeros in place of lost ones it would open for no subject. */
export function newSubjectKey(
  ids: SubjectIds | undefined,
  keyring: Pick<Keyring, 'encrypt'>,
  random: Random,
): StoredKey & { readonly key: SubjectKey } {
  const secret = random.bytes(SECRET_BYTES);
  const id = fingerprintOf(secret);
  const plain = packed(secret, ids);
  const sealed = keyring.encrypt(plain, contextOfKey(id));
  plain.fill(0);
  return { id, sealed, key: new SubjectKey(id, secret, random, ids) };
}

/** A stored key that has no ids, with those of its subject. @throws UnreadableSecretError */
export function keyWithIds(
  { id, sealed }: StoredKey,
  ids: SubjectIds,
  keyring: Pick<Keyring, 'encrypt' | 'open'>,
  random: Random,
): StoredKey & { readonly key: SubjectKey } {
  const bytes = keyring.open(sealed, contextOfKey(id));
  const plain = packed(bytes.subarray(0, SECRET_BYTES), ids);
  bytes.fill(0);
  return { id, sealed: keyring.encrypt(plain, contextOfKey(id)), key: unpacked(id, plain, random) };
}

/** The key as it was stored. @throws UnreadableSecretError */
export function unsealed(
  { id, sealed }: StoredKey,
  keyring: Pick<Keyring, 'open'>,
  random: Random,
): SubjectKey {
  return unpacked(id, keyring.open(sealed, contextOfKey(id)), random);
}

/** The key of {@link packed} bytes, which are overwritten. */
function unpacked(id: string, bytes: Buffer, random: Random): SubjectKey {
  const idAt = (from: number): string => bytes.toString('latin1', from, from + SUBJECT_ID_BYTES).trimStart();
  const ids = { guild_id: idAt(SECRET_BYTES), user_id: idAt(SECRET_BYTES + SUBJECT_ID_BYTES) };
  try {
    return new SubjectKey(id, bytes.subarray(0, SECRET_BYTES), random, ids.user_id === '' ? undefined : ids);
  } finally {
    bytes.fill(0);
  }
}

/** The maximum of entries in one generation. There are two generations. */
const ENTRIES_MAX = 25_000;
/**
 * The time, in milliseconds, after which a generation ends, and how often it is looked for. An unused entry is dropped with
 * the second end after its last use: in less than ten minutes.
 */
const GENERATION_MS = 240_000;
const LOOK_MS = 30_000;

/** Recent entries by the ids of keys: a bounded number, for a bounded time. */
class Recent<Entry> {
  private young = new Map<string, Entry>();
  private old = new Map<string, Entry>();
  private bornMs = performance.now();

  get(id: string): Entry | undefined {
    const found = this.young.get(id);
    if (found !== undefined) return found;
    const older = this.old.get(id);
    if (older === undefined) return undefined;
    this.old.delete(id);
    this.set(id, older);
    return older;
  }

  set(id: string, entry: Entry): void {
    if (this.young.size >= ENTRIES_MAX) this.turn();
    else this.age();
    this.young.set(id, entry);
  }

  /** Ends a generation whose time is over. */
  age(): void {
    if (performance.now() - this.bornMs > GENERATION_MS) this.turn();
  }

  private turn(): void {
    this.old = this.young;
    this.young = new Map();
    this.bornMs = performance.now();
  }

  delete(id: string): void {
    this.young.delete(id);
    this.old.delete(id);
  }
}

/** Recently decrypted keys. The caller must have just read that the key is still in force. */
@Injectable()
export class KeyCache implements OnModuleInit, OnModuleDestroy {
  private readonly keys = new Recent<SubjectKey>();
  /** The ids of keys that were dropped. */
  private readonly dropped = new Recent<true>();
  private timer: NodeJS.Timeout | undefined;

  /** A process without work has to drop the keys that it used last, too: a signal of their destruction can be lost. */
  onModuleInit(): void {
    this.timer = setInterval(() => {
      this.keys.age();
      this.dropped.age();
    }, LOOK_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  get(id: string): SubjectKey | undefined {
    return this.keys.get(id);
  }

  /**
   * Returns the key to use, which is the cached one if there is one. A key that was dropped is not cached: its caller
   * has read it before its destruction.
   */
  set(key: SubjectKey): SubjectKey {
    const known = this.keys.get(key.id);
    if (known !== undefined) return known;
    if (this.dropped.get(key.id) === undefined) this.keys.set(key.id, key);
    return key;
  }

  /** Removes a destroyed key and overwrites its bytes. */
  drop(id: string): void {
    this.keys.get(id)?.wipe();
    this.keys.delete(id);
    this.dropped.set(id, true);
  }
}
