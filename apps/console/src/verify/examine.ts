import {
  type AuditEventEvidence,
  type AuditProof,
  type KeySet,
  type Payload,
  VerificationError,
  verifyAuditProof,
  type VerifiedFinalCertificate,
  verifyCertificate,
  verifyFinalCertificate,
  verifyStatement,
} from '@lethe/sdk/evidence/web';

const RECEIPT = 'lethe-consent-receipt+jwt';
const CERTIFICATE = 'lethe-erasure-certificate+jwt';
const FINAL = 'lethe-final-certificate+jwt';
/** Characters of a text at most. The largest proof, and the final certificate of twenty holders, have fewer. */
const TEXT_LENGTH_MAX = 2 * 1024 * 1024;

/** An event as far as hashes cover it: whether its user was erased since is not among that. */
export type SealedEvent = Omit<AuditEventEvidence, 'erased'>;

export type Kind = 'certificate' | 'final' | 'receipt' | 'proof';

/** The user a certificate is to be about. All three, or none. */
export interface Named {
  readonly salt: string;
  readonly userId: string;
  readonly guildId: string;
}

/** Why nothing can be said: what was given is not what this page checks. */
export type Unclear = 'not_known' | 'too_large' | 'bad_keys' | 'named_in_part' | 'unreadable';

/** The result of a check. `reason` is a message of the SDK, in English. */
export type Finding =
  | {
      readonly result: 'holds';
      readonly kind: 'certificate' | 'receipt';
      readonly statement: Payload;
      readonly isNamed: boolean;
    }
  | {
      readonly result: 'holds';
      readonly kind: 'proof';
      /** The checkpoint. */
      readonly statement: Payload;
      readonly event: SealedEvent;
      readonly isNamed: false;
    }
  | {
      readonly result: 'holds';
      readonly kind: 'final';
      readonly statement: VerifiedFinalCertificate;
      readonly isNamed: boolean;
    }
  | { readonly result: 'fails'; readonly reason: string }
  | { readonly result: 'unclear'; readonly why: Unclear };

/** Checks a text of any kind with the keys. It never throws: what cannot be read does not hold. */
export async function examine(given: string, keysText: string, named: Named): Promise<Finding> {
  const text = given.trim();
  if (text.length > TEXT_LENGTH_MAX) return { result: 'unclear', why: 'too_large' };
  const keys = keysOf(keysText);
  if (keys === undefined) return { result: 'unclear', why: 'bad_keys' };
  const typed = [named.salt, named.userId, named.guildId].map((part) => part.trim());
  const { salt, guildId } = tiesOf(text);
  // What was typed has priority. The file alone lacks the id of the user.
  const parts = [typed[0] || salt, typed[1], typed[2] || guildId].map((part) => part ?? '');
  const isNamed = typed.some((part) => part !== '');
  if (isNamed && parts.includes('')) return { result: 'unclear', why: 'named_in_part' };
  try {
    return await found(text, keys, isNamed ? parts : undefined);
  } catch (error) {
    if (error instanceof VerificationError) return { result: 'fails', reason: error.message };
    return { result: 'unclear', why: 'unreadable' };
  }
}

/** What a file of an erasure has beside the certificate, which ties it to its user by the id of the user. */
export function tiesOf(text: string): Omit<Named, 'userId'> {
  const content = text.length > TEXT_LENGTH_MAX ? undefined : contentOf(text);
  const part = (name: string): string => (typeof content?.[name] === 'string' ? content[name] : '');
  return { salt: part('certificate_salt'), guildId: part('guild_id') };
}

/** What a file of an erasure calls the bot and its categories. No signature covers it. */
export interface Names {
  readonly bot: string;
  readonly categories: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

export function namesIn(text: string): Names | undefined {
  const names = text.length > TEXT_LENGTH_MAX ? undefined : contentOf(text)?.['names'];
  if (!isObject(names) || typeof names['bot'] !== 'string') return undefined;
  const categories = isObject(names['categories']) ? Object.entries(names['categories']) : [];
  return {
    bot: names['bot'],
    categories: new Map(categories.filter((entry): entry is [string, Payload] => isObject(entry[1]))),
  };
}

async function found(text: string, keys: KeySet, parts: readonly string[] | undefined): Promise<Finding> {
  const content = contentOf(text);
  if (typeof content?.['checkpoint'] === 'string' && content['event'] !== undefined) {
    const proof = content as unknown as AuditProof;
    const statement = await verifyAuditProof(proof, keys);
    return { result: 'holds', kind: 'proof', statement, event: sealedOf(proof.event), isNamed: false };
  }
  const jws = content === undefined ? text : (content['certificate'] ?? content['receipt']);
  const typ = typeof jws === 'string' ? typOf(jws) : undefined;
  if (typeof jws !== 'string' || typ === undefined) return { result: 'unclear', why: 'not_known' };
  if (typ === RECEIPT) {
    const statement = await verifyStatement(jws, keys, RECEIPT);
    return { result: 'holds', kind: 'receipt', statement, isNamed: false };
  }
  const isFinal = typ === FINAL;
  const { bot_id: botId } = await verifyStatement(jws, keys, isFinal ? FINAL : CERTIFICATE);
  const [salt = '', userId = '', guildId = ''] = parts ?? [];
  const subject = parts === undefined ? undefined : { salt, userId, guildId, botId: String(botId) };
  const isNamed = subject !== undefined;
  if (isFinal) {
    const statement = await verifyFinalCertificate(jws, keys, subject);
    return { result: 'holds', kind: 'final', statement, isNamed };
  }
  const statement = await verifyCertificate(jws, keys, subject);
  return { result: 'holds', kind: 'certificate', statement, isNamed };
}

/** The event without what no hash covers. */
function sealedOf(event: AuditEventEvidence): SealedEvent {
  const { seq, id, event_type, source, created_at, commitment } = event;
  const { user, guild, details } = event.parts ?? {};
  const parts = user && guild && details ? { user, guild, details } : null;
  return { seq, id, event_type, source, created_at, commitment, parts };
}

/** The one JSON object of a text, without the envelope, or the one certificate of a list. */
function contentOf(text: string): Payload | undefined {
  const value = parsed(text);
  if (!isObject(value)) return undefined;
  const content = isObject(value['data']) ? value['data'] : value;
  const list: unknown = content['certificates'];
  return Array.isArray(list) && list.length === 1 && isObject(list[0]) ? list[0] : content;
}

/** The purpose that a compact JWS names; undefined for another text. */
function typOf(jws: string): string | undefined {
  const [head = ''] = jws.trim().split('.');
  try {
    const header = parsed(atob(head.replaceAll('-', '+').replaceAll('_', '/')));
    return isObject(header) ? String(header['typ']) : undefined;
  } catch {
    return undefined;
  }
}

function keysOf(text: string): KeySet | undefined {
  const value = parsed(text);
  const keys = isObject(value) ? value['keys'] : undefined;
  const isSet = Array.isArray(keys) && keys.length > 0 && keys.every(isObject);
  return isSet ? { keys: keys } : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
