import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { CategoriesModule } from '@app/categories';
import { ConsentModule } from '@app/consent';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { ServersModule } from '@app/servers';
import { UserDataModule } from '@app/user-data';
import { BreachScopes } from './breach-scope.service';
import { CertificateController } from './certificate.controller';
import { CertificateService } from './certificate.service';
import { DeletionRequest } from './deletion-request.entity';
import { ErasureEvidence } from './erasure-evidence';
import { ErasureEverywhere } from './erasure-everywhere.service';
import { ErasureGauges } from './erasure.gauges';
import { ErasureLedger } from './erasure-ledger';
import { ErasureReplay } from './erasure-replay';
import { ErasureRecovery } from './erasure.recovery';
import { ErasedSubject } from './erased-subject';
import { ErasureService } from './erasure.service';
import { ErasureSteps } from './erasure.steps';
import { Evidence } from './evidence';
import { EvidenceRetention } from './evidence-retention.job';
import { ExportService } from './export.service';
import { GdprController } from './gdpr.controller';
import { GdprHolder } from './gdpr.holder';
import { GdprService } from './gdpr.service';
import { GuildDeletion } from './guild-deletion.job';
import { HeldSubjects } from './held-subjects';
import { KeyDestruction } from './key-destruction';
import { LedgerChain } from './ledger-chain';
import { Deletions1763600000007 } from './migrations/1763600000007-deletions';
import { ProcessingRecords } from './processing-record.service';
import { ReportsController } from './reports.controller';
import { RetentionPreview } from './retention-preview';
import { UnknownErasures } from './unknown-erasures';

@Module({
  imports: [
    CryptoModule,
    DatabaseModule.forFeature([DeletionRequest], [Deletions1763600000007]),
    AuditModule,
    CategoriesModule,
    ConsentModule,
    ServersModule,
    UserDataModule,
  ],
  controllers: [GdprController, CertificateController, ReportsController],
  providers: [
    GdprService,
    CertificateService,
    LedgerChain,
    ErasureService,
    ErasureEverywhere,
    ErasureSteps,
    ErasureRecovery,
    ErasureLedger,
    ErasureReplay,
    HeldSubjects,
    UnknownErasures,
    ErasureGauges,
    ErasedSubject,
    KeyDestruction,
    ExportService,
    GuildDeletion,
    ErasureEvidence,
    Evidence,
    EvidenceRetention,
    RetentionPreview,
    GdprHolder,
    ProcessingRecords,
    BreachScopes,
  ],
  exports: [RetentionPreview],
})
export class GdprModule {}
