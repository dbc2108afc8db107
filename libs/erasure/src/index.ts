export { DeletionRequest } from './deletion-request.entity';
export {
  areBeingErased,
  confirmForgotten,
  erasureIdsOf,
  isErased,
  oldestErasure,
} from './deletion-requests.sql';
export { ErasureEverywhere } from './erasure-everywhere.service';
export { ErasureLedger } from './erasure-ledger';
export { ErasureReplay } from './erasure-replay';
export { ErasureRequests } from './erasure-requests.service';
export { ErasuresCompleted, type Forgotten, UsersForgotten } from './erasure.events';
export { ErasureModule } from './erasure.module';
export { ErasureRecovery, ErasureWatch } from './erasure.recovery';
export { ErasureService } from './erasure.service';
export { EvidenceRetention, EvidenceRetentionJob, type ExpiredRecords } from './evidence-retention';
export { GuildDeletion } from './guild-erasure.service';
export { KeyRewriteJob } from './key-rewrite.job';
export { OrphanKeys } from './orphan-keys.job';
