import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { AuditBatch, AuditHead } from './audit-batch.entity';
import { AuditLogExport } from './audit-log-export';
import { AuditProofs } from './audit-proofs.service';
import { AuditPruning } from './audit-pruning';
import { AuditVerifier } from './audit-verifier';
import { BatchSealer } from './batch-sealer';
import { EventOpener } from './event-opener';
import { Sealing1763600000007 } from './migrations/1763600000007-sealing';
import { RecordedErasures } from './recorded-erasures';
import { SealLoop } from './seal-loop';
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
    SettledOrder,
    BatchSealer,
    SealLoop,
    AuditProofs,
    AuditLogExport,
    AuditPruning,
    RecordedErasures,
    AuditVerifier,
  ],
  exports: [AuditProofs, AuditPruning, AuditVerifier, BatchSealer, RecordedErasures],
})
export class SealingModule {}
