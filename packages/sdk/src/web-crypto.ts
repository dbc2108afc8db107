type WebCrypto = typeof globalThis.crypto;

/** Joined when it is needed, so that a bundler for the edge finds no module of Node.js. */
const nodeCrypto = (): string => ['node', 'crypto'].join(':');

/** Web Crypto. In Node.js 18 it is no global. */
export async function webCrypto(): Promise<WebCrypto> {
  const { crypto } = globalThis as { crypto?: WebCrypto };
  if (crypto !== undefined) return crypto;
  const module = (await import(/* webpackIgnore: true */ /* @vite-ignore */ nodeCrypto())) as {
    webcrypto: WebCrypto;
  };
  return module.webcrypto;
}

/** A new UUID (version 4 of RFC 9562). `randomUUID` is missing on a page that came over plain HTTP. */
export async function newUuid(): Promise<string> {
  const crypto = (await webCrypto()) as Pick<WebCrypto, 'getRandomValues'> & Partial<WebCrypto>;
  if (crypto.randomUUID !== undefined) return crypto.randomUUID();
  const bytes = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte, at) =>
    at === 6 ? (byte % 16) + 0x40 : at === 8 ? (byte % 64) + 0x80 : byte,
  );
  return hexOf(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export const hexOf = (bytes: Iterable<number>): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
