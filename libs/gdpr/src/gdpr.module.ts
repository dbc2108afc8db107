import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { ConsentModule } from '@app/consent';
import { DatabaseModule } from '@app/database';
import { ServersModule } from '@app/servers';
import { DeletionRequest } from './deletion-request.entity';
import { ErasureGauges } from './erasure.gauges';
import { ErasureRecovery } from './erasure.recovery';
import { ErasureService } from './erasure.service';
import { ExportService } from './export.service';
import { GdprController } from './gdpr.controller';
import { GdprHolder } from './gdpr.holder';
import { GdprService } from './gdpr.service';

@Module({
  imports: [DatabaseModule.forFeature([DeletionRequest]), AuditModule, ConsentModule, ServersModule],
  controllers: [GdprController],
  providers: [GdprService, ErasureService, ErasureRecovery, ErasureGauges, ExportService, GdprHolder],
})
export class GdprModule {}
