import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { AuditModule } from '@app/audit';
import { BotsModule } from '@app/bots';
import { CategoriesModule } from '@app/categories';
import { ConsentModule } from '@app/consent';
import { DatabaseModule } from '@app/database';
import { JobsModule, PeriodicJobs } from '@app/jobs';
import { SubjectsModule } from '@app/subjects';
import { IdempotencyModule } from '@app/idempotency';
import { GdprModule } from '@app/gdpr';
import type { Config } from '@app/kernel';
import { OperatorModule } from '@app/operator';
import { PrivacyPageModule } from '@app/privacy-page';
import { SealingModule } from '@app/sealing';
import { ServersModule } from '@app/servers';
import { StatsModule } from '@app/stats';
import { UserDataModule } from '@app/user-data';
import { WebhooksModule } from '@app/webhooks';
import type { Logger } from 'pino';
import { Health } from './health';
import { Readiness } from './readiness';
import { SharedModule } from './shared.module';

export interface Parts {
  readonly config: Config;
  readonly logger: Logger;
  /** The options of TypeORM, from ormconfig.ts. */
  readonly orm: Parameters<typeof DatabaseModule.forRoot>[0];
  /** The modules of a team, in addition to Lethe's own. */
  readonly further?: readonly Type[];
  /** The access of the process to the database, when the configuration does not decide it. */
  readonly access?: Parameters<typeof DatabaseModule.forRoot>[1];
}

/**
 * All modules of Lethe, the same in every process: a worker that finishes an erasure needs every module whose data the
 * api stores.
 */
@Module({})
export class LetheModule {
  static forRoot({ config, logger, orm, further = [], access }: Parts): DynamicModule {
    return {
      module: LetheModule,
      imports: [
        SharedModule.forRoot(config, logger),
        DatabaseModule.forRoot(orm, access),
        DiscoveryModule,
        JobsModule,
        SubjectsModule,
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
        OperatorModule,
        ...further,
      ],
      providers: [Readiness, Health, PeriodicJobs],
      exports: [Readiness, Health],
    };
  }
}
