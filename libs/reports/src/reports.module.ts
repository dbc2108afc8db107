import { Module } from '@nestjs/common';
import { CategoriesModule } from '@app/categories';
import { CryptoModule } from '@app/crypto';
import { ErasureModule } from '@app/gdpr';
import { UserDataModule } from '@app/user-data';
import { BreachScopes } from './breach-scope.service';
import { ProcessingRecords } from './processing-record.service';
import { ReportsController } from './reports.controller';
import { RetentionPreview } from './retention-preview';

@Module({
  imports: [CryptoModule, CategoriesModule, ErasureModule, UserDataModule],
  controllers: [ReportsController],
  providers: [BreachScopes, ProcessingRecords, RetentionPreview],
  exports: [RetentionPreview],
})
export class ReportsModule {}
