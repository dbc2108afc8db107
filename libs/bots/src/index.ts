export { ApiKeyDirectory, ApiKeyTimes, identify } from './api-key-directory';
export { ApiKeyGuard } from './bots.guards';
export { BotAdministration, BotResumed, type OperatedBot } from './bot-administration';
export {
  BOT_AT_URL,
  type BotFacts,
  botPages,
  countAllBots,
  countBots,
  findBot,
  findBots,
  isDeleted,
  lockBot,
  nextBot,
  scopesInForce,
  suspendedBots,
  suspensionOf,
  tryLockBots,
} from './bot-queries';
export { BotDeletion } from './bot-deletion.service';
export { WebhookHealth, WebhookUrlChanged } from './bots.service';
export { ApiKey, Bot } from './bot.entity';
export { BotPath, CALLS_COUNTED_MAX, WebhookHealthView } from './bots.dto';
export { BotsModule } from './bots.module';
export { KeyUses } from './key-uses';
export { unopenedSecrets, WebhookSecrets, type WebhookTarget } from './webhook-secrets.service';
export { ChangeNoticeSettings } from './notice-settings.dto';
export {
  type NoticeSettings,
  noticeSettingsOf,
  type Recipient,
  touchNotice,
} from './notice-settings.service';
export { countryIn, inLanguage, isThirdCountry } from './notice-texts';
