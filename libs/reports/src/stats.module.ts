import { Module } from '@nestjs/common';
import { DatabaseModule } from '@app/database';
import { SealingModule } from '@app/sealing';
import { Stats1763600000021 } from './migrations/1763600000021-stats';
import { StatCount } from './stat-count.entity';
import { StatsController } from './stats.controller';
import { StatsListener } from './stats.listener';
import { StatsRetention } from './stats-retention.job';
import { StatsService } from './stats.service';

/** Keeps numbers over time. No library imports it: it listens to what others do. */
@Module({
  imports: [SealingModule, DatabaseModule.forFeature([StatCount], [Stats1763600000021])],
  controllers: [StatsController],
  providers: [StatsListener, StatsService, StatsRetention],
})
export class StatsModule {}
