import type { Tx } from '@app/database';
import type { WebhookHealthView } from './bots.dto';

/** The state of a bot's webhook calls; provided by the library that sends them. */
export abstract class WebhookHealth {
  abstract of(tx: Tx, botId: string): Promise<WebhookHealthView>;
}
