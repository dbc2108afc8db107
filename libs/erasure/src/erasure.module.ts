import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { ConsentModule } from '@app/consent';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { SealingModule } from '@app/sealing';
import { ServersModule } from '@app/servers';
import { CertificateController } from './certificate.controller';
import { CertificateService } from './certificate.service';
import { DeletionRequest } from './deletion-request.entity';
import { DeletionRequestsHolder } from './deletion-requests.holder';
import { ErasedSubject } from './erased-subject';
import { ErasureEverywhere } from './erasure-everywhere.service';
import { ErasureLedger } from './erasure-ledger';
import { ErasurePruning } from './erasure-pruning';
import { ErasureRemains } from './erasure-remains';
import { ErasureReplay } from './erasure-replay';
import { ErasureRequests } from './erasure-requests.service';
import { ErasureAct } from './erasure.act';
import { ErasureController } from './erasure.controller';
import { ErasureGauges } from './erasure.gauges';
import { ErasurePlan } from './erasure.plan';
import { ErasureRecovery } from './erasure.recovery';
import { ErasureService } from './erasure.service';
import { ErasureSteps } from './erasure.steps';
import { ErasureWatch } from './erasure.watch';
import { EvidenceRetention } from './evidence-retention';
import { EvidenceRetentionJob } from './evidence-retention.job';
import { GuildDeletion } from './guild-deletion.job';
import { KeyRewriteJob } from './key-rewrite.job';
import { Deletions1763600000008 } from './migrations/1763600000008-deletions';
import { NewErasures } from './new-erasures';
import { OrphanKeys } from './orphan-keys.job';
import { SubjectErasures } from './subject-erasures';
import { UnknownErasures } from './unknown-erasures';

const REQUESTS = [ErasureRequests, ErasureEverywhere, DeletionRequestsHolder, GuildDeletion];
const PROGRESS = [
  ErasureService,
  ErasurePlan,
  ErasureAct,
  NewErasures,
  ErasureSteps,
  ErasureRecovery,
  OrphanKeys,
  KeyRewriteJob,
  ErasureGauges,
  ErasureWatch,
  ErasedSubject,
  SubjectErasures,
];
const LEDGER = [ErasureLedger, ErasureReplay, UnknownErasures];
const RETENTION = [EvidenceRetention, ErasurePruning, ErasureRemains, EvidenceRetentionJob];

@Module({
  imports: [
    CryptoModule,
    DatabaseModule.forFeature([DeletionRequest], [Deletions1763600000008]),
    AuditModule,
    SealingModule,
    ConsentModule,
    ServersModule,
  ],
  controllers: [ErasureController, CertificateController],
  providers: [...REQUESTS, ...PROGRESS, ...LEDGER, ...RETENTION, CertificateService],
  exports: [SubjectErasures, EvidenceRetention, ErasureService, ErasureEverywhere, CertificateService],
})
export class ErasureModule {}
