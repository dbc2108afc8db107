import { Module } from '@nestjs/common';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { ErasureModule } from '../erasure/erasure.module';
import { AnswerSeals } from './answer-seals';
import { BotHolder } from './bot-holder.entity';
import { BotHoldersService } from './bot-holders.service';
import { ExportTasks } from './export-tasks';
import { FinalCertificateController } from './final-certificate.controller';
import { FinalCertificates } from './final-certificate.service';
import { HolderExport } from './holder-export.entity';
import { HolderAnswersRetention, HolderExportsHolder } from './holder-exports.holder';
import { HolderQuestions } from './holder-questions';
import { HolderTask } from './holder-task.entity';
import { HolderTasksController } from './holder-tasks.controller';
import { HolderTasksService } from './holder-tasks.service';
import { HoldersController } from './holders.controller';
import { BotHolders1763600000029 } from './migrations/1763600000029-bot-holders';
import { HolderExports1763600000033 } from './migrations/1763600000033-holder-exports';

const EXPORT = [ExportTasks, HolderQuestions, HolderExportsHolder, HolderAnswersRetention];

@Module({
  imports: [
    CryptoModule,
    DatabaseModule.forFeature(
      [BotHolder, HolderTask, HolderExport],
      [BotHolders1763600000029, HolderExports1763600000033],
    ),
    ErasureModule,
  ],
  controllers: [HoldersController, HolderTasksController, FinalCertificateController],
  providers: [AnswerSeals, BotHoldersService, HolderTasksService, FinalCertificates, ...EXPORT],
  exports: [HolderQuestions],
})
export class HoldersModule {}
