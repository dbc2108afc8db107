import { Degradations, redisUrl, SystemClock } from '@app/kernel';
import { MemoryRateLimitStore, RedisRateLimitStore } from '@app/limits';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { expectFailure } from '../support/expected';
import { MASTER, RedisCluster, type RedisFleet, RedisSentinels } from '../support/redis-fleets';
import { describeWithRedis, type RedisServer } from '../support/redis-server';
import { LIMIT, type LimitedService, remaining } from '../support/redis-services';
import { standstill, until } from '../support/until';

/** A request waits for Redis for 50 ms. The machine itself can be busy for longer; what stops the process is not counted. */
const SLOWEST_MAX_MS = 500;
/** Less than what a request takes that waits for Redis in vain. */
const LONGER_MS = 30;
const TRIES_MAX = 5;
/** Counted by another process before the failover. */
const COUNTED = 25;

/** Fleets that end with the test or with its suite, and stores as other processes have them. */
function useFleets() {
  const fleets: RedisFleet[] = [];
  const kept: RedisFleet[] = [];
  const stores: RedisRateLimitStore[] = [];
  afterEach(async () => {
    stores.splice(0).forEach((store) => store.onApplicationShutdown());
    for (const fleet of kept) await fleet.endServices();
    for (const fleet of fleets.splice(0)) await fleet.end();
  });
  afterAll(async () => {
    for (const fleet of kept) await fleet.end();
  });
  return {
    started<Fleet extends RedisFleet>(fleet: Fleet): Promise<Fleet> {
      fleets.push(fleet);
      return fleet.start();
    },
    kept<Fleet extends RedisFleet>(fleet: Fleet): Promise<Fleet> {
      kept.push(fleet);
      return fleet.start();
    },
    async store({ url }: RedisFleet): Promise<RedisRateLimitStore> {
      const store = new RedisRateLimitStore({
        place: redisUrl(url)!,
        masterKey: undefined,
        local: new MemoryRateLimitStore(new SystemClock()),
        degradations: new Degradations(),
        logger: pino({ level: 'silent' }),
      });
      stores.push(store);
      await store.onModuleInit();
      return store;
    },
  };
}

/** A machine that pauses for more than 50 ms makes a service count alone: then all is done again. */
async function areTogether(fleet: RedisFleet): Promise<void> {
  const services = [await fleet.service(), await fleet.service()];
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    for (const service of services) await until(service.isWhole);
    await fleet.each(({ client }) => client.call('FLUSHALL').catch(() => undefined));
    const before = services.map(({ fallbacks }) => fallbacks);
    const left = [];
    for (let count = 0; count < 6; count++) left.push(remaining((await services[count % 2]?.ask())!));
    if (services.some(({ fallbacks }, n) => fallbacks !== before[n])) continue;
    expect(left).toEqual([29, 28, 27, 26, 25, 24]);
    return;
  }
  throw new Error('Redis did not answer within 50 ms in any try');
}

/** The key of the one bucket that was counted, on any of the servers. */
async function keyIn(fleet: RedisFleet): Promise<string> {
  const found = new Set<string>();
  await fleet.each(async ({ client }) => {
    const keys = (await client.call('KEYS', 'lethe:*').catch(() => [])) as string[];
    for (const key of keys) if (!key.endsWith('probe')) found.add(key);
  });
  return [...found].join();
}

const countIn = async ({ client }: RedisServer, key: string): Promise<number> => {
  await client.call('READONLY').catch(() => undefined);
  return Number(await client.hget(key, 'count'));
};

const medianOf = (times: number[]): number =>
  times.sort((one, other) => one - other)[Math.floor(times.length / 2)] ?? NaN;

/** Asks without a pause from two callers, until `end`; it answers the number of admitted requests. */
function askedFor(service: LimitedService) {
  const [statuses, tookMs]: [number[], number[]] = [[], []];
  let ended = false;
  const ask = async () => {
    while (!ended) {
      const begunMs = performance.now();
      const answer = await service.ask();
      tookMs.push(performance.now() - begunMs);
      statuses.push(answer.status);
      if (answer.status !== 404) expectFailure(answer, 429, 'rate_limit_exceeded');
    }
  };
  const asking = Promise.all([ask(), ask()]);
  return {
    tookMs,
    async end() {
      ended = true;
      await asking;
      return statuses.filter((status) => status === 404).length;
    },
  };
}

