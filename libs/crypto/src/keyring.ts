import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { Random } from '@app/kernel';
import { UnreadableSecretError } from '@app/primitives';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1';

/** What an operator reads of an unreadable text that keeps a process from starting. */
export function missingKey({ code }: UnreadableSecretError): string {
  return code === undefined ? '' : ` (${code})`;
}

/** Where the id of the master key stands in a sealed text, counted from 1 as SQL does, and how long it is. */
export const SEALED_KEY_ID = { at: 4, length: 8 } as const;

/**
 * Keeps small secrets unreadable in the database and its backups (AES-256-GCM). What was sealed for one context, say
 * one bot's webhook secret, opens in no other. The first key seals, every key opens: so the master key is changed.
 */
export class Keyring {
  private readonly keys: ReadonlyMap<string, Buffer>;
  /** Of the key that seals. */
  readonly presentId: string;

  constructor(
    masterKeys: readonly Buffer[],
    private readonly random: Random,
  ) {
    const entries = masterKeys.map((key) => [derive(key, 'id', 6).toString('base64url'), key] as const);
    const [present] = entries;
    if (present === undefined) throw new Error('A keyring needs at least one key');
    this.presentId = present[0];
    this.keys = new Map(entries.map(([id, key]) => [id, derive(key, 'seal', 32)]));
  }

  /** Of every key that opens, the present one first. */
  get ids(): readonly string[] {
    return [...this.keys.keys()];
  }

  encrypt(plain: string, context: string): string {
    const iv = this.random.bytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.key(this.presentId), iv).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${VERSION}.${this.presentId}.${sealed.toString('base64url')}`;
  }

  /** @throws UnreadableSecretError for a text that this keyring did not encrypt for this context. */
  decrypt(sealed: string, context: string): string {
    const [version, id = '', body = ''] = sealed.split('.');
    const bytes = Buffer.from(body, 'base64url');
    if (version !== VERSION || bytes.length < IV_BYTES + TAG_BYTES) throw new UnreadableSecretError();
    const key = this.key(id);
    try {
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES))
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      const opened = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8');
      return opened + decipher.final('utf8');
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

/** One key per purpose, so that none is ever used for two things. */
function derive(masterKey: Buffer, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `lethe/keyring/${purpose}`, length));
}
