import { DynamicModule, Module, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { ApiKeyGuard } from '@app/bots';
import { ConsoleModule } from '@app/pages';
import { AdmissionGuard, ApiExceptionFilter, BodyGuard, DiskGuard, DtoPipe, RateLimitGuard } from '@app/http';
import type { Config } from '@app/kernel';
import { OperatorSocket } from '@app/operations';
import { LetheModule } from '@app/runtime';
import type { Logger } from 'pino';
import { ormOptions } from '../../../ormconfig';
import { HealthController } from './health.controller';
import { KeysController } from './keys.controller';

/** The whole service with its HTTP interface, and the further modules of a team. */
@Module({})
export class AppModule {
  static forRoot(config: Config, logger: Logger, further: readonly Type[] = []): DynamicModule {
    return {
      module: AppModule,
      imports: [
        LetheModule.forRoot({ config, logger, orm: ormOptions, further }),
        ConsoleModule,
        // countRate counts the requests; the guard of this package only refuses.
        ThrottlerModule.forRoot([{ ttl: 60_000, limit: config.anonymousLimit }]),
      ],
      controllers: [HealthController, KeysController],
      providers: [
        OperatorSocket,
        { provide: APP_FILTER, useClass: ApiExceptionFilter },
        // In this order: 429 before 401 before 503, and then the body.
        { provide: APP_GUARD, useClass: RateLimitGuard },
        { provide: APP_GUARD, useClass: ApiKeyGuard },
        { provide: APP_GUARD, useClass: AdmissionGuard },
        { provide: APP_GUARD, useClass: DiskGuard },
        { provide: APP_GUARD, useClass: BodyGuard },
        { provide: APP_PIPE, useClass: DtoPipe },
      ],
    };
  }
}
