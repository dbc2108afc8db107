import type { KeySet } from '../key-set';
import { base64url, bytes, utf8 } from './base64url';
import { type Check, sha256 } from './check';
import { checkStatement, type Payload } from './statement.check';
import { VerificationError } from './verification-error';

const TYPE = 'lethe-erasure-certificate+jwt';
/** The check of each field. */
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  request_id: isText,
  bot_id: isText,
  subject_commitment: isText,
  requested_at: isText,
  completed_at: isText,
  unrecoverable_at: isTextOrNull,
  deleted_categories: Array.isArray,
  erased_rows: isObject,
  destroyed_key: isTextOrNull,
  audit: isPlace,
  backups_clear_by: isText,
};

/** The user for the check of a certificate. Only the answer of the erasure holds the salt. */
export interface CertifiedSubject {
  /** base64url, as in the answer. */
  readonly salt: string;
  readonly botId: string;
  readonly userId: string;
  readonly guildId: string;
}

/**
 * The payload of a certificate of an erasure (GDPR Art. 17). With `subject` it is also checked that the certificate is
 * about that user.
 * @internal
 * @throws VerificationError when the service has not signed the certificate, or it is about another user.
 */
export function* checkCertificate(jws: string, keySet: KeySet, subject?: CertifiedSubject): Check<Payload> {
  const payload = yield* checkStatement(jws, keySet, TYPE);
  const missing = Object.keys(FIELDS).filter((name) => FIELDS[name]?.(payload[name]) !== true);
  if (missing.length > 0) throw new VerificationError(`the certificate lacks ${missing.join(', ')}`);
  if (subject !== undefined && (yield* commitmentOf(subject)) !== payload['subject_commitment'])
    throw new VerificationError(
      'the certificate is not about this user, or the salt is not the one of its erasure',
    );
  return payload;
}

function* commitmentOf({ salt, botId, guildId, userId }: CertifiedSubject): Check<string> {
  return base64url(yield* sha256(bytes(salt), Uint8Array.of(0), utf8(`${botId}/${guildId}/${userId}`)));
}

/** @internal */
export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTextOrNull(value: unknown): boolean {
  return value === null || isText(value);
}

/** @internal */
export function isObject(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null;
}

/** A place in the chain of a log: the number of its batch, and the hash over everything up to it. */
function isPlace(value: unknown): boolean {
  return isObject(value) && Number(value['number']) >= 1 && isText(value['chain']) && value['chain'] !== '';
}
