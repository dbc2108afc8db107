import type { KeySet } from '../key-set';
import { chainValue } from './audit-hashes';
import { type CertifiedSubject, checkCertificate } from './certificate.check';
import { inNode } from './in-node';
import { checkStatement, type Payload } from './statement.check';

export type { CertifiedSubject } from './certificate.check';
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

/** The chain value of a batch, from the fields of its checkpoint. */
export function chainOf(checkpoint: Payload): string {
  return inNode(chainValue(checkpoint));
}
