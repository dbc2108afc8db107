import { hash } from 'node:crypto';

/** A keyed digest in the place of an id. */
export type Digest = string & { readonly digest: unique symbol };

/** What a digest is of. Two kinds never have the same digest. */
type DigestKind = 'user' | 'guild' | 'claim';

/** 120 bits: two ids never have the same digest by chance. */
export const DIGEST_LENGTH = 20;
/** The bytes of a block and of a digest. */
const SIZES = { sha256: [64, 32], sha512: [128, 64] } as const;
/** The maximum of bytes of a text, and of the bytes that one character takes. */
const TEXT_MAX = 384;
const CHARACTER_MAX = 3;

/**
 * HMACs (RFC 2104) of short texts. An HMAC of Node.js is an object with a finalizer, which costs several times as much as the
 * two hashes of which it consists.
 */
class ShortHmac {
  private readonly block: number;
  /** Each buffer begins with the padded key; the text to hash is copied after it. */
  private readonly inner: Buffer;
  private readonly outer: Buffer;

  constructor(private readonly algorithm: keyof typeof SIZES) {
    const [block, digest] = SIZES[algorithm];
    this.block = block;
    this.inner = Buffer.alloc(block + TEXT_MAX);
    this.outer = Buffer.alloc(block + digest);
  }

  /** @throws RangeError for a key longer than a block */
  useKey(key: Buffer): void {
    if (key.length > this.block) throw new RangeError('The key is longer than a block');
    this.inner.fill(0x36, 0, this.block);
    this.outer.fill(0x5c, 0, this.block);
    for (let at = 0; at < key.length; at++) {
      const byte = key[at] ?? 0;
      this.inner[at] = byte ^ 0x36;
      this.outer[at] = byte ^ 0x5c;
    }
  }

  /** @throws RangeError for a text longer than 128 characters */
  of(text: string, encoding: 'base64url' | 'binary'): string {
    if (text.length * CHARACTER_MAX > TEXT_MAX) throw new RangeError('The text is too long');
    const end = this.block + this.inner.write(text, this.block, 'utf8');
    this.outer.write(hash(this.algorithm, this.inner.subarray(0, end), 'binary'), this.block, 'binary');
    return hash(this.algorithm, this.outer, encoding);
  }

  /** Overwrites key and text. */
  blank(): void {
    this.inner.fill(0);
    this.outer.fill(0);
  }
}

/**
 * Digests in the place of ids: HMAC-SHA-256, cut to 120 bits. With the id and the key the rows under the digest can be
 * found. Without the key the ids cannot be guessed by trial, which a digest without a key would allow. Every request needs
 * two of them.
 */
export class DigestKey {
  private readonly hmac = new ShortHmac('sha256');

  /** @throws RangeError for a key longer than 64 bytes */
  constructor(key: Buffer) {
    this.hmac.useKey(key);
  }

  /** @throws RangeError for a text longer than 128 characters */
  of(botId: string, kind: DigestKind, value: string): Digest {
    return this.whole(botId, kind, value).slice(0, DIGEST_LENGTH) as Digest;
  }

  /** {@link of} before it is cut: 256 bits in base64url. The part after the digest is never stored. */
  whole(botId: string, kind: DigestKind, value: string): string {
    return this.hmac.of(`${kind}/${botId}/${value}`, 'base64url');
  }
}

/** Of one key at a time, and blank between two: no key outlives its use here. */
const shared = new ShortHmac('sha512');

/** HMAC-SHA-512. @throws RangeError for a key longer than 128 bytes, or a text longer than 128 characters */
export function hmacSha512(key: Buffer, text: string): Buffer {
  try {
    shared.useKey(key);
    return Buffer.from(shared.of(text, 'binary'), 'binary');
  } finally {
    shared.blank();
  }
}
