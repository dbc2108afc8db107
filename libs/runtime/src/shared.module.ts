import { DynamicModule, Global, Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import type { Logger } from 'pino';
import {
  Clock,
  Random,
  SystemClock,
  SystemRandom,
  CONFIG,
  Config,
  Degradations,
  DomainEvents,
  EgressPolicy,
  LOGGER,
} from '@app/kernel';
import { RedisRateLimitStore, MemoryRateLimitStore, RateLimitStore, RedisTimes } from '@app/limits';
import { Metrics, PrometheusMetrics } from '@app/metrics';

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
      RedisTimes,
      {
        provide: RateLimitStore,
        inject: [Clock, Degradations, RedisTimes],
        useFactory: (clock: Clock, degradations: Degradations, times: RedisTimes) =>
          rateLimitStore(config, logger, new MemoryRateLimitStore(clock), degradations, times),
      },
      Degradations,
      { provide: EgressPolicy, useFactory: () => new EgressPolicy(config) },
      PrometheusMetrics,
      { provide: Metrics, useExisting: PrometheusMetrics },
      DomainEvents,
    ];
    return { module: SharedModule, imports: [EventEmitterModule.forRoot()], providers, exports: providers };
  }
}

function rateLimitStore(
  { redisUrl: url, masterKeys: [masterKey] }: Config,
  logger: Logger,
  local: MemoryRateLimitStore,
  degradations: Degradations,
  times: RedisTimes,
): RateLimitStore {
  if (url === undefined) return local;
  return new RedisRateLimitStore({ url, masterKey, local, degradations, logger, times });
}
