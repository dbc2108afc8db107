import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { OwnError, type Random } from '@app/kernel';
import { UnreadableSecretError } from '@app/primitives';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1';

/** The part of an operator's message that names the master key of an unreadable text. */
export function missingKey({ code }: UnreadableSecretError): string {
  return code === undefined ? '' : ` (${code})`;
}

/** The place and length of the master key's id in an encrypted text. The place is counted from 1, as in SQL. */
export const SEALED_KEY_ID = { at: 4, length: 8 } as const;

/**
 * Encrypts small secrets in the database and its backups (AES-256-GCM). A secret encrypted for one context, for example
 * the webhook secret of one bot, decrypts in no other context. The first key encrypts, every key decrypts: this allows
 * a change of the master key.
 */
export class Keyring {
  private readonly keys: ReadonlyMap<string, Buffer>;
  /** The id of the key that encrypts. */
  readonly presentId: string;

  constructor(
    masterKeys: readonly Buffer[],
    private readonly random: Random,
  ) {
    const entries = masterKeys.map((key) => [derive(key, 'id', 6).toString('base64url'), key] as const);
    const [present] = entries;
    if (present === undefined) throw new OwnError('A keyring needs at least one key');
    this.presentId = present[0];
    this.keys = new Map(entries.map(([id, key]) => [id, derive(key, 'seal', 32)]));
  }

  /** The ids of all keys, the present one first. */
  get ids(): readonly string[] {
    return [...this.keys.keys()];
  }

  encrypt(plain: string | Buffer, context: string): string {
    const iv = this.random.bytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.key(this.presentId), iv).setAAD(Buffer.from(context));
    const body = typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain);
    const encrypted = Buffer.concat([iv, body, cipher.final(), cipher.getAuthTag()]);
    return `${VERSION}.${this.presentId}.${encrypted.toString('base64url')}`;
  }

  /** @throws UnreadableSecretError for a text that this keyring did not encrypt for this context. */
  decrypt(encrypted: string, context: string): string {
    return this.open(encrypted, context).toString('utf8');
  }

  /** {@link decrypt} into bytes, which the caller can overwrite. */
  open(encrypted: string, context: string): Buffer {
    const [version, id = '', body = ''] = encrypted.split('.');
    const bytes = Buffer.from(body, 'base64url');
    if (version !== VERSION || bytes.length < IV_BYTES + TAG_BYTES) throw new UnreadableSecretError();
    const key = this.key(id);
    try {
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES))
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      const opened = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
      decipher.final();
      return opened;
    } catch {
      throw new UnreadableSecretError();
    }
  }

  private key(id: string): Buffer {
    const key = this.keys.get(id);
    if (key === undefined) throw new UnreadableSecretError(/^[\w-]{8}$/.test(id) ? id : undefined);
    return key;
  }
}

/** Derives one key for each purpose, so that no key has two. */
function derive(masterKey: Buffer, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `lethe/keyring/${purpose}`, length));
}
