import { CategoriesModule } from '@app/categories';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { ErasureModule } from '@app/gdpr';
import { PrivacyPageModule } from '@app/pages';
import { SealingModule } from '@app/sealing';
import { UserDataModule } from '@app/user-data';
import { Module } from '@nestjs/common';
import { BreachScopes } from './breach-scope.service';
import { ConsentCount } from './consent-count.entity';
import { ConsentCounting } from './consent-counting.job';
import { Stats1763600000021 } from './migrations/1763600000021-stats';
import { StatsConsents1763600000031 } from './migrations/1763600000031-stats-consents';
import { Papers } from './papers';
import { ProcessingRecords } from './processing-record.service';
import { PrivacyNoticesController } from './privacy-notices.controller';
import { PrivacyNotices } from './privacy-notices.service';
import { ReportsController, StatsController } from './reports.controller';
import { RetentionPreview } from './retention-preview';
import { ReviewDossiers } from './review-dossier.service';
import { StatCount } from './stat-count.entity';
import { StatsListener } from './stats.listener';
import { StatsRetention, StatsService } from './stats.service';

/** Keeps numbers over time. No other library imports it: it listens to what others do. */
@Module({
  imports: [
    SealingModule,
    DatabaseModule.forFeature([StatCount, ConsentCount], [Stats1763600000021, StatsConsents1763600000031]),
  ],
  controllers: [StatsController],
  providers: [ConsentCounting, StatsListener, StatsService, StatsRetention],
  exports: [StatsService],
})
export class StatsModule {}

@Module({
  imports: [CryptoModule, CategoriesModule, ErasureModule, UserDataModule, PrivacyPageModule, StatsModule],
  controllers: [ReportsController, PrivacyNoticesController],
  providers: [BreachScopes, Papers, PrivacyNotices, ProcessingRecords, RetentionPreview, ReviewDossiers],
  exports: [RetentionPreview],
})
export class ReportsModule {}
