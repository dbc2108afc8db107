import { REDIS_LIMITS } from '@app/http';
import { someOf } from '../support/depth';
import { expectFailure } from '../support/expected';
import { describeWithRedis, RedisServer } from '../support/redis-server';
import {
  beginPatience,
  giveUpSoon,
  LIMIT,
  LimitedService,
  remaining,
  useRedisServices,
} from '../support/redis-services';
import { until } from '../support/until';

describeWithRedis('a service whose Redis is away', () => {
  const given = useRedisServices();

  /** Uses the remaining requests of the address: the limit holds if exactly that many are admitted, without any 5xx. */
  async function admittedUntilRefused(service: LimitedService): Promise<number> {
    const answers = await service.askAtOnce(LIMIT + 5);
    for (const answer of answers.filter(({ status }) => status !== 404))
      expectFailure(answer, 429, 'rate_limit_exceeded');
    return answers.filter(({ status }) => status === 404).length;
  }

  it('starts without it, holds the limit by itself, is degraded, and shares again once Redis is there', async () => {
    await given.redis.kill();
    const service = await given.started();
    expect([await service.health(), service.redisLog]).toEqual(['degraded', ['warn: ECONNREFUSED']]);
    expect(await admittedUntilRefused(service)).toBe(LIMIT);
    await given.redis.start();
    await until(service.isWhole);
    expect(remaining(await service.ask())).toBe(LIMIT - 1);
    expect(service.redisLog).toEqual(['warn: ECONNREFUSED', 'info: back']);
  });

  it('holds the limit by itself after kill -9, and what it had admitted before still counts', async () => {
    const service = await given.started();
    await service.askAtOnce(10);
    await given.redis.kill();
    expect(await admittedUntilRefused(service)).toBe(LIMIT - 10);
    expect(service.fallbacks).toBe(LIMIT + 5);
    expect(await service.health()).toBe('degraded');
  });

  it('answers every running request when Redis is killed', async () => {
    const service = await given.started({ RATE_LIMIT_ANONYMOUS: '100000' });
    const asking = Array.from({ length: 20 }, async () => {
      const statuses: number[] = [];
      while (service.fallbacks < 50) statuses.push((await service.ask()).status);
      return statuses;
    });
    await until(async () => Number(await given.redis.client.dbsize()) === 2);
    await given.redis.kill();
    expect(new Set((await Promise.all(asking)).flat())).toEqual(new Set([404]));
  });

  it('shares again with others after a restart of Redis, and says so once', async () => {
    const services = [await given.started(), await given.started()];
    await given.redis.kill();
    for (const service of services) await until(service.isDegraded);
    await given.redis.start();
    for (const service of services) await until(service.isWhole);
    const left = [];
    for (let count = 0; count < 4; count++) left.push(remaining((await services[count % 2]?.ask())!));
    expect(left).toEqual([29, 28, 27, 26]);
    for (const { redisLog } of services)
      expect(redisLog).toEqual([expect.stringMatching(/^warn: /), 'info: back']);
  });

  it('waits for Redis once while it hangs, and from the second request on not at all', async () => {
    const service = await given.started({ RATE_LIMIT_ANONYMOUS: '100000' });
    await service.ask();
    given.redis.hang();
    giveUpSoon();
    await service.ask();
    expect([service.fallbacks, service.redisLog]).toEqual([1, ['warn: TIMEOUT']]);
    // None of them could end if it waited for Redis.
    Object.assign(REDIS_LIMITS, { commandMs: 3_600_000, connectMs: 3_600_000 });
    for (let count = 0; count < 20; count++) await service.ask();
    expect(service.fallbacks).toBe(21);
    expect([await service.health(), service.redisLog]).toEqual(['degraded', ['warn: TIMEOUT']]);
  });

  it('holds the limit by itself while Redis hangs, and shares it again once Redis answers', async () => {
    const service = await given.started();
    given.redis.hang();
    giveUpSoon();
    expect(await admittedUntilRefused(service)).toBe(LIMIT);
    given.redis.wake();
    beginPatience();
    await until(service.isWhole);
    await given.redis.client.flushall();
    expect(remaining(await service.ask())).toBe(LIMIT - 1);
    expect(service.redisLog).toEqual(['warn: TIMEOUT', 'info: back']);
  });

  const refusals: [
    string,
    (redis: RedisServer) => Promise<unknown>,
    (redis: RedisServer) => Promise<unknown>,
  ][] = [
    [
      'OOM',
      (redis) => redis.client.config('SET', 'maxmemory', '1'),
      (redis) => redis.client.config('SET', 'maxmemory', '0'),
    ],
    [
      'READONLY',
      (redis) => redis.client.replicaof('127.0.0.1', 1),
      (redis) => redis.client.replicaof('NO', 'ONE'),
    ],
    [
      'NOPERM',
      (redis) => redis.client.acl('SETUSER', 'default', '-evalsha', '-eval'),
      (redis) => redis.client.acl('SETUSER', 'default', '+@all'),
    ],
  ];

  it.each(someOf(refusals, 2))(
    'holds the limit by itself while Redis answers %s, and shares again after it',
    async (reason, begin, end) => {
      const service = await given.started();
      await service.ask();
      await begin(given.redis);
      expect(await admittedUntilRefused(service)).toBe(LIMIT - 1);
      const attempts = await given.redis.connections();
      await until(async () => (await given.redis.connections()) >= attempts + 2);
      expect([await service.health(), service.redisLog]).toEqual(['degraded', [`warn: ${reason}`]]);
      await end(given.redis);
      await until(service.isWhole);
      const { fallbacks } = service;
      await service.ask();
      expect([service.fallbacks, service.redisLog]).toEqual([fallbacks, [`warn: ${reason}`, 'info: back']]);
    },
  );

  it('ends in order while Redis hangs', async () => {
    const service = await given.started();
    given.redis.hang();
    giveUpSoon();
    await service.ask();
    await expect(service.app.close()).resolves.toBeUndefined();
    expect(service.redisLog).toEqual(['warn: TIMEOUT']);
  });
});
