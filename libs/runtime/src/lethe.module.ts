import { type DynamicModule, Global, Module, type Type } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { ScheduleModule } from '@nestjs/schedule';
import { AuditModule } from '@app/audit';
import { BotsModule } from '@app/bots';
import { CategoriesModule } from '@app/categories';
import { ConsentModule } from '@app/consent';
import { DatabaseModule, JobsModule, PeriodicJobs } from '@app/database';
import { IdempotencyModule } from '@app/acts';
import { GdprModule } from '@app/gdpr';
import {
  Clock,
  type Config,
  CONFIG,
  Degradations,
  DomainEvents,
  EgressPolicy,
  LOGGER,
  Metrics,
  PrometheusMetrics,
  Random,
  Spans,
  SystemClock,
  SystemRandom,
} from '@app/kernel';
import { MemoryRateLimitStore, RateLimitStore, RedisRateLimitStore } from '@app/http';
import { OperatorModule } from '@app/operations';
import { PrivacyPageModule } from '@app/pages';
import { SealingModule } from '@app/sealing';
import { ServersModule } from '@app/servers';
import { ReportsModule, StatsModule } from '@app/reports';
import { UserDataModule } from '@app/user-data';
import { WebhooksModule } from '@app/webhooks';
import type { Logger } from 'pino';
import { Health } from './health';

interface Parts {
  readonly config: Config;
  readonly logger: Logger;
  /** The options of TypeORM, from ormconfig.ts. */
  readonly orm: Parameters<typeof DatabaseModule.forRoot>[0];
  /** The modules of a team, in addition to Lethe's own. */
  readonly further?: readonly Type[];
  /** The access of the process to the database, when the configuration does not decide it. */
  readonly access?: Parameters<typeof DatabaseModule.forRoot>[1];
  /** A command of the operator, which starts no job. */
  readonly isCommand?: boolean;
}

/**
 * All modules of Lethe, the same in every process: a worker that finishes an erasure needs every module whose data the
 * api stores.
 */
@Module({})
export class LetheModule {
  static forRoot({ config, logger, orm, further = [], access, isCommand = false }: Parts): DynamicModule {
    return {
      module: LetheModule,
      imports: [
        SharedModule.forRoot(config, logger),
        DatabaseModule.forRoot(orm, access),
        DiscoveryModule,
        JobsModule,
        IdempotencyModule,
        ScheduleModule.forRoot(),
        BotsModule,
        ServersModule,
        CategoriesModule,
        ConsentModule,
        UserDataModule,
        GdprModule,
        AuditModule,
        SealingModule,
        WebhooksModule,
        StatsModule,
        PrivacyPageModule,
        ReportsModule,
        OperatorModule,
        ...further,
      ],
      providers: [Health, ...(isCommand ? [] : [PeriodicJobs])],
      exports: [Health],
    };
  }
}

/** Providers for every module: configuration, clock, random values, events, store of the rate limits, log. */
@Global()
@Module({})
export class SharedModule {
  static forRoot(config: Config, logger: Logger): DynamicModule {
    const providers = [
      { provide: CONFIG, useValue: config },
      { provide: LOGGER, useValue: logger },
      { provide: Clock, useClass: SystemClock },
      { provide: Random, inject: [Clock], useFactory: (clock: Clock) => new SystemRandom(clock) },
      {
        provide: RateLimitStore,
        inject: [Clock, Degradations],
        useFactory: (clock: Clock, degradations: Degradations): RateLimitStore => {
          const local = new MemoryRateLimitStore(clock);
          const { redisUrl: url, masterKeys } = config;
          if (url === undefined) return local;
          return new RedisRateLimitStore({ url, masterKey: masterKeys[0], local, degradations, logger });
        },
      },
      Degradations,
      { provide: EgressPolicy, useFactory: () => new EgressPolicy(config) },
      PrometheusMetrics,
      { provide: Metrics, useExisting: PrometheusMetrics },
      Spans,
      DomainEvents,
    ];
    return { module: SharedModule, imports: [EventEmitterModule.forRoot()], providers, exports: providers };
  }
}
