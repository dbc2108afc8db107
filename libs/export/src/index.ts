export { ExportModule } from './export.module';
export { type ExportForm, ExportService, type GuildRecord } from './export.service';
