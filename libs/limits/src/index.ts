export { RATE_LIMIT_LOCAL, RedisRateLimitStore } from './rate-limit.redis';
export { MemoryRateLimitStore, type RateDecision, RateLimitStore } from './rate-limit.store';
export { RedisTimes } from './redis-link';
