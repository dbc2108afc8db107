import {
  CIPHER_KEY_BYTES,
  decryptedAes,
  decryptedText,
  encrypted,
  expanded,
  UnreadableSecretError,
} from './aead';
import { type Digest, hmacSha512 } from './keyed-digest';

const SALT_KEY_BYTES = 32;
const SALT_BYTES = 21;
/** The marks of texts with AES-256-GCM, and of texts with ChaCha20-Poly1305. */
const AES = 's1';
const MARK = 's2';
/** The mark, the id of the key and their separators. */
export const ID_AT = MARK.length + 1;

/** The length of a key in bytes: no two purposes share a part of it. */
const ENCRYPTION_KEY_BYTES = 2 * CIPHER_KEY_BYTES + SALT_KEY_BYTES;

/** The salts of the personal parts of an audit event. Without the key they look like random bytes. */
export interface Salts {
  readonly user: Buffer;
  readonly guild: Buffer;
  readonly details: Buffer;
}

/** Decrypts the texts of one key, and makes its salts. */
export interface DecryptionKey {
  readonly id: string;
  decrypt(encrypted: string, context: string): string;
  salts(context: string): Salts;
}

/** Encrypts texts, each bound to its place (its context), and makes salts. */
export class EncryptionKey implements DecryptionKey {
  private readonly aesKey: Buffer;
  private readonly saltKey: Buffer;
  private readonly cipherKey: Buffer;

  /** @param bytes {@link ENCRYPTION_KEY_BYTES} bytes. Overwriting them wipes the key. */
  constructor(
    readonly id: string,
    readonly bytes: Buffer,
  ) {
    const saltAt = CIPHER_KEY_BYTES;
    const cipherAt = saltAt + SALT_KEY_BYTES;
    this.aesKey = bytes.subarray(0, saltAt);
    this.saltKey = bytes.subarray(saltAt, cipherAt);
    this.cipherKey = bytes.subarray(cipherAt, ENCRYPTION_KEY_BYTES);
  }

  /** The key that is derived from a secret. The secret must be random. */
  static of(id: string, secret: Buffer): EncryptionKey {
    return new EncryptionKey(id, expanded(secret, 'lethe/subject', ENCRYPTION_KEY_BYTES));
  }

  /** `nonce` has 12 bytes and must never be used twice with one key. */
  encrypt(plain: string, context: string, nonce: Buffer): string {
    return `${MARK}.${this.id}.${encrypted(this.cipherKey, nonce, plain, context)}`;
  }

  /** @throws UnreadableSecretError for a text that was changed, moved to another place or encrypted with another key */
  decrypt(stored: string, context: string): string {
    if (encryptedBy(stored) !== this.id) throw new UnreadableSecretError();
    const body = stored.slice(ID_AT + this.id.length + 1);
    return stored.startsWith(MARK)
      ? decryptedText(this.cipherKey, body, context)
      : decryptedAes(this.aesKey, body, context).toString();
  }

  /** Equal contexts give equal salts. */
  salts(context: string): Salts {
    const bytes = hmacSha512(this.saltKey, context);
    return {
      user: bytes.subarray(0, SALT_BYTES),
      guild: bytes.subarray(SALT_BYTES, 2 * SALT_BYTES),
      details: bytes.subarray(2 * SALT_BYTES, 3 * SALT_BYTES),
    };
  }
}

/** The id of the key that encrypted a text; undefined for a text that is not encrypted. */
export function encryptedBy(text: string): string | undefined {
  const isMarked = text.startsWith(`${MARK}.`) || text.startsWith(`${AES}.`);
  return isMarked ? text.slice(ID_AT, text.indexOf('.', ID_AT)) : undefined;
}

/** The stored details of an event, with the columns of their context. */
export interface StoredDetails {
  readonly id: string;
  readonly guild_id: Digest;
  readonly user_id: Digest;
  readonly details: string;
  /** The present key of the subject; null without one. */
  readonly key_id: string | null;
}

/** The context of the details of an event: they decrypt in no other event. */
export function detailsContext(botId: string, guildId: Digest, userId: Digest, id: string): string {
  return `audit_events/${botId}/${guildId}/${userId}/${id}`;
}

/**
 * The details as JSON text; undefined when their key was destroyed. `service` is the installation key, `key` the present
 * key of the subject, undefined for a lost one.
 * @throws UnreadableSecretError for details that were changed, are not encrypted, or whose key is lost
 */
export function openDetails(
  botId: string,
  { id, guild_id: guildId, user_id: userId, details, key_id: keyId }: StoredDetails,
  service: Pick<DecryptionKey, 'id' | 'decrypt'>,
  key: Pick<DecryptionKey, 'id' | 'decrypt'> | undefined,
): string | undefined {
  const by = encryptedBy(details);
  if (by !== service.id && by !== undefined && by !== keyId) return undefined;
  const opener = by === service.id ? service : key;
  if (by === undefined || opener === undefined) throw new UnreadableSecretError();
  return opener.decrypt(details, detailsContext(botId, guildId, userId, id));
}
