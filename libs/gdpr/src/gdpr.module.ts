import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { ConsentModule } from '@app/consent';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { ServersModule } from '@app/servers';
import { CertificateController } from './certificate.controller';
import { CertificateService } from './certificate.service';
import { DeletionRequest } from './deletion-request.entity';
import { ErasureGauges } from './erasure.gauges';
import { ErasureRecovery } from './erasure.recovery';
import { ErasedSubject } from './erased-subject';
import { ErasureService } from './erasure.service';
import { ErasureSteps } from './erasure.steps';
import { ExportService } from './export.service';
import { GdprController } from './gdpr.controller';
import { GdprHolder } from './gdpr.holder';
import { GdprService } from './gdpr.service';
import { KeyDestruction } from './key-destruction';
import { LedgerChain } from './ledger-chain';

@Module({
  imports: [
    CryptoModule,
    DatabaseModule.forFeature([DeletionRequest]),
    AuditModule,
    ConsentModule,
    ServersModule,
  ],
  controllers: [GdprController, CertificateController],
  providers: [
    GdprService,
    CertificateService,
    LedgerChain,
    ErasureService,
    ErasureSteps,
    ErasureRecovery,
    ErasureGauges,
    ErasedSubject,
    KeyDestruction,
    ExportService,
    GdprHolder,
  ],
})
export class GdprModule {}
