import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { Random } from '@app/common';
import { ConcurrentChange } from '@app/database';
import { UnreadableSecretError } from './keyring';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const SALT_BYTES = 21;
const MARK = 's1';
/** Mark, id and what stands between them. */
const ID_AT = MARK.length + 1;

/** What the personal parts of an audit event are committed to with: as good as random to whoever lacks the key. */
export interface Salts {
  readonly user: Buffer;
  readonly guild: Buffer;
  readonly details: Buffer;
}

/**
 * The key of one subject (GDPR Art. 32(1)(a)): AES-256-GCM with a random nonce for each text. Destroying it makes
 * everything that it sealed unreadable, wherever copies of that may be.
 */
export class SubjectKey {
  private readonly sealing: Buffer;
  private readonly salting: Buffer;
  private wiped = false;

  constructor(
    readonly id: string,
    secret: Buffer,
    private readonly random: Random,
  ) {
    // HKDF-Expand (RFC 5869, 2.3) of two keys in one block; what is random already needs no extraction (3.3).
    const derived = createHmac('sha512', secret).update('lethe/subject\x01').digest();
    this.sealing = derived.subarray(0, KEY_BYTES);
    this.salting = derived.subarray(KEY_BYTES);
  }

  /** `context` says where the text stands; it opens nowhere else. @throws ConcurrentChange once it was destroyed */
  seal(plain: string, context: string): string {
    if (this.wiped) throw new ConcurrentChange();
    const iv = this.random.nonce();
    const cipher = createCipheriv(ALGORITHM, this.sealing, iv);
    cipher.setAAD(Buffer.from(context));
    const sealed = cipher.update(plain, 'utf8');
    cipher.final();
    return `${MARK}.${this.id}.${Buffer.concat([iv, sealed, cipher.getAuthTag()]).toString('base64url')}`;
  }

  /**
   * @throws UnreadableSecretError for a text that was changed, stands elsewhere, or is of another key; ConcurrentChange
   * once the key was destroyed
   */
  open(sealed: string, context: string): string {
    if (this.wiped) throw new ConcurrentChange();
    if (sealedBy(sealed) !== this.id) throw new UnreadableSecretError();
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

  /** The same for the same context as long as the key lives, and gone with it. @throws ConcurrentChange by then */
  salts(context: string): Salts {
    if (this.wiped) throw new ConcurrentChange();
    const bytes = createHmac('sha512', this.salting).update(context).digest();
    return {
      user: bytes.subarray(0, SALT_BYTES),
      guild: bytes.subarray(SALT_BYTES, 2 * SALT_BYTES),
      details: bytes.subarray(2 * SALT_BYTES, 3 * SALT_BYTES),
    };
  }

  /** Overwrites the key in memory; it is of no use after that. */
  wipe(): void {
    this.wiped = true;
    this.sealing.fill(0);
    this.salting.fill(0);
  }
}

/** The id of the key that sealed a text; undefined for one that is not sealed. */
export function sealedBy(text: string): string | undefined {
  return text.startsWith(`${MARK}.`) ? text.slice(ID_AT, text.indexOf('.', ID_AT)) : undefined;
}
