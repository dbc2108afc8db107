import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { Module } from '@nestjs/common';
import { ApiKeyDirectory, ApiKeyTimes } from './api-key-directory';
import { ApiKeyIssuer } from './api-key-issuer';
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
import { RegistrationService } from './registration.service';
import { Tiers } from './tiers';
import { WebhookSecretsHolder } from './webhook-secrets.holder';
import { WebhookSecrets } from './webhook-secrets.service';

@Module({
  imports: [
    CryptoModule,
    DatabaseModule.forFeature([Bot, ApiKey], [Bots1763600000001, KeysAndStanding1763600000020]),
  ],
  controllers: [BotsController, ApiKeysController],
  providers: [
    RegistrationService,
    BotsService,
    BotDeletion,
    BotAdministration,
    WebhookSecrets,
    WebhookSecretsHolder,
    ApiKeyDirectory,
    ApiKeyTimes,
    ApiKeyIssuer,
    ApiKeys,
    KeyUses,
    Tiers,
  ],
  exports: [ApiKeyDirectory, BotAdministration, KeyUses, WebhookSecrets],
})
export class BotsModule {}
