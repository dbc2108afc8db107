export { GdprModule } from './gdpr.module';
export { DeletionRequest } from './erasure/deletion-request.entity';
export {
  areBeingErased,
  confirmForgotten,
  type ErasureBacklog,
  erasureBacklog,
  erasureIdsOf,
  isErased,
} from './erasure/deletion-requests.sql';
export { ErasureEverywhere } from './erasure/erasure-everywhere.service';
export { ErasureLedger } from './erasure/erasure-ledger';
export { ErasureReplay } from './erasure/erasure-replay';
export { ErasureRequests } from './erasure/erasure-requests.service';
export { ErasuresCompleted, type Forgotten, UsersForgotten } from './erasure/erasure.events';
export { ErasureModule } from './erasure/erasure.module';
export { ErasureRecovery, ErasureWatch } from './erasure/erasure.recovery';
export { ErasureService } from './erasure/erasure.service';
export { EvidenceRetention, EvidenceRetentionJob, type ExpiredRecords } from './erasure/evidence-retention';
export { GuildDeletion } from './erasure/guild-erasure.service';
export { KeyRewriteJob } from './erasure/key-rewrite.job';
export { OrphanKeys } from './erasure/orphan-keys.job';
export { ExportModule } from './export/export.module';
export { type ExportForm, ExportService, type GuildRecord } from './export/export.service';
