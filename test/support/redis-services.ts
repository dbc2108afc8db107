import { RateLimitStore, REDIS_LIMITS, type RedisRateLimitStore } from '@app/http';
import { Health } from '@app/runtime';
import type { Answer } from './client';
import { RedisServer } from './redis-server';
import { Service } from './service';

/** Requests per minute of an address without a key, in these tests. */
export const LIMIT = 30;

export const remaining = (answer: Answer<unknown>): number => Number(answer.header('x-ratelimit-remaining'));
export const resetOf = (answer: Answer<unknown>): number => Number(answer.header('x-ratelimit-reset'));
export const retryAfter = (answer: Answer<unknown>): number => Number(answer.header('retry-after'));

const USUAL_LIMITS = { ...REDIS_LIMITS };

/** A Redis that answers is waited for, however busy the machine is, until `giveUpSoon`. */
export function usePatience(): void {
  beforeEach(beginPatience);
  afterEach(() => void Object.assign(REDIS_LIMITS, USUAL_LIMITS));
}

export function beginPatience(): void {
  Object.assign(REDIS_LIMITS, { commandMs: 60_000, connectMs: 60_000 });
}

/** From here on Redis is given up as in production: for a Redis that does not answer. */
export function giveUpSoon(): void {
  Object.assign(REDIS_LIMITS, USUAL_LIMITS);
}

/** A service whose limiter may use Redis, with readings for the tests. */
export class LimitedService extends Service {
  override async start(): Promise<this> {
    await super.start();
    this.app.get(Health).isServing = true;
    return this;
  }

  /** One request from the address of all tests. */
  ask(): Promise<Answer<unknown>> {
    return this.anonymous.get('/nothing');
  }

  /** Several requests at once. */
  askAtOnce(times: number): Promise<Answer<unknown>[]> {
    return Promise.all(Array.from({ length: times }, () => this.ask()));
  }

  async health(): Promise<string> {
    return (await this.anonymous.send<{ status: string }>('GET', '/health/ready')).data.status;
  }

  isDegraded = async (): Promise<boolean> => (await this.health()) === 'degraded';
  isWhole = async (): Promise<boolean> => (await this.health()) === 'ok';

  /** Requests counted only by this process. */
  get fallbacks(): number {
    return this.app.get<RateLimitStore, RedisRateLimitStore>(RateLimitStore).fallbacks;
  }

  /** The log lines about Redis: the reason of each loss, and `back`. */
  get redisLog(): string[] {
    return this.logLines
      .map((line) => JSON.parse(line) as { level: number; msg: string; reason?: string })
      .filter(({ msg }) => msg.includes('Redis'))
      .map(
        ({ level, reason = 'back' }) => `${level === 40 ? 'warn' : level === 30 ? 'info' : level}: ${reason}`,
      );
  }
}

/** A Redis for each test and the services that use it; all end with the test. */
export class RedisServices {
  redis: RedisServer;
  private services: LimitedService[] = [];

  /** A started service that uses the test's Redis. */
  started(environment: Record<string, string> = {}): Promise<LimitedService> {
    const service = new LimitedService({
      REDIS_URL: this.redis.url,
      RATE_LIMIT_ANONYMOUS: String(LIMIT),
      ...environment,
    });
    this.services.push(service);
    return service.start();
  }

  async end(): Promise<void> {
    // Services first: they have to end while their Redis hangs.
    await Promise.all(this.services.splice(0).map((service) => service.stop()));
    await this.redis.remove();
  }
}

export function useRedisServices(): RedisServices {
  usePatience();
  const services = new RedisServices();
  beforeEach(async () => {
    services.redis = await RedisServer.started();
  });
  afterEach(() => services.end());
  return services;
}

/** One Redis and two services for all tests of the calling `describe`, each of which begins with no counts. */
export class TwoServices extends RedisServices {
  one: LimitedService;
  other: LimitedService;
}

export function useTwoServices(): TwoServices {
  usePatience();
  const two = new TwoServices();
  beforeAll(async () => {
    beginPatience();
    two.redis = await RedisServer.started();
    two.one = await two.started();
    two.other = await two.started();
  });
  beforeEach(() => two.redis.client.flushall());
  afterAll(() => two.end());
  return two;
}
