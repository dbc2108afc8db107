import type { Tx } from '@app/database';
import type { NamedSubject } from '@app/crypto';
import type { DeletionRequest } from './deletion-request.entity';

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

/** Erasures were completed; published inside the transaction that completes them. */
export class ErasuresCompleted {
  constructor(
    readonly tx: Tx,
    readonly erasures: readonly (Pick<DeletionRequest, 'botId' | 'createdAt'> & {
      readonly completedAt: string;
    })[],
  ) {}
}
