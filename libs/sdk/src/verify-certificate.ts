import { createHash } from 'node:crypto';
import { bytes } from './base64url';
import { VerificationError } from './verification-error';
import { type KeySet, type Payload, verifyStatement } from './signed-statement';

const TYPE = 'lethe-erasure-certificate+jwt';
const REQUIRED = [
  'request_id',
  'bot_id',
  'subject_commitment',
  'requested_at',
  'completed_at',
  'backups_clear_by',
];

/** Who a certificate is said to be about: the salt stands in the answer of the erasure, and nowhere else. */
export interface CertifiedSubject {
  /** base64url, as it was answered. */
  readonly salt: string;
  readonly botId: string;
  readonly userId: string;
  readonly guildId: string;
}

/**
 * Answers what a certificate of an erasure says (GDPR Art. 17). With a `subject` it is also shown to be about that one.
 * @throws VerificationError when it was not signed by the service, or is about somebody else.
 */
export function verifyCertificate(jws: string, keySet: KeySet, subject?: CertifiedSubject): Payload {
  const payload = verifyStatement(jws, keySet, TYPE);
  const missing = REQUIRED.filter((name) => typeof payload[name] !== 'string');
  if (missing.length > 0) throw new VerificationError(`the certificate lacks ${missing.join(', ')}`);
  if (subject !== undefined && commitmentOf(subject) !== payload['subject_commitment'])
    throw new VerificationError(
      'the certificate is not about this user, or the salt is not the one of its erasure',
    );
  return payload;
}

function commitmentOf({ salt, botId, guildId, userId }: CertifiedSubject): string {
  const hash = createHash('sha256').update(bytes(salt)).update(Buffer.of(0));
  return hash.update(`${botId}/${guildId}/${userId}`).digest('base64url');
}
