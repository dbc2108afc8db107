import type { Tx } from '@app/database';
import type { NamedSubject } from '@app/subjects';

/** A subject that was erased (GDPR Art. 17). */
export interface Forgotten {
  readonly subject: NamedSubject;
  readonly requestId: string;
  readonly completedAt: string;
}

/** Subjects were erased; published inside the transaction that completes their erasures. */
export class UsersForgotten {
  constructor(
    readonly tx: Tx,
    readonly forgotten: readonly Forgotten[],
  ) {}
}
