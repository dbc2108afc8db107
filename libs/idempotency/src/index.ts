export { Claim, NO_CLAIM } from './claim';
export { Claimed } from './claimed';
export { EncryptedForms } from './encrypted-forms';
export { about, type Form, plain } from './form';
export { IdempotencyRetention } from './idempotency-retention.job';
export { IdempotencyModule } from './idempotency.module';
export { claimedBefore, keepAll } from './shared-claims';
