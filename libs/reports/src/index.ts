export { PRIVACY_NOTICE } from './privacy-notices.controller';
export { ReportsModule, StatsModule } from './reports.module';
export { RetentionPreview } from './retention-preview';
export { StatsRetention, StatsService } from './stats.service';
