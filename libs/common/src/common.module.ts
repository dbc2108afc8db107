import { DynamicModule, Global, Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import type { Logger } from 'pino';
import { Clock, Random, SystemClock, SystemRandom } from './clock';
import { CONFIG, Config } from './config';
import { Degradations } from './degradations';
import { DomainEvents } from './domain-events';
import { EgressPolicy } from './egress';
import { LOGGER } from './logger';
import { Metrics } from './metrics';
import { PrometheusMetrics } from './prometheus.metrics';
import { RedisRateLimitStore } from './rate-limit.redis';
import { MemoryRateLimitStore, RateLimitStore } from './rate-limit.store';

/** The seams that every module shares: configuration, clock, chance, events, limiter store, log. */
@Global()
@Module({})
export class CommonModule {
  static forRoot(config: Config, logger: Logger): DynamicModule {
    const providers = [
      { provide: CONFIG, useValue: config },
      { provide: LOGGER, useValue: logger },
      { provide: Clock, useClass: SystemClock },
      { provide: Random, inject: [Clock], useFactory: (clock: Clock) => new SystemRandom(clock) },
      {
        provide: RateLimitStore,
        inject: [Clock, Degradations],
        useFactory: (clock: Clock, degradations: Degradations) =>
          rateLimitStore(config, logger, new MemoryRateLimitStore(clock), degradations),
      },
      Degradations,
      { provide: EgressPolicy, useFactory: () => new EgressPolicy(config) },
      PrometheusMetrics,
      { provide: Metrics, useExisting: PrometheusMetrics },
      DomainEvents,
    ];
    return { module: CommonModule, imports: [EventEmitterModule.forRoot()], providers, exports: providers };
  }
}

function rateLimitStore(
  { redisUrl: url, masterKeys: [masterKey] }: Config,
  logger: Logger,
  local: MemoryRateLimitStore,
  degradations: Degradations,
): RateLimitStore {
  if (url === undefined) return local;
  return new RedisRateLimitStore({ url, masterKey, local, degradations, logger });
}
