import { Module } from '@nestjs/common';
import { DatabaseModule } from '@app/database';
import { AuditController } from './audit.controller';
import { AuditCount, AuditEvent } from './audit-event.entity';
import { AuditHolder } from './audit.holder';
import { AuditService } from './audit.service';

@Module({
  imports: [DatabaseModule.forFeature([AuditEvent, AuditCount])],
  controllers: [AuditController],
  providers: [AuditService, AuditHolder],
  exports: [AuditService],
})
export class AuditModule {}
