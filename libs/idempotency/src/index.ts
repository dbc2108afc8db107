export { type About, type Act, Acts, type Asked } from './acts';
export { answerErased, Claim, NO_CLAIM } from './claim';
export { Claims, inProgress } from './claims';
export { Claimed } from './claimed';
export { EncryptedForms } from './encrypted-forms';
export { type ClaimName, type Form, type Found, plain } from './form';
export { IdempotencyRetention } from './idempotency-retention.job';
export { IdempotencyModule } from './idempotency.module';
