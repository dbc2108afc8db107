import { Module } from '@nestjs/common';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { ApiKeyDirectory, ApiKeyTimes } from './api-key-directory';
import { ApiKeysController } from './api-keys.controller';
import { ApiKeys } from './api-keys.service';
import { BotAdministration } from './bot-administration';
import { BotDeletion } from './bot-deletion.service';
import { ApiKey, Bot } from './bot.entity';
import { BotNotice } from './bot-notice.entity';
import { BotsController } from './bots.controller';
import { RegistrationGuard } from './bots.guards';
import { BotsService } from './bots.service';
import { KeyUses } from './key-uses';
import { Bots1763600000001 } from './migrations/1763600000001-bots';
import { KeysAndStanding1763600000020 } from './migrations/1763600000020-keys-and-standing';
import { BotNotices1763600000026 } from './migrations/1763600000026-bot-notices';
import { KeyNames1763600000028 } from './migrations/1763600000028-key-names';
import { NoticeSettingsController } from './notice-settings.controller';
import { NoticeSettingsService } from './notice-settings.service';
import { Tiers } from './tiers';
import { WebhookSecrets, WebhookSecretsHolder } from './webhook-secrets.service';

@Module({
  imports: [
    CryptoModule,
    DatabaseModule.forFeature(
      [Bot, ApiKey, BotNotice],
      [Bots1763600000001, KeysAndStanding1763600000020, BotNotices1763600000026, KeyNames1763600000028],
    ),
  ],
  controllers: [BotsController, ApiKeysController, NoticeSettingsController],
  providers: [
    RegistrationGuard,
    BotsService,
    BotDeletion,
    BotAdministration,
    NoticeSettingsService,
    WebhookSecrets,
    WebhookSecretsHolder,
    ApiKeyDirectory,
    ApiKeyTimes,
    ApiKeys,
    KeyUses,
    Tiers,
  ],
  exports: [ApiKeyDirectory, BotAdministration, KeyUses, WebhookSecrets],
})
export class BotsModule {}
