import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { Client } from '../support/client';
import { someOf } from '../support/depth';
import { useInstallation } from '../support/installation';
import { describeWithRedis, RedisServer } from '../support/redis-server';
import { until } from '../support/until';

const build = useBuild();

/** Counts once, closes the store in the present state of its Redis, and ends without open handles. */
const STORE = `
  const { Degradations, SystemClock } = require(process.argv[1] + '/kernel/src');
  const { MemoryRateLimitStore } = require(process.argv[1] + '/http/src/rate-limit.store');
  const { RedisRateLimitStore } = require(process.argv[1] + '/http/src/rate-limit.redis');
  const logger = { info() {}, warn: () => console.log('away') };
  const local = new MemoryRateLimitStore(new SystemClock());
  const options = { url: process.argv[2], local, degradations: new Degradations(), logger };
  const store = new RedisRateLimitStore(options);
  process.stdin.once('data', async () => {
    await store.hit('bucket', 1);
    store.onApplicationShutdown();
    process.stdin.destroy();
  });
  store.onModuleInit().then(() => console.log('started'));
`;

describeWithRedis('the process of a service with a Redis', () => {
  const lethe = useInstallation({ build });
  let redis: RedisServer;
  let child: ChildService;

  beforeEach(async () => {
    redis = await RedisServer.started();
    child = lethe.child({ REDIS_URL: redis.url });
  });
  afterEach(() => redis.remove());

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

  it('speaks TLS with a Redis whose certificate it can check, and with no other', async () => {
    const certificate = (name: string) => join(__dirname, '../support/certificates', `${name}.pem`);
    const options = {
      port: '0',
      'tls-port': String(redis.port),
      'tls-cert-file': certificate('right'),
      'tls-key-file': certificate('right'),
      'tls-ca-cert-file': certificate('authority'),
      'tls-auth-clients': 'no',
    };
    await redis.kill();
    await redis.start(...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]));
    const environment = { REDIS_URL: `rediss://localhost:${redis.port}` };
    child = lethe.child(environment);
    await child.start();
    await healthIs('degraded');
    await child.end('SIGTERM');
    child = lethe.child({
      ...environment,
      NODE_EXTRA_CA_CERTS: certificate('authority'),
    });
    await child.start();
    await healthIs('ok');
  });

  it('says at the start where rates are counted, without the password', async () => {
    await redis.kill();
    const secret = redis.url.replace('//', '//:hunter2@');
    child = lethe.child({ REDIS_URL: secret });
    await child.start();
    const { stderr } = await child.end('SIGTERM');
    expect(stderr).toContain(`in Redis, 127.0.0.1:${redis.port}`);
    expect(stderr).not.toContain('hunter2');
  });
});

describeWithRedis('a limiter store that is shut down', () => {
  let redis: RedisServer;
  let child: ChildProcessByStdio<Writable, Readable, null>;
  beforeEach(async () => {
    redis = await RedisServer.started();
  });
  afterEach(async () => {
    child.kill('SIGKILL');
    await redis.remove();
  });

  const states: [string, () => void | Promise<void>][] = [
    ['answers', () => undefined],
    ['hangs', () => redis.hang()],
    ['is away', () => redis.kill()],
  ];

  it.each(someOf(states, 2))(
    'leaves no connection and no timer behind while Redis %s',
    async (_, happens) => {
      child = spawn(process.execPath, ['-e', STORE, join(build.directory, 'libs'), redis.url], {
        env: { NODE_PATH: join(__dirname, '../../node_modules') },
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const ended = once(child, 'exit');
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      await until(() => output.includes('started'));
      await happens();
      child.stdin.write('go\n');
      expect(await ended).toEqual([0, null]);
    },
  );
});
