import { DatabaseModule } from '@app/database';
import { Global, Module } from '@nestjs/common';
import { Acts } from './acts';
import { Answers } from './answers';
import { Claims } from './claim';
import { IdempotencyKey } from './idempotency-key.entity';
import { IdempotencyRetention } from './idempotency-retention.job';
import { IdempotencyKeys1763600000013 } from './migrations/1763600000013-idempotency-keys';

/** Provides the claims of requests with an `Idempotency-Key` to every module. */
@Global()
@Module({
  imports: [DatabaseModule.forFeature([IdempotencyKey], [IdempotencyKeys1763600000013])],
  providers: [Acts, Answers, Claims, IdempotencyRetention],
  exports: [Acts, Answers, Claims],
})
export class IdempotencyModule {}
