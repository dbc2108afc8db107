import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { UnreadableSecretError } from './unreadable-secret';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const SALT_BYTES = 21;
const MARK = 's1';
/** Mark, id and what stands between them. */
const ID_AT = MARK.length + 1;

/** How many bytes a key has: one half seals, the other makes salts. */
export const ENCRYPTION_KEY_BYTES = 2 * KEY_BYTES;

/** What the personal parts of an audit event are committed to with: as good as random to whoever lacks the key. */
export interface Salts {
  readonly user: Buffer;
  readonly guild: Buffer;
  readonly details: Buffer;
}

/** Opens what one key has sealed, and makes its salts. */
export interface DecryptionKey {
  readonly id: string;
  decrypt(sealed: string, context: string): string;
  salts(context: string): Salts;
}

/** Texts sealed by AES-256-GCM, each for the place where it stands (its context), and salts for what it commits to. */
export class EncryptionKey implements DecryptionKey {
  private readonly sealing: Buffer;
  private readonly salting: Buffer;

  /** @param bytes {@link ENCRYPTION_KEY_BYTES} of them; whoever overwrites them has wiped the key. */
  constructor(
    readonly id: string,
    readonly bytes: Buffer,
  ) {
    this.sealing = bytes.subarray(0, KEY_BYTES);
    this.salting = bytes.subarray(KEY_BYTES, ENCRYPTION_KEY_BYTES);
  }

  /** The key that a secret stands for, which has to be random. */
  static of(id: string, secret: Buffer): EncryptionKey {
    // HKDF-Expand (RFC 5869, 2.3) of two keys in one block; what is random already needs no extraction (3.3).
    return new EncryptionKey(id, createHmac('sha512', secret).update('lethe/subject\x01').digest());
  }

  /** `nonce` has 12 bytes, and is given no second time. */
  encrypt(plain: string, context: string, nonce: Buffer): string {
    const cipher = createCipheriv(ALGORITHM, this.sealing, nonce);
    cipher.setAAD(Buffer.from(context));
    const sealed = cipher.update(plain, 'utf8');
    cipher.final();
    return `${MARK}.${this.id}.${Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url')}`;
  }

  /** @throws UnreadableSecretError for a text that was changed, stands elsewhere, or is of another key */
  decrypt(sealed: string, context: string): string {
    if (encryptedBy(sealed) !== this.id) throw new UnreadableSecretError();
    const body = sealed.slice(ID_AT + this.id.length + 1);
    const bytes = Buffer.from(body, 'base64url');
    // The last digit may have bits that mean nothing: a text in which they were changed is a changed one.
    if (bytes.toString('base64url') !== body) throw new UnreadableSecretError();
    try {
      const decipher = createDecipheriv(ALGORITHM, this.sealing, bytes.subarray(0, IV_BYTES));
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const opened = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8');
      return opened + decipher.final('utf8');
    } catch {
      throw new UnreadableSecretError();
    }
  }

  /** The same for the same context. */
  salts(context: string): Salts {
    const bytes = createHmac('sha512', this.salting).update(context).digest();
    return {
      user: bytes.subarray(0, SALT_BYTES),
      guild: bytes.subarray(SALT_BYTES, 2 * SALT_BYTES),
      details: bytes.subarray(2 * SALT_BYTES, 3 * SALT_BYTES),
    };
  }
}

/** The id of the key that sealed a text; undefined for one that is not sealed. */
export function encryptedBy(text: string): string | undefined {
  return text.startsWith(`${MARK}.`) ? text.slice(ID_AT, text.indexOf('.', ID_AT)) : undefined;
}
