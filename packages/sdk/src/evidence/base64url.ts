import { VerificationError } from './verification-error';

/** Bytes of a buffer of their own, in every place that has Web Crypto. */
export type Bytes = Uint8Array<ArrayBuffer>;

/**
 * The bytes of base64url (RFC 4648, section 5).
 * @internal
 * @throws VerificationError for a text that is not the only notation of its bytes, so that every change is found.
 */
export function bytes(text: unknown): Bytes {
  const content = typeof text === 'string' ? decoded(text) : undefined;
  if (content === undefined || base64url(content) !== text)
    throw new VerificationError('this is not base64url in its only notation');
  return content;
}

/**
 * base64url without padding.
 * @internal
 */
export function base64url(content: Uint8Array): string {
  let binary = '';
  for (const byte of content) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/**
 * The bytes of base64url; undefined for a text that is none.
 * @internal
 */
export function decoded(text: string): Bytes | undefined {
  if (!/^[\w-]*$/.test(text)) return undefined;
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** @internal */
export const utf8 = (text: string): Bytes => new TextEncoder().encode(text);

/**
 * All parts, one after the other.
 * @internal
 */
export function joined(parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
