import type { Tx } from '@app/database';
import type { WebhookHealthView } from './bots.dto';

/** Says how a bot's receiver fares; provided by the module that sends the calls, which this one does not know. */
export abstract class WebhookHealth {
  abstract of(tx: Tx, botId: string): Promise<WebhookHealthView>;
}
