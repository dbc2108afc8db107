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
