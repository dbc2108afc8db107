export { ReportsModule } from './reports.module';
export { RetentionPreview } from './retention-preview';
export { StatsModule } from './stats.module';
export { StatsRetention } from './stats-retention.job';
export { StatsService } from './stats.service';
