import { hash } from 'node:crypto';

/** A keyed digest in the place of an id. */
export type Digest = string & { readonly digest: unique symbol };

/** What a digest is of. Two kinds never have the same digest. */
type DigestKind = 'user' | 'guild' | 'claim';

/** 120 bits: two ids never have the same digest by chance. */
export const DIGEST_LENGTH = 20;
/** Bytes of a block and of a digest of SHA-256. */
const BLOCK = 64;
const HASH = 32;
/** The maximum of bytes of a text. */
const TEXT_MAX = 384;

/**
 * Digests in the place of ids: HMAC-SHA-256 (RFC 2104), cut to 120 bits. With the id and the key the rows under the
 * digest can be found. Without the key the ids cannot be guessed by trial, which a digest without a key would allow.
 *
 * Every request needs two of them. An HMAC of Node.js is an object with a finalizer, which costs several times as much
 * as the two hashes of which it consists.
 */
export class DigestKey {
  /** The padded keys, each followed by the place of the text that it hashes. */
  private readonly inner = Buffer.alloc(BLOCK + TEXT_MAX);
  private readonly outer = Buffer.alloc(BLOCK + HASH);

  /** @throws RangeError for a key longer than 64 bytes */
  constructor(key: Buffer) {
    if (key.length > BLOCK) throw new RangeError('The key is longer than a block');
    for (let at = 0; at < BLOCK; at++) {
      const byte = key[at] ?? 0;
      this.inner[at] = byte ^ 0x36;
      this.outer[at] = byte ^ 0x5c;
    }
  }

  /** @throws RangeError for a text longer than 128 characters */
  of(botId: string, kind: DigestKind, value: string): Digest {
    return this.whole(botId, kind, value).slice(0, DIGEST_LENGTH) as Digest;
  }

  /** {@link of} before it is cut: 256 bits in base64url. The part after the digest is never stored. */
  whole(botId: string, kind: DigestKind, value: string): string {
    const text = `${kind}/${botId}/${value}`;
    if (text.length * 3 > TEXT_MAX) throw new RangeError('The id is too long');
    const end = BLOCK + this.inner.write(text, BLOCK, 'utf8');
    this.outer.write(hash('sha256', this.inner.subarray(0, end), 'binary'), BLOCK, 'binary');
    return hash('sha256', this.outer, 'base64url');
  }
}
