import { DynamicModule, Global, Logger as NestLogger, Module } from '@nestjs/common';
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
import { RedisRateLimitStore, MemoryRateLimitStore, RateLimitStore } from '@app/limits';
import { Metrics, PrometheusMetrics } from '@app/metrics';
import { openTracing, type SpanObserver, Tracing } from '@app/tracing';

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
        useFactory: (clock: Clock, degradations: Degradations) =>
          rateLimitStore(config, logger, new MemoryRateLimitStore(clock), degradations),
      },
      Degradations,
      { provide: EgressPolicy, useFactory: () => new EgressPolicy(config) },
      PrometheusMetrics,
      { provide: Metrics, useExisting: PrometheusMetrics },
      {
        provide: Tracing,
        inject: [Metrics],
        useFactory: (metrics: Metrics) => openTracing(config, observerOf(metrics)),
      },
      DomainEvents,
    ];
    return { module: SharedModule, imports: [EventEmitterModule.forRoot()], providers, exports: providers };
  }
}

function rateLimitStore(
  { redis: place, masterKeys: [masterKey] }: Config,
  logger: Logger,
  local: MemoryRateLimitStore,
  degradations: Degradations,
): RateLimitStore {
  if (place === undefined) return local;
  return new RedisRateLimitStore({ place, masterKey, local, degradations, logger });
}

/** One line when the collector is lost and one when it is back, however many spans that concerns. */
function observerOf(metrics: Metrics): SpanObserver {
  const logger = new NestLogger('Traces');
  return {
    lost: (spans) => metrics.count('traceSpansLost', spans),
    unreached: (code) =>
      logger.warn('The collector of the traces does not take them; spans are dropped until it does', {
        code,
      }),
    reached: () => logger.log('The collector takes traces again'),
  };
}
