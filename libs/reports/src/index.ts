export { PRIVACY_NOTICE } from './privacy-notices.controller';
export { ReportsModule, StatsModule } from './reports.module';
export { RetentionPreview } from './retention-preview';
export { ConsentCounting } from './consent-counting.job';
export { StatsRetention, StatsService } from './stats.service';
