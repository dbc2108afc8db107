import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { CategoriesModule } from '@app/categories';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { CorrectAct } from './correct.act';
import { ConsentedTables } from './consented-tables';
import { CategoryRetention, DueData, WithdrawnDataErasure } from './due-data';
import { ProcessingRefusals1763600000035 } from './migrations/1763600000035-processing-refusals';
import { UserData1763600000005 } from './migrations/1763600000005-user-data';
import { ProcessingRefusal } from './processing-refusal.entity';
import { ProcessingRefusalsController } from './processing-refusals.controller';
import { ProcessingRefusalHolder } from './processing-refusals.holder';
import { ProcessingRefusals } from './processing-refusals.service';
import { UserDataController, UserValuesController } from './user-data.controller';
import { UserData } from './user-data.entity';
import { UserDataHolder } from './user-data.holder';
import { UserValues } from './user-values.service';
import { SubmitAct } from './submit.act';
import { SubmitBatches } from './submit-batch.service';

@Module({
  imports: [
    CryptoModule,
    DatabaseModule.forFeature(
      [UserData, ProcessingRefusal],
      [UserData1763600000005, ProcessingRefusals1763600000035],
    ),
    AuditModule,
    CategoriesModule,
  ],
  controllers: [UserDataController, UserValuesController, ProcessingRefusalsController],
  providers: [
    SubmitAct,
    CorrectAct,
    SubmitBatches,
    UserValues,
    UserDataHolder,
    ProcessingRefusals,
    ProcessingRefusalHolder,
    DueData,
    CategoryRetention,
    WithdrawnDataErasure,
    ConsentedTables,
  ],
  exports: [SubmitAct, CorrectAct, DueData, UserValues, ProcessingRefusals],
})
export class UserDataModule {}
