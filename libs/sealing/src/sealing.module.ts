import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { AuditBatch, AuditHead } from './audit-batch.entity';
import { AuditLogExport } from './audit-log-export';
import { AuditProofs } from './audit-proofs.service';
import { AuditPruning } from './audit-pruning';
import { AuditSealer } from './audit-sealer';
import { AuditSealing } from './audit-sealing';
import { AuditVerifier } from './audit-verifier';
import { EventOpener } from './event-opener';
import { EventSealing } from './event-sealing';
import { Sealing1763600000007 } from './migrations/1763600000007-sealing';
import { SealingController } from './sealing.controller';
import { SettledOrder } from './settled-order';

@Module({
  imports: [
    CryptoModule,
    DatabaseModule.forFeature([AuditBatch, AuditHead], [Sealing1763600000007]),
    AuditModule,
  ],
  controllers: [SealingController],
  providers: [
    EventOpener,
    EventSealing,
    SettledOrder,
    AuditSealer,
    AuditSealing,
    AuditProofs,
    AuditLogExport,
    AuditPruning,
    AuditVerifier,
  ],
  exports: [AuditProofs, AuditPruning, AuditVerifier],
})
export class SealingModule {}
