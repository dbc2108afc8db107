import type { Tx } from '@app/database';
import type { DeletionRequest } from './deletion-request.entity';

/** Erasures were completed; published inside the transaction that completes them. */
export class ErasuresCompleted {
  constructor(
    readonly tx: Tx,
    readonly erasures: readonly (Pick<DeletionRequest, 'botId' | 'createdAt'> & {
      readonly completedAt: string;
    })[],
  ) {}
}
