import type { NamedSubject } from '@app/crypto';
import type { Tx } from '@app/database';
import type { Forgotten } from '../erasure/erasure.events';
import { dueAt, type MadeTask } from './holder-tasks.sql';

/** A task of a holder of the kind `webhook`, with the ids of its user. */
export interface HolderCall {
  readonly subject: NamedSubject;
  readonly holderKey: string;
  readonly act: 'erase' | 'export';
  /** For the act `erase` the id of the erasure. */
  readonly taskId: string;
  readonly createdAt: string;
  readonly dueAt: string;
}

/** Tasks of which holders are called were made; published inside the transaction that makes them. */
export class HolderTasksMade {
  constructor(
    readonly tx: Tx,
    readonly calls: readonly HolderCall[],
  ) {}
}

/** The calls about tasks to erase that were made just now, and none about a user whose ids a restore has lost. */
export function callsOf(made: readonly MadeTask[], forgotten: readonly Forgotten[]): HolderCall[] {
  const byRequest = new Map(forgotten.map((each) => [each.requestId, each]));
  return made.flatMap((task) => {
    const erased = byRequest.get(task.taskId);
    return erased === undefined ? [] : callsAbout(erased.subject, 'erase', [task], erased.completedAt);
  });
}

/** The calls about tasks of one user that were made just now; none for a `pull` holder. */
export function callsAbout(
  subject: NamedSubject,
  act: HolderCall['act'],
  made: readonly MadeTask[],
  createdAt: string,
): HolderCall[] {
  return made
    .filter(({ kind }) => kind === 'webhook')
    .map(({ holderKey, taskId }) => ({
      subject,
      holderKey,
      act,
      taskId,
      createdAt,
      dueAt: dueAt({ createdAt }),
    }));
}
