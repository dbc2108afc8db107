import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Degradations, readConfig, SystemClock } from '@app/kernel';
import { MemoryRateLimitStore, RateLimitStore, RedisRateLimitStore } from '@app/http';
import pino from 'pino';
import { expectFailure } from '../support/expected';
import { describeWithRedis } from '../support/redis-server';
import {
  LIMIT,
  remaining,
  resetOf,
  retryAfter,
  useRedisServices,
  useTwoServices,
} from '../support/redis-services';
import { until } from '../support/until';

describeWithRedis('rate limits in Redis', () => {
  const given = useTwoServices();
  /** The key of the one bucket of a test, besides that of the probe. */
  const bucketKey = async () =>
    (await given.redis.client.keys('*')).find((key) => !key.endsWith('probe')) ?? '';

  it('admit exactly one of 100 parallel requests to two services when one is left', async () => {
    const { one, other } = given;
    for (let count = 1; count < LIMIT; count++) await one.ask();
    const answers = (await Promise.all([one.askAtOnce(50), other.askAtOnce(50)])).flat();
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(99);
  });

  it('count down one by one over two services, with one reset', async () => {
    const services = [given.one, given.other];
    const answers = [];
    for (let count = 0; count < 6; count++) answers.push(await services[count % 2]?.ask());
    expect(answers.map((answer) => answer && remaining(answer))).toEqual([29, 28, 27, 26, 25, 24]);
    expect(new Set(answers.map((answer) => answer && resetOf(answer))).size).toBe(1);
  });

  it('admit a batch as a whole or not at all over two services, beside single requests', async () => {
    const stores = [given.one, given.other].map((one) => one.app.get(RateLimitStore));
    const [one, other] = stores as [RedisRateLimitStore, RedisRateLimitStore];
    await one.hit('bot', 30);
    const both = await Promise.all([one.take('bot', 30, 20), other.take('bot', 30, 20)]);
    expect(both.map(({ exceeded }) => exceeded).sort()).toEqual([false, true]);
    for (const { remaining: left } of both) expect(left).toBe(9);
    const hits = await Promise.all([one.hit('bot', 30), one.take('bot', 30, 8), one.take('bot', 30, 1)]);
    expect(hits.map(({ exceeded }) => exceeded)).toEqual([false, false, true]);
    expect((await other.take('bot', 30, 1)).remaining).toBe(0);
    expect([one, other].map(({ fallbacks }) => fallbacks)).toEqual([0, 0]);
  });

  it('answer 429 with the three headers and a Retry-After that leads to the reset', async () => {
    const { one: service } = given;
    for (let count = 0; count < LIMIT; count++) await service.ask();
    const before = Date.now() / 1000;
    const answer = await service.ask();
    const after = Date.now() / 1000;
    expectFailure(answer, 429, 'rate_limit_exceeded');
    expect([answer.header('x-ratelimit-limit'), remaining(answer)]).toEqual([String(LIMIT), 0]);
    expect(retryAfter(answer)).toBeGreaterThanOrEqual(1);
    expect(retryAfter(answer)).toBeLessThanOrEqual(60);
    // Both are rounded up, from one moment of the answer.
    expect(resetOf(answer) - retryAfter(answer)).toBeGreaterThan(before - 1);
    expect(resetOf(answer) - retryAfter(answer)).toBeLessThan(after + 1);
  });

  it('reset when the window ends in Redis, a minute after the whole second of its first request', async () => {
    const { one: service } = given;
    const before = Date.now();
    const answer = await service.ask();
    const after = Date.now();
    const ends = Number(await given.redis.client.hget(await bucketKey(), 'ends'));
    expect(resetOf(answer)).toBe(ends / 1000);
    expect(resetOf(answer)).toBeGreaterThanOrEqual(Math.floor(before / 1000) + 60);
    expect(resetOf(answer)).toBeLessThanOrEqual(Math.floor(after / 1000) + 60);
  });

  it('are whole again when the window has ended', async () => {
    const { one: service } = given;
    for (let count = 0; count <= LIMIT; count++) await service.ask();
    const key = await bucketKey();
    await given.redis.client.pexpire(key, 1);
    await until(async () => (await given.redis.client.exists(key)) === 0);
    expect(remaining(await service.ask())).toBe(LIMIT - 1);
  });

  it('begin anew where a window would end later than one can: the clock of Redis was set back', async () => {
    const { one: service } = given;
    await service.ask();
    const key = await bucketKey();
    const ends = Number(await given.redis.client.hget(key, 'ends'));
    await given.redis.client.hset(key, { count: LIMIT, ends: ends + 3_600_000 });
    expect(remaining(await service.ask())).toBe(LIMIT - 1);
  });

  it('go on being counted together after SCRIPT FLUSH', async () => {
    const { one, other } = given;
    await one.ask();
    await given.redis.client.script('FLUSH');
    expect(remaining(await other.ask())).toBe(LIMIT - 2);
    expect([one.fallbacks, other.fallbacks]).toEqual([0, 0]);
    expect(other.redisLog).toEqual([]);
  });
});

