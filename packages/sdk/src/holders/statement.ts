import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import type { Answered } from './answer';

/** What a holder signs about its answer. */
export interface Statement extends Pick<Answered, 'kept'> {
  readonly result: string;
  /** Null for the answer to an export. */
  readonly counts: Answered['counts'] | null;
  /** Of the data of an export; see {@link digestOf}. */
  readonly data_digest?: string;
  readonly bot_id: string;
  readonly holder: string;
  readonly task_id: string;
  /** ISO 8601, by the clock of the bot. */
  readonly at: string;
}

/** A private `KeyObject` of node:crypto, by its shape: declarations of the package need no types of Node.js. */
export interface SigningKey {
  readonly asymmetricKeyType?: string | undefined;
  readonly type: string;
}

/** An Ed25519 key, and the JWS that it makes (RFC 7515, RFC 8037). */
export class Signer {
  /** As `public_key` of the holder: base64url of 32 bytes. */
  readonly publicKey: string;
  private readonly key: KeyObject;

  /** @throws TypeError for a key that is no Ed25519 key; without its text */
  constructor(key: SigningKey | string) {
    try {
      this.key = typeof key === 'string' ? createPrivateKey(key) : (key as KeyObject);
      if (this.key.asymmetricKeyType !== 'ed25519') throw new TypeError();
      this.publicKey = String(createPublicKey(this.key).export({ format: 'jwk' }).x);
    } catch {
      throw new TypeError('privateKey must be an Ed25519 key in PEM (PKCS #8), or its KeyObject.');
    }
  }

  statement({ bot_id, holder, task_id, result, counts, kept, data_digest, at }: Statement): string {
    const about = { bot_id, holder, task_id, result, counts, kept: kept ?? null };
    const payload = { ...about, ...(data_digest !== undefined && { data_digest }), at };
    const signed = [{ alg: 'EdDSA', typ: 'lethe-holder-answer+jwt' }, payload]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `${signed}.${sign(null, Buffer.from(signed), this.key).toString('base64url')}`;
  }
}

/** base64url of the SHA-256 of the JSON text of `data`. */
export const digestOf = (data: object): string =>
  createHash('sha256').update(JSON.stringify(data)).digest('base64url');
