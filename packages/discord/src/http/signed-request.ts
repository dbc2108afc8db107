/** The limit of a body in bytes. An interaction with the message of a full menu is far smaller. */
const BODY_MAX_BYTES = 262_144;
const TOLERANCE_SECONDS = 300;

/** A key of Web Crypto. */
export type PublicKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** A body, as the runtimes have it. */
export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array> | ReadableStream<Uint8Array>;

export interface RequestHeaders {
  get(name: string): string | null;
}

/** @throws TypeError for a key that is none of Ed25519 in hexadecimal */
export async function keyOf(publicKey: string): Promise<PublicKey> {
  const bytes = bytesOf(publicKey, 32);
  if (bytes === undefined)
    throw new TypeError('publicKey must be the 64 hexadecimal digits of the developer portal.');
  return crypto.subtle.importKey('raw', bytes, 'Ed25519', false, ['verify']);
}

/** Whether the request is signed with the key, and of the present: a recorded one is refused later. */
export async function isSigned(
  key: PublicKey,
  headers: RequestHeaders,
  body: Uint8Array,
  given: { readonly toleranceSeconds?: number | undefined; readonly now?: (() => number) | undefined },
): Promise<boolean> {
  const { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now } = given;
  const timestamp = headers.get('x-signature-timestamp') ?? '';
  const signature = bytesOf(headers.get('x-signature-ed25519') ?? '', 64);
  if (signature === undefined || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now() / 1000 - Number(timestamp)) > toleranceSeconds) return false;
  const time = new TextEncoder().encode(timestamp);
  const message = new Uint8Array(time.length + body.length);
  message.set(time);
  message.set(body, time.length);
  return crypto.subtle.verify('Ed25519', key, signature, message);
}

/** The body, or undefined if it is too large. No more than the limit is kept. */
export async function bodyOf(chunks: Chunks): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const body = new Uint8Array(BODY_MAX_BYTES);
  let length = 0;
  for await (const chunk of 'getReader' in chunks ? read(chunks) : chunks) {
    if (length + chunk.length > BODY_MAX_BYTES) return undefined;
    body.set(chunk, length);
    length += chunk.length;
  }
  return body.slice(0, length);
}

/** A stream is no async iterable in every runtime. */
async function* read(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function bytesOf(hex: string, length: number): Uint8Array<ArrayBuffer> | undefined {
  if (hex.length !== length * 2 || !/^[0-9a-f]*$/i.test(hex)) return undefined;
  return Uint8Array.from({ length }, (_, at) => parseInt(hex.slice(2 * at, 2 * at + 2), 16));
}
