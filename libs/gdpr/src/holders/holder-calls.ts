import type { Tx } from '@app/database';
import type { Forgotten } from '../erasure/erasure.events';
import { dueAt, type MadeTask } from './holder-tasks.sql';

/** A task of a holder of the kind `webhook`, with the ids of its user. */
export interface HolderCall {
  readonly subject: Forgotten['subject'];
  readonly holderKey: string;
  readonly requestId: string;
  readonly createdAt: string;
  readonly dueAt: string;
}

/** Tasks of which holders are called were made; published inside the transaction that completes their erasures. */
export class HolderTasksMade {
  constructor(
    readonly tx: Tx,
    readonly calls: readonly HolderCall[],
  ) {}
}

/** The calls about tasks that were made just now; none for a `pull` holder, and none about a user whose ids a restore has lost. */
export function callsOf(made: readonly MadeTask[], forgotten: readonly Forgotten[]): HolderCall[] {
  const byRequest = new Map(forgotten.map((each) => [each.requestId, each]));
  return made.flatMap(({ kind, holderKey, requestId }) => {
    const erased = kind === 'webhook' ? byRequest.get(requestId) : undefined;
    if (erased === undefined) return [];
    const { subject, completedAt: createdAt } = erased;
    return [{ subject, holderKey, requestId, createdAt, dueAt: dueAt({ createdAt }) }];
  });
}
