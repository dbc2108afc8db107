import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { HoldersModule } from '../holders/holders.module';
import { ExportReader } from './export-reader';
import { ExportAct } from './export.act';
import { ExportController } from './export.controller';
import { ExportService } from './export.service';

@Module({
  imports: [AuditModule, HoldersModule],
  controllers: [ExportController],
  providers: [ExportAct, ExportReader, ExportService],
  exports: [ExportService],
})
export class ExportModule {}
