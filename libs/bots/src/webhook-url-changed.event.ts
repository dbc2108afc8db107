import type { Tx } from '@app/database';

/** A bot's webhook calls go elsewhere from now on, or nowhere (null); published inside the changing transaction. */
export class WebhookUrlChanged {
  constructor(
    readonly tx: Tx,
    readonly botId: string,
    readonly webhookUrl: string | null,
  ) {}
}