describeWithRedis('rate limits in a Redis of their own', () => {
  const given = useRedisServices();
  const keys = () => given.redis.client.keys('*');

  it('leave keys with a prefix of their own, which expire by themselves', async () => {
    const service = await given.started();
    const bot = await service.registerBot();
    await bot.get('/servers');
    const found = await keys();
    expect(found).toHaveLength(3);
    for (const key of found) {
      expect(key).toMatch(/^lethe:rate:/);
      const left = await given.redis.client.pttl(key);
      expect(left > 0 && left <= 60_000).toBe(true);
    }
  });

  it('leave neither bot nor address in Redis, and other digests under another master key', async () => {
    const underKey = (byte: number) => ({ LETHE_MASTER_KEY: Buffer.alloc(32, byte).toString('base64') });
    const seen = new Set<string>();
    for (const byte of [1, 2]) {
      const service = await given.started(underKey(byte));
      const bot = await service.registerBot();
      await bot.get('/servers');
      for (const key of await keys()) {
        expect(key).not.toContain(bot.id);
        expect(key).not.toContain('127.0.0.1');
        seen.add(key);
      }
    }
    // The probe, and a bot and the address under each key.
    expect(seen.size).toBe(5);
  });

  it('are shared under one master key', async () => {
    const environment = { LETHE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') };
    const [one, other] = [await given.started(environment), await given.started(environment)];
    await one.ask();
    expect(remaining(await other.ask())).toBe(LIMIT - 2);
  });

  it('are counted where a password is asked for, and the log never holds it', async () => {
    await given.redis.client.config('SET', 'requirepass', 'hunter2');
    const { port } = given.redis;
    const admitted = await given.started({ REDIS_URL: `redis://:hunter2@127.0.0.1:${port}/3` });
    await admitted.ask();
    expect(admitted.fallbacks).toBe(0);
    const refused = await given.started({ REDIS_URL: `redis://:hunter3@127.0.0.1:${port}` });
    await refused.ask();
    expect(refused.fallbacks).toBe(1);
    expect(refused.redisLog).toEqual(['warn: WRONGPASS']);
    expect([...admitted.logLines, ...refused.logLines].join()).not.toContain('hunter');
  });
});

describeWithRedis('the Redis of docs/operate.md', () => {
  const given = useRedisServices();
  const operations = readFileSync(join(__dirname, '../../docs/operate.md'), 'utf8');

  it('takes counts of a user who may do no more than is written there', async () => {
    const [, rule = ''] = /`ACL SETUSER (lethe on >PASSWORD [^`]+)`/.exec(operations) ?? [];
    const [user = '', ...rules] = rule.split(' ');
    await given.redis.client.acl('SETUSER', user, ...rules);
    const service = await given.started({ REDIS_URL: given.redis.url.replace('//', '//lethe:PASSWORD@') });
    expect([remaining(await service.ask()), service.fallbacks, service.redisLog]).toEqual([LIMIT - 1, 0, []]);
    const asUser = given.redis.client.duplicate({ username: user, password: 'PASSWORD' });
    await expect(asUser.hset('another', 'count', 1)).rejects.toThrow('NOPERM');
    asUser.disconnect();
  });
});

describeWithRedis('the limiter store in Redis', () => {
  const given = useRedisServices();
  const stores: RedisRateLimitStore[] = [];
  afterEach(() => stores.splice(0).forEach((store) => store.onApplicationShutdown()));

  async function store(clock = new SystemClock()): Promise<RedisRateLimitStore> {
    const made = new RedisRateLimitStore({
      url: given.redis.url,
      masterKey: undefined,
      local: new MemoryRateLimitStore(clock),
      degradations: new Degradations(),
      logger: pino({ level: 'silent' }),
    });
    stores.push(made);
    await made.onModuleInit();
    return made;
  }

  it('shares windows between processes whose clocks are hours apart', async () => {
    class FastClock extends SystemClock {
      override nowMs(): number {
        return super.nowMs() + 7_200_000;
      }
    }
    const [one, other] = [await store(), await store(new FastClock())];
    const first = await one.hit('bucket', 5);
    const second = await other.hit('bucket', 5);
    expect([first.remaining, second.remaining]).toEqual([4, 3]);
    expect(second.resetSeconds).toBe(first.resetSeconds);
  });

  it('admits exactly one of those that ask at the same moment through ten processes when one is left', async () => {
    const processes = await Promise.all(Array.from({ length: 10 }, () => store()));
    for (let round = 0; round < 10; round++) {
      const decisions = await Promise.all(processes.map(async (one) => one.hit(`round ${round}`, 1)));
      expect(decisions.filter(({ exceeded }) => !exceeded)).toHaveLength(1);
    }
  });

  it('lets the limit of each request decide, not that of the first', async () => {
    const one = await store();
    const decisions = await Promise.all([1, 10].map(async (limit) => one.hit('bucket', limit)));
    expect(decisions.map((decision) => decision.remaining)).toEqual([0, 8]);
  });
});

describe('REDIS_URL', () => {
  it.each([
    'redis://localhost',
    'redis://127.0.0.1:6379/3',
    'rediss://user:pass%20word@redis.example.org:6380',
    'redis://[::1]:6379',
  ])('may be %s', (url) => {
    expect(readConfig({ REDIS_URL: url }).redisUrl).toBe(url);
  });

  it.each([
    'localhost:6379',
    'http://:hunter2@localhost',
    'redis://',
    'redis:///3',
    'redis://:hunter2@localhost/name',
    'redis://:hunter2@localhost:port',
    'redis://:hunter2%@localhost',
    'redis://:hunter2@localhost?enableOfflineQueue=true',
  ])('may not be %s, which is said in one line without its password', (url) => {
    expect(() => readConfig({ REDIS_URL: url })).toThrow(
      /^[^\n]+\n {2}- REDIS_URL must be redis:\/\/[^\n]+$/,
    );
    expect(() => readConfig({ REDIS_URL: url })).not.toThrow(/hunter/);
  });

  it('may be left out: each process counts by itself', () => {
    expect(readConfig({}).redisUrl).toBeUndefined();
  });
});
