import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { Module } from '@nestjs/common';
import { ApiKeyDirectory, ApiKeyTimes } from './api-key-directory';
import { BotAdministration } from './bot-administration';
import { BotDeletion } from './bot-deletion.service';
import { ApiKey, Bot } from './bot.entity';
import { BotsController } from './bots.controller';
import { BotsService } from './bots.service';
import { Bots1763600000001 } from './migrations/1763600000001-bots';
import { RegistrationService } from './registration.service';
import { WebhookSecretsHolder } from './webhook-secrets.holder';
import { WebhookSecrets } from './webhook-secrets.service';

@Module({
  imports: [CryptoModule, DatabaseModule.forFeature([Bot, ApiKey], [Bots1763600000001])],
  controllers: [BotsController],
  providers: [
    RegistrationService,
    BotsService,
    BotDeletion,
    BotAdministration,
    WebhookSecrets,
    WebhookSecretsHolder,
    ApiKeyDirectory,
    ApiKeyTimes,
  ],
  exports: [ApiKeyDirectory, WebhookSecrets],
})
export class BotsModule {}
