export { ExportModule } from './export.module';
export { ExportService } from './export.service';
