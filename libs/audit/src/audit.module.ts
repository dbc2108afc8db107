import { Module } from '@nestjs/common';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { CountedGuilds } from './audit-counts';
import { AuditController } from './audit.controller';
import { AuditCount, AuditEvent } from './audit-event.entity';
import { AuditHolder } from './audit.holder';
import { AuditService } from './audit.service';
import { EventDetails } from './event-details';
import { EventOpener } from './event-opener';
import { EventSealing } from './event-sealing';
import { Audit1763600000006 } from './migrations/1763600000006-audit';
import { SealingController } from './sealing.controller';
import { SettledOrder } from './settled-order';
import { UnsealedBots } from './unsealed-bots';

@Module({
  imports: [
    CryptoModule,
    DatabaseModule.forFeature([AuditEvent, AuditCount, AuditBatch, AuditHead], [Audit1763600000006]),
  ],
  controllers: [AuditController, SealingController],
  providers: [
    AuditService,
    AuditHolder,
    AuditPeriods,
    EventDetails,
    EventOpener,
    EventSealing,
    SettledOrder,
    UnsealedBots,
    AuditSealer,
    AuditSealing,
    AuditProofs,
    AuditLogExport,
    CountedGuilds,
    AuditPruning,
    AuditVerifier,
  ],
  exports: [AuditService, AuditPeriods, AuditProofs, AuditPruning, AuditVerifier],
})
export class AuditModule {}
