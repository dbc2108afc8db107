import { createHmac, timingSafeEqual } from 'node:crypto';

const SECRET = /^whsec_[A-Za-z0-9+/]+={0,2}$/;

/** `X-GDPR-Signature`. The key is the whole secret as text. */
export function gdprSignature(secret: string, rawBody: string | Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(rawBody).digest('hex')}`;
}

/** One entry of `webhook-signature` (Standard Webhooks). The key is the base64 after `whsec_`. */
export function standardSignature(
  secret: string,
  id: string,
  timestamp: string,
  rawBody: string | Uint8Array,
): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody).digest('base64')}`;
}

export function isSecret(text: unknown): text is string {
  return typeof text === 'string' && SECRET.test(text);
}

/** Compares two texts in constant time. */
export function equalTexts(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
