import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { UnreadableSecretError } from './unreadable-secret';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const SALT_BYTES = 21;
const MARK = 's1';
/** The mark, the id of the key and their separators. */
const ID_AT = MARK.length + 1;

/** The length of a key in bytes. One half encrypts, the other makes salts. */
export const ENCRYPTION_KEY_BYTES = 2 * KEY_BYTES;

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

/** Encrypts texts with AES-256-GCM, each bound to its place (its context), and makes salts. */
export class EncryptionKey implements DecryptionKey {
  private readonly cipherKey: Buffer;
  private readonly saltKey: Buffer;

  /** @param bytes {@link ENCRYPTION_KEY_BYTES} bytes. Overwriting them wipes the key. */
  constructor(
    readonly id: string,
    readonly bytes: Buffer,
  ) {
    this.cipherKey = bytes.subarray(0, KEY_BYTES);
    this.saltKey = bytes.subarray(KEY_BYTES, ENCRYPTION_KEY_BYTES);
  }

  /** The key that is derived from a secret. The secret must be random. */
  static of(id: string, secret: Buffer): EncryptionKey {
    // HKDF-Expand (RFC 5869, section 2.3) of two keys in one block. A random secret needs no extraction (section 3.3).
    return new EncryptionKey(id, createHmac('sha512', secret).update('lethe/subject\x01').digest());
  }

  /** `nonce` has 12 bytes and must never be used twice with one key. */
  encrypt(plain: string, context: string, nonce: Buffer): string {
    const cipher = createCipheriv(ALGORITHM, this.cipherKey, nonce);
    cipher.setAAD(Buffer.from(context));
    const encrypted = cipher.update(plain, 'utf8');
    cipher.final();
    return `${MARK}.${this.id}.${Buffer.concat([nonce, encrypted, cipher.getAuthTag()]).toString('base64url')}`;
  }

  /** @throws UnreadableSecretError for a text that was changed, moved to another place or encrypted with another key */
  decrypt(encrypted: string, context: string): string {
    if (encryptedBy(encrypted) !== this.id) throw new UnreadableSecretError();
    const body = encrypted.slice(ID_AT + this.id.length + 1);
    const bytes = Buffer.from(body, 'base64url');
    // The last digit may have unused bits. A text in which they were changed is a changed text.
    if (bytes.toString('base64url') !== body) throw new UnreadableSecretError();
    try {
      const decipher = createDecipheriv(ALGORITHM, this.cipherKey, bytes.subarray(0, IV_BYTES));
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const opened = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8');
      return opened + decipher.final('utf8');
    } catch {
      throw new UnreadableSecretError();
    }
  }

  /** Equal contexts give equal salts. */
  salts(context: string): Salts {
    const bytes = createHmac('sha512', this.saltKey).update(context).digest();
    return {
      user: bytes.subarray(0, SALT_BYTES),
      guild: bytes.subarray(SALT_BYTES, 2 * SALT_BYTES),
      details: bytes.subarray(2 * SALT_BYTES, 3 * SALT_BYTES),
    };
  }
}

/** The id of the key that encrypted a text; undefined for a text that is not encrypted. */
export function encryptedBy(text: string): string | undefined {
  return text.startsWith(`${MARK}.`) ? text.slice(ID_AT, text.indexOf('.', ID_AT)) : undefined;
}
