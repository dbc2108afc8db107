import { Module } from '@nestjs/common';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { ErasureModule } from '../erasure/erasure.module';
import { AnswerSeals } from './answer-seals';
import { BotHolder } from './bot-holder.entity';
import { BotHoldersService } from './bot-holders.service';
import { FinalCertificateController } from './final-certificate.controller';
import { FinalCertificates } from './final-certificate.service';
import { HolderTask } from './holder-task.entity';
import { HolderTasksController } from './holder-tasks.controller';
import { HolderTasksService } from './holder-tasks.service';
import { HoldersController } from './holders.controller';
import { BotHolders1763600000029 } from './migrations/1763600000029-bot-holders';

@Module({
  imports: [
    CryptoModule,
    DatabaseModule.forFeature([BotHolder, HolderTask], [BotHolders1763600000029]),
    ErasureModule,
  ],
  controllers: [HoldersController, HolderTasksController, FinalCertificateController],
  providers: [AnswerSeals, BotHoldersService, HolderTasksService, FinalCertificates],
})
export class HoldersModule {}
