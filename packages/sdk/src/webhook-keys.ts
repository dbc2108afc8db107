import type { KeySet } from './key-set';
import { bytesOfBase64 } from './signature';
import { webCrypto } from './web-crypto';
import { WebhookVerificationError } from './webhook-error';

/**
 * What verifies calls without a secret: the answer of `/.well-known/lethe-webhook-keys/{bot_id}`, or a key of it as text,
 * `whpk_…`; with several texts during a rotation. A function is asked at each call, so it keeps what it has fetched.
 */
export type WebhookPublicKeys = Fixed | (() => Fixed | Promise<Fixed>);
type Fixed = KeySet | string | readonly string[];

/** A process signs with its copy of a key for up to 30 seconds after its retirement, and clocks differ by seconds. */
const RETIRING_MS = 60_000;
/** The service sends one. A stranger can send many, and each one costs a verification. */
const SIGNATURES_MAX = 4;
const KEY_TEXT = /^whpk_([A-Za-z0-9+/]{43}=)$/;
const ENTRY = /^v1a,([A-Za-z0-9+/]{86}==)$/;

/** A key that verifies, and the last time at which it may have signed, in milliseconds. */
interface WebhookKey {
  readonly raw: Uint8Array<ArrayBuffer>;
  readonly untilMs: number;
}

/** @throws WebhookVerificationError `bad_keys` */
export function requireWebhookKeys(given: unknown): readonly WebhookKey[] {
  const keys = (
    Array.isArray(given) ? given : typeof given === 'string' ? [given] : setOf(given)
  ) as unknown[];
  if (keys.length > 0) return keys.map((key) => (typeof key === 'string' ? ofText(key) : ofSet(key)));
  throw badKeys();
}

/**
 * Whether one of the keys has made one of the entries `v1a` at this time, given in Unix seconds.
 * @throws WebhookVerificationError `bad_keys` where Web Crypto has no Ed25519
 */
export async function isSignedBy(
  keys: readonly WebhookKey[],
  content: Uint8Array<ArrayBuffer>,
  entries: readonly string[],
  timestamp: string,
): Promise<boolean> {
  const signatures = entries.flatMap((entry) => ENTRY.exec(entry)?.[1] ?? []).slice(0, SIGNATURES_MAX);
  for (const { raw, untilMs } of keys) {
    // A time that cannot be read is not before the retirement.
    if (!(Number(timestamp) * 1000 <= untilMs)) continue;
    const { subtle } = await webCrypto();
    const key = await subtle.importKey('raw', raw, 'Ed25519', false, ['verify']).catch(() => {
      throw new WebhookVerificationError('bad_keys', 'Web Crypto has no Ed25519 here: verify by secrets.');
    });
    for (const signature of signatures)
      if (await subtle.verify('Ed25519', key, bytesOfBase64(signature), content)) return true;
  }
  return false;
}

function setOf(given: unknown): unknown[] {
  const { keys } = (given ?? {}) as { readonly keys?: unknown };
  return Array.isArray(keys) ? keys : [];
}

function ofText(text: string): WebhookKey {
  const [, base64] = KEY_TEXT.exec(text) ?? [];
  if (base64 === undefined) throw badKeys();
  return { raw: bytesOfBase64(base64), untilMs: Infinity };
}

function ofSet(given: unknown): WebhookKey {
  const { webhook_key: text, retired_at: retiredAt } = (given ?? {}) as Readonly<Record<string, unknown>>;
  const key = ofText(String(text));
  // A database in which the set is kept may write the member that is not there as null.
  if (retiredAt === undefined || retiredAt === null) return key;
  const retiredMs = typeof retiredAt === 'string' ? Date.parse(retiredAt) : NaN;
  if (Number.isNaN(retiredMs)) throw badKeys();
  return { ...key, untilMs: retiredMs + RETIRING_MS };
}

function badKeys(): WebhookVerificationError {
  return new WebhookVerificationError(
    'bad_keys',
    'publicKeys must be the answer of /.well-known/lethe-webhook-keys/{bot_id} of the service, or a key of it as text, ' +
      'beginning with whpk_. The keys of /.well-known/lethe-keys.json verify statements, and no calls.',
  );
}
