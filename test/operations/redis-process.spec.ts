import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { Client } from '../support/client';
import { someOf } from '../support/depth';
import { RedisCluster, RedisSentinels } from '../support/redis-fleets';
import { describeWithRedis, RedisServer } from '../support/redis-server';
import { certificate, TlsRedis } from '../support/redis-tls';
import { until } from '../support/until';

const build = useBuild();

/** Counts once, closes the store in the present state of its Redis, and ends without open handles. */
const STORE = `
  const { Degradations, redisUrl, SystemClock } = require(process.argv[1] + '/kernel/src');
  const { MemoryRateLimitStore, RedisRateLimitStore } = require(process.argv[1] + '/limits/src');
  const logger = { info() {}, warn: () => console.log('away') };
  const local = new MemoryRateLimitStore(new SystemClock());
  const options = { place: redisUrl(process.argv[2]), local, degradations: new Degradations(), logger };
  const store = new RedisRateLimitStore(options);
  process.stdin.once('data', async () => {
    await store.hit('bucket', 1);
    store.onApplicationShutdown();
    process.stdin.destroy();
  });
  store.onModuleInit().then(() => console.log('started'));
`;

describeWithRedis('the process of a service with a Redis', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  let redis: RedisServer;
  const tls = new TlsRedis();
  let child: ChildService;

  beforeEach(async () => {
    redis = await RedisServer.started();
    child = new ChildService(build.directory, join(directory, 'lethe.db'), { REDIS_URL: redis.url });
  });
  afterEach(async () => {
    await child.end('SIGKILL');
    await redis.remove();
    await tls.remove();
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  const ask = async () => (await new Client(child.url).get('/nothing')).status;
  const healthIs = (status: string) =>
    until(async () => {
      const answer = await new Client(child.url).send<{ status: string }>('GET', '/health/ready');
      return answer.data.status === status;
    });

  /** With 0, and nothing on standard error but the five lines of the start. */
  async function endsQuietly(): Promise<void> {
    const { code, stderr } = await child.end('SIGTERM');
    expect({ code, lines: stderr.trim().split('\n').length }).toEqual({ code: 0, lines: 5 });
  }

  it('lives through every loss of it, writes nothing on standard error, and ends with 0 while it hangs', async () => {
    await child.start();
    await redis.kill();
    expect(await ask()).toBe(404);
    await healthIs('degraded');
    await redis.start();
    await healthIs('ok');
    redis.hang();
    expect(await ask()).toBe(404);
    await healthIs('degraded');
    await endsQuietly();
  });

  it('starts without it, writes nothing on standard error, and ends with 0 while it is away', async () => {
    await redis.kill();
    await child.start();
    await endsQuietly();
  });

  it.each(['Server', 'Sentinel', 'Cluster'] as const)(
    'speaks TLS with a Redis whose certificate it can check, and with no other: %s',
    async (kind) => {
      const environment = { REDIS_URL: await tls[`urlOf${kind}`]() };
      child = new ChildService(build.directory, join(directory, 'lethe.db'), environment);
      await child.start();
      await healthIs('degraded');
      await child.end('SIGTERM');
      child = new ChildService(build.directory, join(directory, 'lethe.db'), {
        ...environment,
        NODE_EXTRA_CA_CERTS: certificate('authority'),
      });
      await child.start();
      await healthIs('ok');
      await ask();
      expect(await tls.keys()).not.toStrictEqual([]);
    },
  );

  it('says at the start where rates are counted, without the password', async () => {
    await redis.kill();
    const secret = redis.url.replace('//', '//:hunter2@');
    child = new ChildService(build.directory, join(directory, 'lethe.db'), { REDIS_URL: secret });
    await child.start();
    const { stderr } = await child.end('SIGTERM');
    expect(stderr).toContain(`in Redis, 127.0.0.1:${redis.port}`);
    expect(stderr).not.toContain('hunter2');
  });
});

describeWithRedis('a limiter store that is shut down', () => {
  let child: ChildProcessByStdio<Writable, Readable, null>;
  let remove: () => Promise<void>;
  afterEach(async () => {
    child.kill('SIGKILL');
    await remove();
  });

  /** The code of the process whose store counts once in the state that `happens`, and is shut down. */
  async function endOf(url: string, happens: () => unknown): Promise<unknown> {
    child = spawn(process.execPath, ['-e', STORE, join(build.directory, 'libs'), url], {
      env: { NODE_PATH: join(__dirname, '../../node_modules') },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await until(() => output.includes('started'));
    await happens();
    child.stdin.write('go\n');
    return (await ended)[0];
  }

  const states: [string, (redis: RedisServer) => void | Promise<void>][] = [
    ['answers', () => undefined],
    ['hangs', (redis) => redis.hang()],
    ['is away', (redis) => redis.kill()],
  ];

  it.each(someOf(states, 2))(
    'leaves no connection and no timer behind while Redis %s',
    async (_, happens) => {
      const redis = await RedisServer.started();
      remove = () => redis.remove();
      expect(await endOf(redis.url, () => happens(redis))).toBe(0);
    },
  );

  it.each([
    ['cluster', () => new RedisCluster()],
    ['Redis behind sentinels', () => new RedisSentinels()],
  ] as const)('leaves nothing behind either while a %s answers, hangs or is away', async (_, make) => {
    const fleet = make();
    remove = () => fleet.end();
    await fleet.start();
    for (const [, happens] of states)
      expect(await endOf(fleet.url, () => fleet.each(async (redis) => happens(redis)))).toBe(0);
  });
});
