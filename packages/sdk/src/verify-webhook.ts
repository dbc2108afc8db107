import { requireNumber } from './numbers';
import { equalTexts, isSecret, signedContent, standardSignature } from './signature';
import { WebhookVerificationError } from './webhook-error';
import type { VerifiedWebhook, WebhookEvent } from './webhook-event';
import { isSignedBy, requireWebhookKeys, type WebhookPublicKeys } from './webhook-keys';

const DEFAULT_TOLERANCE_SECONDS = 300;
const TOLERANCE_MAX_SECONDS = 86_400;

/** Headers in the form of node:http, Express, fetch and most frameworks. */
export type WebhookHeaders =
  Readonly<Record<string, string | readonly string[] | undefined>> | { get(name: string): string | null };

/** By what a call is verified: the bot's webhook secret, the old and the new one during a rotation; or public keys. */
export type WebhookTrust =
  | { readonly secrets: string | readonly string[]; readonly publicKeys?: undefined }
  | { readonly publicKeys: WebhookPublicKeys; readonly secrets?: undefined };

export type VerifyWebhook = WebhookTrust & {
  /** The body as it arrived, byte for byte, before any parser. */
  readonly rawBody: string | Uint8Array;
  readonly headers: WebhookHeaders;
  /** The maximum difference between the time of the call and this machine's, in seconds; 300 by default. */
  readonly toleranceSeconds?: number;
  /** Milliseconds since the epoch; for tests. */
  readonly now?: () => number;
};

/**
 * Verifies that the service has sent a call, that it is unchanged and that it is not old. Returns its event.
 * @throws WebhookVerificationError (as a rejection) whose `fault` and message name the mistake; answer such a call with 400.
 */
export async function verifyWebhook(given: VerifyWebhook): Promise<VerifiedWebhook> {
  const rawBody = requireRaw(given.rawBody);
  requireTrust(given);
  const id = header(given.headers, 'webhook-id');
  const timestamp = header(given.headers, 'webhook-timestamp');
  const signatures = header(given.headers, 'webhook-signature').split(' ');
  const isSigned =
    given.publicKeys === undefined
      ? await isSignedWith(given.secrets, signatures, { id, timestamp, rawBody })
      : await isSignedBy(
          requireWebhookKeys(await fixed(given.publicKeys)),
          signedContent(id, timestamp, rawBody),
          signatures,
          timestamp,
        );
  if (!isSigned) throw wrongSignature(rawBody, given);
  // The time is checked last, since an unsigned time proves nothing.
  const sentAt = requireFresh(timestamp, given);
  return { id, sentAt, event: parse(rawBody) };
}

function requireRaw(rawBody: unknown): string | Uint8Array {
  if (typeof rawBody === 'string' || rawBody instanceof Uint8Array) return rawBody;
  throw new WebhookVerificationError(
    'parsed_body',
    'rawBody is not text or bytes: a JSON parser has read it. Verify the body as it arrived, ' +
      'for example with express.raw({ type: "application/json" }) on this route, before express.json().',
  );
}

async function isSignedWith(
  given: string | readonly string[],
  signatures: readonly string[],
  { id, timestamp, rawBody }: { id: string; timestamp: string; rawBody: string | Uint8Array },
): Promise<boolean> {
  const made = requireSecrets(given).map((secret) => standardSignature(secret, id, timestamp, rawBody));
  const expected = await Promise.all(made);
  return expected.some((one) => signatures.some((other) => equalTexts(one, other)));
}

const fixed = (given: WebhookPublicKeys): unknown => (typeof given === 'function' ? given() : given);

/**
 * Public keys that a function fetches are not known before the first call.
 * @throws WebhookVerificationError `bad_secret`, `bad_keys`
 */
export function requireTrust({ secrets, publicKeys }: WebhookTrust): void {
  if (publicKeys === undefined) requireSecrets(secrets);
  else if (secrets !== undefined)
    // Who has the secret could make a call for a receiver that means to trust the keys alone.
    throw new WebhookVerificationError('bad_keys', 'Give secrets or publicKeys, and not both.');
  else if (typeof publicKeys !== 'function') requireWebhookKeys(publicKeys);
}

/** @throws WebhookVerificationError `bad_secret` */
function requireSecrets(given: string | readonly string[]): readonly string[] {
  const secrets: unknown = typeof given === 'string' ? [given] : given;
  if (Array.isArray(secrets) && secrets.length > 0 && secrets.every(isSecret)) return secrets;
  throw new WebhookVerificationError(
    'bad_secret',
    'secrets must hold the webhook_secret of the registration as it was shown, beginning with whsec_ ' +
      '(it is not the API key, sk_live_…). Is the environment variable set?',
  );
}

function header(headers: WebhookHeaders, name: string): string {
  const value: unknown =
    typeof headers.get === 'function'
      ? (headers as { get(name: string): string | null }).get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  // Some platforms pass every header as a list.
  const one: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (typeof one === 'string' && one !== '') return one;
  throw new WebhookVerificationError(
    'missing_header',
    `The header ${name} is missing: this is not a call of the service, or a proxy has removed it.`,
  );
}

function wrongSignature(rawBody: string | Uint8Array, given: WebhookTrust): WebhookVerificationError {
  const [what, hint] =
    given.publicKeys === undefined
      ? [
          'secret',
          "Is it this bot's secret, and the present one? After a rotation give the old and the new one.",
        ]
      : [
          'public keys',
          "Are they this bot's, and the present ones? Fetch them again; a retired key signs no new call.",
        ];
  const reason = isRewritten(textOf(rawBody))
    ? 'The body looks as if it had been parsed and written again: verify it byte for byte as it arrived.'
    : hint;
  return new WebhookVerificationError('wrong_signature', `No signature fits body and ${what}. ${reason}`);
}

/** Whether a parser has rewritten the body: the service sends JSON without blanks and line breaks. */
function isRewritten(text: string): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) !== text;
  } catch {
    return text === '' || text === '[object Object]';
  }
}

/** @throws RangeError: with Infinity every captured call could be replayed, and NaN would refuse them all */
export function requireTolerance(toleranceSeconds: number | undefined): void {
  requireNumber('toleranceSeconds', toleranceSeconds, 0, TOLERANCE_MAX_SECONDS);
}

function requireFresh(timestamp: string, { toleranceSeconds, now }: VerifyWebhook): Date {
  requireTolerance(toleranceSeconds);
  const tolerance = toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS;
  const nowSeconds = Math.floor((now ?? Date.now)() / 1000);
  const offSeconds = nowSeconds - Number(timestamp);
  if (Math.abs(offSeconds) <= tolerance) return new Date(Number(timestamp) * 1000);
  throw new WebhookVerificationError(
    'clock',
    `The call was signed ${Math.abs(offSeconds)} seconds ${offSeconds > 0 ? 'ago' : 'in the future'}, ` +
      `more than the ${tolerance} that are tolerated: it was replayed, or a clock is wrong (check NTP).`,
  );
}

const textOf = (rawBody: string | Uint8Array): string =>
  typeof rawBody === 'string' ? rawBody : new TextDecoder().decode(rawBody);

function parse(rawBody: string | Uint8Array): WebhookEvent {
  try {
    return JSON.parse(textOf(rawBody)) as WebhookEvent;
  } catch {
    throw new WebhookVerificationError('not_json', 'The body is signed but is not JSON.');
  }
}
