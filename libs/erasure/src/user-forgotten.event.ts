import type { Tx } from '@app/database';

/** A subject was erased (GDPR Art. 17); published inside the erasing transaction. */
export class UserForgotten {
  constructor(
    readonly tx: Tx,
    readonly botId: string,
    readonly requestId: string,
    readonly userId: string,
    readonly guildId: string,
    readonly completedAt: string,
  ) {}
}
