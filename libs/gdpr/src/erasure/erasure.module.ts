import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { ConsentModule } from '@app/consent';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { SealingModule } from '@app/sealing';
import { ServersModule } from '@app/servers';
import { DeletionRequest } from './deletion-request.entity';
import { DeletionRequestsHolder } from './deletion-requests.holder';
import { ErasureEverywhere } from './erasure-everywhere.service';
import { ErasureLedger } from './erasure-ledger';
import { ErasureRecords } from './erasure-records';
import { ErasureReplay } from './erasure-replay';
import { ErasureRequests } from './erasure-requests.service';
import { ErasureAct } from './erasure.act';
import { CertificateController, ErasureController } from './erasure.controller';
import { ErasurePlan } from './erasure.plan';
import { ErasureRecovery, ErasureWatch } from './erasure.recovery';
import { ErasureService } from './erasure.service';
import { ErasureSteps } from './erasure.steps';
import { ErasureRemains, EvidenceRetention, EvidenceRetentionJob } from './evidence-retention';
import { GuildDeletion, GuildErasure } from './guild-erasure.service';
import { KeyRewriteJob } from './key-rewrite.job';
import { MissingEntries } from './missing-entries';
import { Deletions1763600000008 } from './migrations/1763600000008-deletions';
import { OrphanKeys } from './orphan-keys.job';

const ERASURE = [ErasureService, ErasureAct, ErasurePlan, ErasureSteps, ErasureRecords];
const REQUESTS = [ErasureRequests, ErasureEverywhere, GuildErasure, DeletionRequestsHolder];
const LEDGER = [ErasureLedger, MissingEntries, ErasureReplay, EvidenceRetention, ErasureRemains];
const JOBS = [ErasureRecovery, ErasureWatch, EvidenceRetentionJob, GuildDeletion, KeyRewriteJob, OrphanKeys];

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
  providers: [...ERASURE, ...REQUESTS, ...LEDGER, ...JOBS],
  exports: [
    ErasureLedger,
    EvidenceRetention,
    ErasureRecords,
    ErasureService,
    ErasureEverywhere,
    ErasureRequests,
  ],
})
export class ErasureModule {}
