import type { KeySet } from '../key-set';
import { type AuditEventEvidence, chainValue, leafOf, rootBy } from './audit-hashes';
import { base64url } from './base64url';
import type { Check } from './check';
import { checkStatement, type Payload } from './statement.check';
import { VerificationError } from './verification-error';

const CHECKPOINT = 'lethe-audit-checkpoint+jwt';

/** `data` of the answer of `GET /audit/proof/{event_id}`. */
export interface AuditProof {
  readonly bot_id: string;
  readonly event: AuditEventEvidence;
  readonly leaf_index: number;
  readonly path: readonly string[];
  readonly checkpoint: string;
}

/**
 * The checkpoint of the batch in which an event is as it was sealed.
 * @internal
 * @throws VerificationError when the proof is wrong.
 */
export function* checkAuditProof(proof: AuditProof, keySet: KeySet): Check<Payload> {
  const checkpoint = yield* checkCheckpoint(proof.checkpoint, keySet);
  if (checkpoint['bot_id'] !== proof.bot_id) throw new VerificationError('the checkpoint is of another bot');
  const { event, leaf_index: index, path } = proof;
  const leaf = yield* leafOf(proof.bot_id, event);
  const root = yield* rootBy(leaf, index, Number(checkpoint['events']), path);
  if (root === undefined || base64url(root) !== checkpoint['root'])
    throw new VerificationError('the event is not in the batch of the checkpoint');
  return checkpoint;
}

/**
 * The fields of a checkpoint, whose chain value is theirs.
 * @internal
 * @throws VerificationError for another one.
 */
export function* checkCheckpoint(jws: unknown, keySet: KeySet): Check<Payload> {
  const checkpoint = yield* checkStatement(jws, keySet, CHECKPOINT);
  if ((yield* chainValue(checkpoint)) !== checkpoint['chain'])
    throw new VerificationError('the chain value of the checkpoint is not that of its fields');
  return checkpoint;
}
