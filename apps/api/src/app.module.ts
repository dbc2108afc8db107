import { DynamicModule, Module, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { ThrottlerModule } from '@nestjs/throttler';
import { ApiExceptionFilter, CommonModule, type Config, DtoPipe, LOGGER, RateLimitGuard } from '@app/common';
import { AuditModule } from '@app/audit';
import { ApiKeyGuard, BotsModule } from '@app/bots';
import { CategoriesModule } from '@app/categories';
import { ConsentModule } from '@app/consent';
import { DatabaseModule } from '@app/database';
import { GdprModule } from '@app/gdpr';
import { ServersModule } from '@app/servers';
import { UserDataModule } from '@app/user-data';
import { WebhooksModule } from '@app/webhooks';
import type { Logger } from 'pino';
import { ormOptions } from '../../../ormconfig';
import { HealthController } from './health.controller';
import { Readiness } from './readiness';

/** The whole service in one process, with the further modules of a team beside its own. */
@Module({})
export class AppModule {
  static forRoot(config: Config, logger: Logger, further: readonly Type[] = []): DynamicModule {
    return {
      module: AppModule,
      imports: [
        CommonModule.forRoot(config, logger),
        DatabaseModule.forRoot(ormOptions),
        ScheduleModule.forRoot(),
        // The counting is Lethe's own (countRate); the guard built on this package only refuses.
        ThrottlerModule.forRoot([{ ttl: 60_000, limit: config.anonymousLimit }]),
        BotsModule,
        ServersModule,
        CategoriesModule,
        ConsentModule,
        UserDataModule,
        GdprModule,
        AuditModule,
        WebhooksModule,
        ...further,
      ],
      controllers: [HealthController],
      providers: [
        Readiness,
        { provide: APP_FILTER, inject: [LOGGER], useFactory: (log: Logger) => new ApiExceptionFilter(log) },
        // In this order: 429, then 401.
        { provide: APP_GUARD, useClass: RateLimitGuard },
        { provide: APP_GUARD, useClass: ApiKeyGuard },
        { provide: APP_PIPE, useClass: DtoPipe },
      ],
    };
  }
}
