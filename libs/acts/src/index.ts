export { type About, type Act, Acts, type Asked } from './acts';
export { Claim, Claimed, Claims, inProgress, NO_CLAIM } from './claim';
export { Answers, type Kept } from './answers';
export { IdempotencyRetention } from './idempotency-retention.job';
export { IdempotencyModule } from './idempotency.module';
