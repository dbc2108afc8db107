export { ReportsModule } from './reports.module';
export { RetentionPreview } from './retention-preview';
