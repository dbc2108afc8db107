import { Module } from '@nestjs/common';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { AuditBatch, AuditHead } from './audit-batch.entity';
import { CountedGuilds } from './audit-counts';
import { AuditController } from './audit.controller';
import { AuditCount, AuditEvent } from './audit-event.entity';
import { AuditHolder } from './audit.holder';
import { AuditLogExport } from './audit-log-export';
import { AuditProofs } from './audit-proofs.service';
import { AuditPruning } from './audit-pruning';
import { AuditSealer } from './audit-sealer';
import { AuditSealing } from './audit-sealing';
import { AuditPeriods } from './audit-period';
import { AuditService } from './audit.service';
import { AuditVerifier } from './audit-verifier';
import { EventDetails } from './event-details';
import { EventOpener } from './event-opener';
import { EventSealing } from './event-sealing';
import { SealingController } from './sealing.controller';
import { SettledOrder } from './settled-order';
import { UnsealedBots } from './unsealed-bots';

@Module({
  imports: [CryptoModule, DatabaseModule.forFeature([AuditEvent, AuditCount, AuditBatch, AuditHead])],
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
