import { Module } from '@nestjs/common';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { AuditController } from './audit.controller';
import { AuditCount, AuditEvent } from './audit-event.entity';
import { AuditService } from './audit.service';
import { Audit1763600000006 } from './migrations/1763600000006-audit';
import { UnsealedBots } from './unsealed-bots';
import { WriteEventAct } from './write-event.act';

@Module({
  imports: [CryptoModule, DatabaseModule.forFeature([AuditEvent, AuditCount], [Audit1763600000006])],
  controllers: [AuditController],
  providers: [AuditService, UnsealedBots, WriteEventAct],
  exports: [AuditService, UnsealedBots],
})
export class AuditModule {}
