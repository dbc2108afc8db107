import type { KeySet } from '../key-set';
import { LogWalk, type VerifiedLog } from './audit-log.check';
import { type AuditProof, checkAuditProof } from './audit-proof.check';
import { inNode } from './in-node';
import type { Payload } from './statement.check';

export type { VerifiedLog } from './audit-log.check';
export type { AuditProof } from './audit-proof.check';

/**
 * Verifies that an event is in the log as it was sealed. Returns the checkpoint of its batch.
 * @throws VerificationError when the proof is wrong.
 */
export function verifyAuditProof(proof: AuditProof, keySet: KeySet): Payload {
  return inNode(checkAuditProof(proof, keySet));
}

/**
 * Verifies that an export of a log (`GET /audit/export`, line by line) is complete and unchanged from where it begins (`after`):
 * that of the whole log only with `isWhole`. `kept` holds earlier checkpoints: the log must contain each of them that falls into
 * the export.
 * @throws VerificationError with the line.
 */
export async function verifyAuditExport(
  lines: AsyncIterable<string> | Iterable<string>,
  keySet: KeySet,
  kept: readonly string[] = [],
): Promise<VerifiedLog> {
  const log = new LogWalk(keySet);
  inNode(log.keep(kept));
  let number = 0;
  for await (const text of lines) inNode(log.line(text, (number += 1)));
  return log.end();
}
