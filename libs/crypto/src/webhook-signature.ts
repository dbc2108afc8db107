import { createHmac } from 'node:crypto';
import type { Random } from '@app/kernel';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** A new signing secret in the form of Standard Webhooks: `whsec_` and 256 random bits in base64. */
export function newWebhookSecret(random: Random): string {
  return PREFIX + random.bytes(SECRET_BYTES).toString('base64');
}

/** `X-GDPR-Signature`. The key is the UTF-8 bytes of the whole secret, so that any HMAC function can verify it. */
export function gdprSignature(secret: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/**
 * One entry of `webhook-signature` (Standard Webhooks). It covers id and time, so that a receiver can refuse an old
 * call.
 */
export function standardSignature(secret: string, id: string, seconds: number, body: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
}
