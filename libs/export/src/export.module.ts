import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { ErasureModule } from '@app/erasure';
import { ExportController } from './export.controller';
import { ExportService } from './export.service';

@Module({
  imports: [AuditModule, ErasureModule],
  controllers: [ExportController],
  providers: [ExportService],
})
export class ExportModule {}
