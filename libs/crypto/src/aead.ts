import sodium from 'libsodium';
import { createDecipheriv } from 'node:crypto';

/** A stored text was changed, moved to another place, or encrypted with a key that this process does not have. */
export class UnreadableSecretError extends Error {
  override readonly name = 'UnreadableSecretError';
  /** The reason in the log: the id of the missing master key. Ids of keys are not secret. */
  readonly code: string | undefined;

  constructor(missingKeyId?: string) {
    super(
      missingKeyId === undefined
        ? 'A stored secret cannot be decrypted with the keys at hand'
        : `A stored secret was encrypted with the master key ${missingKeyId}, which this process does not have: ` +
            'add it to LETHE_MASTER_KEY, its file or the output of its command behind a comma, or restore the key file as it was',
    );
    this.code = missingKeyId === undefined ? undefined : `master key ${missingKeyId} is missing`;
  }
}

/** Undefined for the error of a text that cannot be decrypted; throws every other one. */
export function unlessUnreadable(error: unknown): undefined {
  if (!(error instanceof UnreadableSecretError)) throw error;
}

/** {@link unlessUnreadable} that throws where the master key is missing: with it the text can be decrypted again. */
export function unlessDamaged(error: unknown): undefined {
  if (!(error instanceof UnreadableSecretError) || error.code !== undefined) throw error;
}

/** The result of `read`; what `unless` makes of an error, by default undefined for a text that cannot be decrypted. */
export function ifReadable<Result>(read: () => Result, unless = unlessUnreadable): Result | undefined {
  try {
    return read();
  } catch (error) {
    return unless(error);
  }
}

export const CIPHER_KEY_BYTES = 32;
/** RFC 8439, section 2.8: 96 bits of nonce, 128 bits of tag. AES-GCM has the same. */
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const EXPANDED_KEY_BYTES = 64;
/** The least memory that is taken, so that it rarely grows. */
const SIZE_MIN = 16_384;
/** The maximum of bytes of a context. */
const CONTEXT_MAX = 1_024;
/** The most bytes that one character of a text takes. */
const CHARACTER_MAX = 3;

/** Resolves when the other functions can be called. */
export const encryptionReady: Promise<void> = sodium.ready;

/**
 * A piece of the memory of libsodium for a key, a context, and a nonce followed by a text, which is encrypted and decrypted
 * in its place. It is blank between two calls, so that no key outlives its call there.
 */
class Room {
  private size = 0;
  bytes = Buffer.alloc(0);
  /** The places of the parts, one after the other. */
  key = 0;
  context = 0;
  nonce = 0;
  text = 0;

  /**
   * The result of `work` with key and context in their places and `textBytes` of room for a text. `work` gets the length of
   * the context. Everything is blank afterwards. @throws RangeError without memory, or for what has no room
   */
  within<Result>(
    key: Buffer,
    context: string,
    textBytes: number,
    work: (contextBytes: number) => Result,
  ): Result {
    if (key.length !== CIPHER_KEY_BYTES) throw new RangeError('The key has another length');
    if (context.length * CHARACTER_MAX > CONTEXT_MAX) throw new RangeError('The context is too long');
    const size = CIPHER_KEY_BYTES + CONTEXT_MAX + NONCE_BYTES + textBytes + TAG_BYTES;
    if (size > this.size) this.grow(Math.max(size, SIZE_MIN));
    try {
      this.bytes.set(key, this.key);
      return work(this.bytes.write(context, this.context, 'utf8'));
    } finally {
      this.bytes.fill(0, this.key, this.key + size);
    }
  }

  private grow(size: number): void {
    const at = sodium._malloc(size);
    // The memory may have grown, and another array holds it then.
    this.bytes = Buffer.from(sodium.HEAPU8.buffer);
    if (at === 0) throw new RangeError('There is no memory to encrypt or decrypt a text');
    sodium._free(this.key);
    [this.key, this.size] = [at, size];
    this.context = at + CIPHER_KEY_BYTES;
    this.nonce = this.context + CONTEXT_MAX;
    this.text = this.nonce + NONCE_BYTES;
  }
}

