import { Module } from '@nestjs/common';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { AuditController } from './audit.controller';
import { AuditCount, AuditEvent } from './audit-event.entity';
import { AuditHolder } from './audit.holder';
import { AuditPeriods } from './audit-period';
import { AuditService } from './audit.service';
import { EventDetails } from './event-details';

@Module({
  imports: [CryptoModule, DatabaseModule.forFeature([AuditEvent, AuditCount])],
  controllers: [AuditController],
  providers: [AuditService, AuditHolder, AuditPeriods, EventDetails],
  exports: [AuditService, AuditPeriods],
})
export class AuditModule {}
