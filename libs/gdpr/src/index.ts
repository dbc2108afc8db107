export * from './deletion-request.entity';
export * from './erasure-ledger';
export * from './erasure-replay';
export * from './erasure.service';
export * from './gdpr.module';
export * from './guild-deletion.job';
export * from './plain-sealing.job';
export * from './user-forgotten.event';
