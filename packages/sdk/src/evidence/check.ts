import type { PublicKey } from '../key-set';
import { type Bytes, joined } from './base64url';

/** What a check asks of the cryptography of its place: Node.js answers at once, Web Crypto later. */
export type Question =
  | { readonly ask: 'sha256'; readonly content: Bytes }
  | { readonly ask: 'ed25519'; readonly key: PublicKey; readonly content: Bytes; readonly signature: Bytes };

/** The answer: the digest, or whether the key has made the signature. */
export type Reply = Bytes | boolean;

/**
 * A check without cryptography of its own. The same steps run in Node.js, where a call answers at once, and in browsers
 * and on the edge, where it answers a promise.
 */
export type Check<T> = Generator<Question, T, Reply>;

/** @internal */
export function* sha256(...parts: readonly Uint8Array[]): Check<Bytes> {
  return (yield { ask: 'sha256', content: joined(parts) }) as Bytes;
}

/** @internal */
export function* isSigned(key: PublicKey, content: Bytes, signature: Bytes): Check<boolean> {
  // A reply that is not exactly true is a refusal.
  return (yield { ask: 'ed25519', key, content, signature }) === true;
}
