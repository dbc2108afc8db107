export { ExportModule } from './export.module';
export { type ExportedGuild, type ExportForm, ExportService } from './export.service';
