import { webCrypto } from './web-crypto';

const SECRET = /^whsec_[A-Za-z0-9+/]+={0,2}$/;

type Bytes = Uint8Array<ArrayBuffer>;

/** `X-GDPR-Signature`. The key is the whole secret as text. */
export async function gdprSignature(secret: string, rawBody: string | Uint8Array): Promise<string> {
  const code = await hmac(bytesOf(secret), bytesOf(rawBody));
  return `sha256=${[...code].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** One entry of `webhook-signature` (Standard Webhooks). The key is the base64 after `whsec_`. */
export async function standardSignature(
  secret: string,
  id: string,
  timestamp: string,
  rawBody: string | Uint8Array,
): Promise<string> {
  const key = bytesOfBase64(secret.slice('whsec_'.length));
  return `v1,${btoa(String.fromCharCode(...(await hmac(key, signedContent(id, timestamp, rawBody)))))}`;
}

/** What every entry of `webhook-signature` is about (Standard Webhooks). */
export function signedContent(id: string, timestamp: string, rawBody: string | Uint8Array): Bytes {
  const [head, body] = [bytesOf(`${id}.${timestamp}.`), bytesOf(rawBody)];
  const signed = new Uint8Array(head.length + body.length);
  signed.set(head);
  signed.set(body, head.length);
  return signed;
}

export const bytesOfBase64 = (text: string): Bytes =>
  Uint8Array.from(atob(text), (char) => char.charCodeAt(0));

export function isSecret(text: unknown): text is string {
  return typeof text === 'string' && SECRET.test(text) && isBase64(text.slice('whsec_'.length));
}

/** Compares two texts in a time that depends on their lengths alone. */
export function equalTexts(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}

async function hmac(key: Bytes, content: Bytes): Promise<Bytes> {
  const { subtle } = await webCrypto();
  const imported = await subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return new Uint8Array(await subtle.sign('HMAC', imported, content));
}

const bytesOf = (content: string | Uint8Array): Bytes =>
  typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content);

function isBase64(text: string): boolean {
  try {
    return atob(text) !== '';
  } catch {
    return false;
  }
}
