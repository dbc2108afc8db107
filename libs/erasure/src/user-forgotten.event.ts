import type { Tx } from '@app/database';
import type { NamedSubject } from '@app/subjects';

/** A subject was erased (GDPR Art. 17); published inside the erasing transaction. */
export class UserForgotten {
  constructor(
    readonly tx: Tx,
    readonly subject: NamedSubject,
    readonly requestId: string,
    readonly completedAt: string,
  ) {}
}
