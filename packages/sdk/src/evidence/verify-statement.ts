import type { KeySet } from '../key-set';
import { chainValue } from './audit-hashes';
import { type CertifiedSubject, checkCertificate } from './certificate.check';
import { checkFinalCertificate, type VerifiedFinalCertificate } from './final-certificate.check';
import { inNode } from './in-node';
import { checkStatement, type Payload } from './statement.check';

export type { CertifiedSubject } from './certificate.check';
export type { HolderAnswer, VerifiedFinalCertificate } from './final-certificate.check';
export type { Payload } from './statement.check';

/**
 * The payload of a statement that one of the keys has signed for this purpose (RFC 7515, RFC 8037).
 * @throws VerificationError for anything else.
 */
export function verifyStatement(jws: string, keySet: KeySet, typ: string): Payload {
  return inNode(checkStatement(jws, keySet, typ));
}

/**
 * The payload of a certificate of an erasure (GDPR Art. 17). With `subject` it is also checked that the certificate is
 * about that user.
 * @throws VerificationError when the service has not signed the certificate, or it is about another user.
 */
export function verifyCertificate(jws: string, keySet: KeySet, subject?: CertifiedSubject): Payload {
  return inNode(checkCertificate(jws, keySet, subject));
}

/**
 * What a final certificate says: the erasure in Lethe, and the answer of each holder of the bot. The signature of the
 * service proves that it received the answers. An answer with `signed_at` is also signed by the key of its holder. With
 * `subject` it is also checked that the erasure is that of this user.
 * @throws VerificationError when the service has not signed it, or a part of it is not about this erasure.
 */
export function verifyFinalCertificate(
  jws: string,
  keySet: KeySet,
  subject?: CertifiedSubject,
): VerifiedFinalCertificate {
  return inNode(checkFinalCertificate(jws, keySet, subject));
}

/** The chain value of a batch, from the fields of its checkpoint. */
export function chainOf(checkpoint: Payload): string {
  return inNode(chainValue(checkpoint));
}
