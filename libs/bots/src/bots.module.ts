import { Module } from '@nestjs/common';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { ApiKeyDirectory, ApiKeyTimes } from './api-key-directory';
import { ApiKeysController } from './api-keys.controller';
import { ApiKeys } from './api-keys.service';
import { BotAdministration } from './bot-administration';
import { BotDeletion } from './bot-deletion.service';
import { ApiKey, Bot } from './bot.entity';
import { BotsController } from './bots.controller';
import { BotsService } from './bots.service';
import { KeyUses } from './key-uses';
import { Bots1763600000001 } from './migrations/1763600000001-bots';
import { KeysAndStanding1763600000020 } from './migrations/1763600000020-keys-and-standing';
import { KeyNames1763600000028 } from './migrations/1763600000028-key-names';
import { Tiers } from './tiers';
import { WebhookSecrets, WebhookSecretsHolder } from './webhook-secrets.service';

@Module({
  imports: [
    CryptoModule,
    DatabaseModule.forFeature(
      [Bot, ApiKey],
      [Bots1763600000001, KeysAndStanding1763600000020, KeyNames1763600000028],
    ),
  ],
  controllers: [BotsController, ApiKeysController],
  providers: [
    BotsService,
    BotDeletion,
    BotAdministration,
    WebhookSecrets,
    WebhookSecretsHolder,
    ApiKeyDirectory,
    ApiKeyTimes,
    ApiKeys,
    KeyUses,
    Tiers,
  ],
  exports: [ApiKeyDirectory, KeyUses, WebhookSecrets],
})
export class BotsModule {}
