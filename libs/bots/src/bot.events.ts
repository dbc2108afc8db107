import type { Tx } from '@app/database';

/** The operator has ended the suspension of a bot. */
export class BotResumed {
  constructor(
    readonly tx: Tx,
    readonly botId: string,
  ) {}
}

/** The webhook URL of a bot has changed, or was removed (null). Published inside the changing unit. */
export class WebhookUrlChanged {
  constructor(
    readonly tx: Tx,
    readonly botId: string,
    readonly webhookUrl: string | null,
  ) {}
}
