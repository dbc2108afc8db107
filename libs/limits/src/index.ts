export { RedisRateLimitStore } from './rate-limit.redis';
export { MemoryRateLimitStore, type RateDecision, RateLimitStore } from './rate-limit.store';
export { REDIS_LIMITS } from './redis-link';
