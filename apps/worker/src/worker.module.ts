import { type DynamicModule, Module, type Type } from '@nestjs/common';
import type { Config } from '@app/kernel';
import { LetheModule } from '@app/runtime';
import type { Logger } from 'pino';
import { ormOptions } from '../../../ormconfig';
import { HealthServer } from './health.server';

/** The libraries of the api without its HTTP interface: webhooks and jobs. */
@Module({})
export class WorkerModule {
  static forRoot(config: Config, logger: Logger, further: readonly Type[] = []): DynamicModule {
    return {
      module: WorkerModule,
      imports: [LetheModule.forRoot({ config, logger, orm: ormOptions, further })],
      providers: [HealthServer],
    };
  }
}