const KINDS: [string, () => RedisFleet][] = [
  ['a Redis Cluster', () => new RedisCluster()],
  ['a Redis behind sentinels', () => new RedisSentinels()],
];

describeWithRedis('rate limits in several Redis servers', () => {
  const given = useFleets();

  it.each(KINDS)(
    '%s: when a primary is killed under load no request waits or fails, and the limit holds as documented',
    async (_, make) => {
      const fleet = await given.started(make());
      const services = [await fleet.service(), await fleet.service()];
      await services[0]!.ask();
      const { primary } = await fleet.pairOf(await keyIn(fleet));
      const loads = services.map(askedFor);
      await until(async () => (await services[1]!.ask()).status === 429);
      const usualMs = medianOf(loads.flatMap(({ tookMs }) => tookMs.splice(0)));
      const stoodStill = standstill();
      await primary.kill();
      for (const service of services) await until(service.isDegraded);
      for (const service of services) await until(service.isWhole);
      const admittedBy = await Promise.all(loads.map((load) => load.end()));
      const tookMs = loads.flatMap((load) => load.tookMs);
      expect(Math.max(...tookMs) - stoodStill()).toBeLessThan(SLOWEST_MAX_MS);
      expect(medianOf(tookMs)).toBeLessThan(2 * usualMs + LONGER_MS);
      const admitted = admittedBy.reduce((sum, each) => sum + each, 0);
      expect(admitted).toBeGreaterThan(0);
      // Two processes count alone, and the replica may have missed the last counts.
      expect(admitted).toBeLessThanOrEqual(3 * LIMIT);
      for (const { redisLog } of services)
        expect(redisLog.join()).toMatch(/^(warn: [A-Z_]+,info: back,?){1,3}$/);
    },
  );

  it.each(KINDS)(
    '%s: what the replica has counted still counts after it took over; without it a service starts and counts alone',
    async (_, make) => {
      const fleet = await given.started(make());
      const services = [await fleet.service(), await fleet.service()];
      for (const service of services) await service.ask();
      const key = await keyIn(fleet);
      const { primary, replica } = await fleet.pairOf(key);
      await primary.client.hset(key, 'count', COUNTED);
      await until(async () => (await countIn(replica, key)) === COUNTED);
      await primary.kill();
      await until(async () => (await replica.client.info('replication')).includes('role:master'));
      for (const service of services) {
        let asked = 0;
        for (let left = LIMIT; left >= LIMIT - COUNTED; asked++) {
          await until(service.isWhole);
          left = remaining(await service.ask());
        }
        // Alone it would have as many left only after as many requests.
        expect(asked).toBeLessThanOrEqual(TRIES_MAX);
      }
      await replica.kill();
      const late = await fleet.service();
      expect(await late.health()).toBe('degraded');
      const answers = await late.askAtOnce(LIMIT + 5);
      expect(answers.filter(({ status }) => status === 404)).toHaveLength(LIMIT);
    },
  );
});

