import type { Tx } from '@app/database';

/** The operator has ended the suspension of a bot. */
export class BotResumed {
  constructor(
    readonly tx: Tx,
    readonly botId: string,
  ) {}
}
