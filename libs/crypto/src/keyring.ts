import { hkdfSync } from 'node:crypto';
import { OwnError, type Random } from '@app/kernel';
import {
  CIPHER_KEY_BYTES,
  decrypted,
  decryptedAes,
  encrypted,
  NONCE_BYTES,
  UnreadableSecretError,
} from './aead';

/** The marks of texts with AES-256-GCM, and of texts with ChaCha20-Poly1305. */
const AES = 'v1';
const VERSION = 'v2';

interface MasterKey {
  readonly aes: Buffer;
  readonly cipher: Buffer;
}

/** The part of an operator's message that names the master key of an unreadable text. */
export function missingKey({ code }: UnreadableSecretError): string {
  return code === undefined ? '' : ` (${code})`;
}

/** The SQL of the id of the master key that has encrypted the texts of a column. */
export const keyIdOf = (column: string): string => `substr(${column}, 4, 8)`;

/**
 * Encrypts small secrets in the database and its backups. A secret encrypted for one context, for example
 * the webhook secret of one bot, decrypts in no other context. The first key encrypts, every key decrypts: this allows
 * a change of the master key.
 */
export class Keyring {
  private keys: ReadonlyMap<string, MasterKey> = new Map();
  /** The id of the key that encrypts. */
  presentId = '';
  /** The ids of the keys that are given now, the present one first. */
  givenIds: readonly string[] = [];

  constructor(
    masterKeys: readonly Buffer[],
    private readonly random: Random,
  ) {
    this.adopt(masterKeys);
  }

  /** From now on the first of these keys encrypts. Keys from before still decrypt what was read under them. */
  adopt(masterKeys: readonly Buffer[]): void {
    const derived = (key: Buffer): MasterKey => ({
      aes: derive(key, 'seal', CIPHER_KEY_BYTES),
      cipher: derive(key, 'seal/2', CIPHER_KEY_BYTES),
    });
    const adopted = masterKeys.map((key) => [idOf(key), derived(key)] as const);
    const [present] = adopted;
    if (present === undefined) throw new OwnError('A keyring needs at least one key');
    this.presentId = present[0];
    this.givenIds = adopted.map(([id]) => id);
    this.keys = new Map([...adopted, ...this.keys]);
  }

  /** Whether the key that encrypts is among the given ones. */
  isPresentAmong(masterKeys: readonly Buffer[]): boolean {
    return masterKeys.some((key) => idOf(key) === this.presentId);
  }

  /** The ids of all keys, the present one first. */
  get ids(): readonly string[] {
    return [...this.keys.keys()];
  }

  encrypt(plain: string | Buffer, context: string): string {
    const { cipher } = this.key(this.presentId);
    const body = encrypted(cipher, this.random.bytes(NONCE_BYTES), plain, context);
    return `${VERSION}.${this.presentId}.${body}`;
  }

  /** @throws UnreadableSecretError for a text that this keyring did not encrypt for this context. */
  decrypt(stored: string, context: string): string {
    return this.open(stored, context).toString('utf8');
  }

  /** {@link decrypt} into bytes, which the caller can overwrite. */
  open(stored: string, context: string): Buffer {
    const [version, id = '', body = ''] = stored.split('.');
    if (version !== VERSION && version !== AES) throw new UnreadableSecretError();
    const { aes, cipher } = this.key(id);
    return version === VERSION ? decrypted(cipher, body, context) : decryptedAes(aes, body, context);
  }

  private key(id: string): MasterKey {
    const key = this.keys.get(id);
    if (key === undefined) throw new UnreadableSecretError(/^[\w-]{8}$/.test(id) ? id : undefined);
    return key;
  }
}

function idOf(masterKey: Buffer): string {
  return derive(masterKey, 'id', 6).toString('base64url');
}

/** Derives one key for each purpose, so that no key has two. */
function derive(masterKey: Buffer, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `lethe/keyring/${purpose}`, length));
}