const room = new Room();

/**
 * Encrypts with ChaCha20-Poly1305 (RFC 8439). The text decrypts in the same context only. Returns nonce, encrypted text and
 * tag in base64url. `nonce` has {@link NONCE_BYTES} and must never be used twice with one key.
 *
 * A cipher of Node.js is an object with a finalizer, which amid requests costs ten times as much as this call.
 */
export function encrypted(key: Buffer, nonce: Buffer, plain: string | Buffer, context: string): string {
  if (nonce.length !== NONCE_BYTES) throw new RangeError('The nonce has another length');
  const most = typeof plain === 'string' ? plain.length * CHARACTER_MAX : plain.length;
  return room.within(key, context, most, (contextBytes) => {
    const { bytes, text } = room;
    bytes.set(nonce, room.nonce);
    if (typeof plain !== 'string') bytes.set(plain, text);
    const length = typeof plain === 'string' ? bytes.write(plain, text, 'utf8') : plain.length;
    sodium._crypto_aead_chacha20poly1305_ietf_encrypt(
      ...([text, 0, text, length, 0, room.context, contextBytes, 0, 0, room.nonce, room.key] as const),
    );
    return bytes.toString('base64url', room.nonce, text + length + TAG_BYTES);
  });
}

/** The bytes that {@link encrypted} has encrypted. @throws UnreadableSecretError for another key, context or text */
export function decrypted(key: Buffer, body: string, context: string): Buffer {
  return opened(key, body, context, (from, to) => Buffer.from(room.bytes.subarray(from, to)));
}

/** {@link decrypted} as a text. */
export function decryptedText(key: Buffer, body: string, context: string): string {
  return opened(key, body, context, (from, to) => room.bytes.toString('utf8', from, to));
}

function opened<Read>(
  key: Buffer,
  body: string,
  context: string,
  read: (from: number, to: number) => Read,
): Read {
  return room.within(key, context, body.length, (contextBytes) => {
    const { bytes, nonce, text } = room;
    const end = nonce + bytes.write(body, nonce, 'base64url');
    const length = end - text - TAG_BYTES;
    // The last digit may have unused bits. A text in which they were changed is a changed text.
    if (length < 0 || bytes.toString('base64url', nonce, end) !== body) throw new UnreadableSecretError();
    const fault = sodium._crypto_aead_chacha20poly1305_ietf_decrypt(
      ...([text, 0, 0, text, end - text, 0, room.context, contextBytes, 0, nonce, room.key] as const),
    );
    if (fault !== 0) throw new UnreadableSecretError();
    return read(text, text + length);
  });
}

/**
 * `length` bytes derived from a random secret: HKDF-Expand with SHA-512 (RFC 5869, section 2.3). A random secret needs no
 * extraction (section 3.3).
 */
export function expanded(secret: Buffer, info: string, length: number): Buffer {
  return room.within(secret, info, length + EXPANDED_KEY_BYTES, (infoBytes) => {
    const { bytes, context, text } = room;
    // The key of 64 bytes is the secret and zeros, as an HMAC pads it (RFC 2104, section 2).
    const key = text + length;
    bytes.set(secret, key);
    bytes.fill(0, key + secret.length, key + EXPANDED_KEY_BYTES);
    sodium._crypto_kdf_hkdf_sha512_expand(text, length, context, infoBytes, key);
    return Buffer.from(bytes.subarray(text, key));
  });
}

/** {@link decrypted} of a text that was encrypted with AES-256-GCM, as all texts before ChaCha20-Poly1305. */
export function decryptedAes(key: Buffer, body: string, context: string): Buffer {
  const bytes = Buffer.from(body, 'base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== body)
    throw new UnreadableSecretError();
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    decipher.final();
    return text;
  } catch {
    throw new UnreadableSecretError();
  }
}
