import type { KeySet } from '../key-set';
import { webCrypto } from '../web-crypto';
import { LogWalk, type VerifiedBatch, type VerifiedLog } from './audit-log.check';
import { checkAuditProof, type AuditProof } from './audit-proof.check';
import { bytes } from './base64url';
import { type CertifiedSubject, checkCertificate } from './certificate.check';
import type { Check, Question, Reply } from './check';
import { checkFinalCertificate, type VerifiedFinalCertificate } from './final-certificate.check';
import { checkStatement, type Payload } from './statement.check';
import { VerificationError } from './verification-error';

export type { KeySet } from '../key-set';
export { BOT_WIDE_GUILD_ID } from '../vocabulary';
export * from './acts';
export type { AuditEventEvidence } from './audit-hashes';
export type { VerifiedBatch, VerifiedLog } from './audit-log.check';
export type { AuditProof } from './audit-proof.check';
export type { CertifiedSubject } from './certificate.check';
export type { HolderAnswer, VerifiedFinalCertificate } from './final-certificate.check';
export type { Payload } from './statement.check';
export { VerificationError } from './verification-error';

/** Whether this place has Web Crypto with Ed25519. Browsers have none on a page that came over plain HTTP. */
export async function hasEd25519(): Promise<boolean> {
  try {
    const { subtle } = await webCrypto();
    await subtle.generateKey('Ed25519', false, ['sign', 'verify']);
    return true;
  } catch {
    return false;
  }
}

/** `verifyStatement` with Web Crypto: in browsers, on the edge, and in Node.js 20 or newer. */
export function verifyStatement(jws: string, keySet: KeySet, typ: string): Promise<Payload> {
  return inWeb(checkStatement(jws, keySet, typ));
}

/** `verifyCertificate` with Web Crypto. */
export function verifyCertificate(jws: string, keySet: KeySet, subject?: CertifiedSubject): Promise<Payload> {
  return inWeb(checkCertificate(jws, keySet, subject));
}

/** `verifyFinalCertificate` with Web Crypto. */
export function verifyFinalCertificate(
  jws: string,
  keySet: KeySet,
  subject?: CertifiedSubject,
): Promise<VerifiedFinalCertificate> {
  return inWeb(checkFinalCertificate(jws, keySet, subject));
}

/** `verifyAuditProof` with Web Crypto. */
export function verifyAuditProof(proof: AuditProof, keySet: KeySet): Promise<Payload> {
  return inWeb(checkAuditProof(proof, keySet));
}

/**
 * `verifyAuditExport` with Web Crypto: each batch once it is verified, and the log at the end. A caller who stops before it knows
 * that the batches so far hold, and not that the export is complete.
 * @throws VerificationError with the line
 */
export async function* verifiedBatches(
  lines: AsyncIterable<string> | Iterable<string>,
  keySet: KeySet,
  kept: readonly string[] = [],
): AsyncGenerator<VerifiedBatch, VerifiedLog, undefined> {
  const log = new LogWalk(keySet);
  await inWeb(log.keep(kept));
  let number = 0;
  for await (const text of lines) {
    const batch = await inWeb(log.line(text, (number += 1)));
    if (batch !== undefined) yield batch;
  }
  return log.end();
}

async function inWeb<T>(check: Check<T>): Promise<T> {
  const { subtle } = await webCrypto();
  let step = check.next();
  while (step.done !== true) step = check.next(await replyTo(step.value, subtle));
  return step.value;
}

async function replyTo(question: Question, subtle: typeof globalThis.crypto.subtle): Promise<Reply> {
  if (question.ask === 'sha256') return new Uint8Array(await subtle.digest('SHA-256', question.content));
  const raw = bytes(question.key.x);
  const key = await subtle.importKey('raw', raw, 'Ed25519', false, ['verify']).catch(() => {
    throw new VerificationError(`the key ${String(question.key.kid)} cannot be read`);
  });
  return subtle.verify('Ed25519', key, question.signature, question.content);
}
