import type { Random } from '@app/kernel';
import { createHmac, hkdfSync, type KeyObject, sign } from 'node:crypto';

const PREFIX = 'whsec_';
const WEBHOOK_SECRET_BYTES = 32;
const SEED_BYTES = 32;

/** A new signing secret in the form of Standard Webhooks: `whsec_` and 256 random bits in base64. */
export function newWebhookSecret(random: Random): string {
  return PREFIX + random.bytes(WEBHOOK_SECRET_BYTES).toString('base64');
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

/** The entry `v1a` of `webhook-signature` (Standard Webhooks, Ed25519), which a receiver verifies without a secret. */
export function publicSignature(webhookKey: KeyObject, id: string, seconds: number, body: string): string {
  return `v1a,${sign(null, Buffer.from(`${id}.${seconds}.${body}`), webhookKey).toString('base64')}`;
}

/**
 * The seed of the webhook key of one bot: HKDF (RFC 5869) of the seed of the signing key. One key for all bots would let a
 * bot have calls signed that the receiver of another one accepts. Receivers keep the public key: the text never changes.
 */
export function webhookSeed(signingSeed: Buffer, botId: string): Buffer {
  return Buffer.from(hkdfSync('sha256', signingSeed, '', `lethe/webhook-key/${botId}`, SEED_BYTES));
}
