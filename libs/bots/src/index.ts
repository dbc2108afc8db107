export { ApiKeyDirectory, ApiKeyTimes } from './api-key-directory';
export { ApiKeyGuard } from './api-key.guard';
export { BotAdministration } from './bot-administration';
export { type BotCounts, countBots } from './bot-counts';
export { BotDeletion } from './bot-deletion.service';
export {
  type BotFacts,
  botPages,
  findBot,
  findBots,
  lockBot,
  nextBot,
  suspendedBots,
  suspensionOf,
  tryLockBots,
  scopesInForce,
} from './bot-queries';
export { BotResumed } from './bot-resumed.event';
export { ApiKey, Bot } from './bot.entity';
export { WebhookHealthView } from './bots.dto';
export { BotsModule } from './bots.module';
export { identify } from './identify.middleware';
export { KeyUses } from './key-uses';
export { WebhookHealth } from './webhook-health';
export { WebhookSecrets, type WebhookTarget } from './webhook-secrets.service';
export { WebhookUrlChanged } from './webhook-url-changed.event';