describeWithRedis('rate limits in a Redis Cluster', () => {
  const given = useFleets();
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await given.kept(new RedisCluster());
  });
  beforeEach(() => Promise.all(cluster.primaries.map(({ client }) => client.flushall())));

  it('are counted together by two services', () => areTogether(cluster));

  it('count many windows of one moment in all nodes, by one command for each hash tag', async () => {
    const [one, other] = [await given.store(cluster), await given.store(cluster)];
    for (const { client } of cluster.primaries) await client.config('RESETSTAT');
    const buckets = Array.from({ length: 500 }, (_, n) => `bot ${n}`);
    const first = await Promise.all(buckets.map(async (bucket) => one.hit(bucket, 10)));
    const taken = await Promise.all(buckets.map(async (bucket) => other.take(bucket, 10, 9)));
    const refused = await Promise.all(buckets.map(async (bucket) => one.take(bucket, 10, 1)));
    expect(new Set(first.map((decision) => decision.remaining))).toEqual(new Set([9]));
    expect(new Set(taken.map((decision) => decision.remaining))).toEqual(new Set([0]));
    expect(refused.every(({ exceeded }) => exceeded)).toBe(true);
    expect([one.fallbacks, other.fallbacks]).toEqual([0, 0]);
    let commands = 0;
    for (const { client } of cluster.primaries) {
      expect(await client.dbsize()).toBeGreaterThan(100);
      commands += Number(/cmdstat_evalsha:calls=(\d+)/.exec(await client.info('commandstats'))?.[1]);
    }
    expect(commands).toBeLessThanOrEqual(3 * 64);
  });

  it('take a user who may do no more than docs/operate.md says, and the log never holds the password', async () => {
    const operations = readFileSync(join(__dirname, '../../docs/operate.md'), 'utf8');
    const [, rule = ''] = /`ACL SETUSER (lethe on >PASSWORD [^`]+)`/.exec(operations) ?? [];
    const [, more = ''] = /`(\+cluster\|\S+)`/.exec(operations) ?? [];
    const [user = '', ...rules] = `${rule.replace('PASSWORD', 'hunter2')} ${more}`.split(' ');
    await cluster.each(({ client }) => client.acl('SETUSER', user, ...rules));
    const admitted = await cluster.service({ REDIS_URL: cluster.url.replace('//', '//lethe:hunter2@') });
    expect([remaining(await admitted.ask()), admitted.fallbacks]).toEqual([LIMIT - 1, 0]);
    const refused = await cluster.service({ REDIS_URL: cluster.url.replace('//', '//lethe:hunter3@') });
    await refused.ask();
    expect([refused.fallbacks, refused.redisLog]).toEqual([1, ['warn: WRONGPASS']]);
    expect([...admitted.logLines, ...refused.logLines].join()).not.toContain('hunter');
  });

  it('follow a slot that was moved to another node, without counting alone', async () => {
    const service = await cluster.service();
    await service.ask();
    const key = await keyIn(cluster);
    const { primary } = await cluster.pairOf(key);
    const target = cluster.primaries.find((server) => server !== primary)!;
    const [slot, id] = [await primary.client.cluster('KEYSLOT', key), await target.client.cluster('MYID')];
    await primary.client.flushall();
    for (const { client } of [target, ...cluster.primaries])
      await client.cluster('SETSLOT', slot, 'NODE', String(id));
    expect(remaining(await service.ask())).toBe(LIMIT - 1);
    expect(await countIn(target, key)).toBe(1);
    expect([service.fallbacks, service.redisLog]).toEqual([0, []]);
  });
});

describeWithRedis('rate limits in a Redis behind sentinels', () => {
  const given = useFleets();
  let sentinels: RedisSentinels;
  beforeAll(async () => {
    sentinels = await given.kept(new RedisSentinels());
  });
  beforeEach(async () => (await sentinels.pairOf()).primary.client.flushall());

  it('are counted together by two services', () => areTogether(sentinels));

  it('are counted alone where the sentinels know no primary of the name', async () => {
    const service = await sentinels.service({ REDIS_URL: sentinels.url.replace(MASTER, 'another') });
    expect([await service.health(), service.redisLog]).toEqual(['degraded', ['warn: NO_MASTER']]);
  });

  it('take the passwords of the sentinels and of the servers, and the log holds neither', async () => {
    await sentinels.each(({ client }) =>
      client
        .call('CONFIG', 'SET', 'requirepass', 'hunter2')
        .catch(() => client.acl('SETUSER', 'default', 'resetpass', '>hunter3')),
    );
    const url = `${sentinels.url.replace('//', '//:hunter2@')}?sentinel_password=hunter3`;
    const admitted = await sentinels.service({ REDIS_URL: url });
    expect([remaining(await admitted.ask()), admitted.fallbacks]).toEqual([LIMIT - 1, 0]);
    for (const wrong of [url.replace('hunter2', 'hunter4'), url.replace('hunter3', 'hunter4')]) {
      const refused = await sentinels.service({ REDIS_URL: wrong });
      await refused.ask();
      expect([refused.fallbacks, refused.redisLog]).toEqual([1, ['warn: WRONGPASS']]);
      expect(refused.logLines.join()).not.toContain('hunter');
    }
    expect(admitted.logLines.join()).not.toContain('hunter');
    await sentinels.endServices();
    await sentinels.each(({ client }) =>
      client.call('CONFIG', 'SET', 'requirepass', '').catch(() => client.acl('SETUSER', 'default', 'nopass')),
    );
  });

  it('are shared although the first sentinel hangs, and although it is gone', async () => {
    sentinels.firstAsked.hang();
    const one = await sentinels.service();
    await until(one.isWhole);
    sentinels.firstAsked.wake();
    await sentinels.firstAsked.kill();
    const other = await sentinels.service();
    expect(await other.health()).toBe('ok');
    const left = [remaining(await one.ask()), remaining(await other.ask())];
    expect(left).toEqual([LIMIT - 1, LIMIT - 2]);
  });
});
