import { someOf } from '../support/depth';
import { expectFailure } from '../support/expected';
import { answers, answersRight, type Behaviour, FakeRedis, listOf } from '../support/fake-redis';
import { LIMIT, LimitedService, remaining } from '../support/redis-services';
import { standstill, until } from '../support/until';

/** At most one request waits for Redis, for 50 ms. The machine itself can be busy for longer. */
const SLOWEST_MAX_MS = 500;
const MEDIAN_MAX_MS = 30;
const DAY_MS = 86_400_000;

const after =
  (delayMs: number): Behaviour =>
  (socket, right) =>
    void setTimeout(() => socket.destroyed || socket.write(right), delayMs);
const half: Behaviour = (socket, right) => void socket.write(right.slice(0, right.length / 2));
const halfAndEnd: Behaviour = (socket, right) => void socket.end(right.slice(0, right.length / 2));
const ends: Behaviour = (socket) => void socket.destroy();
const now = (): number => Date.now();

const ERRORS = [
  ...[
    'READONLY You can only write against a master',
    "OOM command not allowed when used memory > 'maxmemory'",
  ],
  ...[
    'LOADING Redis is loading',
    'MISCONF Redis is configured to save',
    'BUSY Redis is busy running a script',
  ],
  ...[
    'NOAUTH Authentication required.',
    'MASTERDOWN Link with MASTER is down',
    'CLUSTERDOWN The cluster is down',
  ],
  ...['MOVED 866 127.0.0.1:1', 'NOREPLICAS Not enough good replicas', 'ERR max number of clients reached'],
].map((line): [string, Behaviour, string] => [line, answers(`-${line}\r\n`), line.split(' ')[0] ?? '']);

const WRONG = Object.entries({
  'no value': '$-1\r\n',
  'a text': '+OK\r\n',
  'a number': ':1\r\n',
  'an empty list': '*0\r\n',
  'too short a list': listOf([now()]),
  'too long a list': listOf([now(), 1, now() + 1, 1, now() + 1]),
  'a list of texts': '*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n',
  'a list of lists': '*3\r\n*1\r\n:1\r\n*1\r\n:1\r\n*1\r\n:1\r\n',
  'a list with an error': '*3\r\n:1\r\n-ERR no\r\n:1\r\n',
  'a count below one': listOf([now(), 0, now() + 1_000]),
  'a window that has ended': listOf([now(), 1, now() - DAY_MS]),
  'a window without end': listOf([now(), 1, now() + DAY_MS]),
}).map(([name, text]): [string, Behaviour, string] => [name, answers(text), 'WRONG_ANSWER']);

const MISBEHAVIOURS: [string, Behaviour, string][] = [
  ['nothing', () => undefined, 'TIMEOUT'],
  ['right, but after a second', after(1_000), 'TIMEOUT'],
  ['half of it', half, 'TIMEOUT'],
  ['half of it and ends', halfAndEnd, 'CLOSED'],
  ['nothing and ends', ends, 'CLOSED'],
  ['what is no Redis', answers('HTTP/1.1 400 Bad Request\r\n\r\n'), 'CLOSED'],
  ['a megabyte of nothing', answers('\r\n'.repeat(500_000)), 'CLOSED'],
  ...ERRORS,
  ...WRONG,
];

let redis: FakeRedis;
let service: LimitedService;

beforeEach(async () => {
  redis = await FakeRedis.started();
  service = new LimitedService({ REDIS_URL: redis.url, RATE_LIMIT_ANONYMOUS: String(LIMIT) });
  await service.start();
});
afterEach(async () => {
  await service.stop();
  redis.close();
});

describe('a Redis that answers', () => {
  it.each(someOf(MISBEHAVIOURS, 6))(
    '%s: delays at most one request, and the limit is held by the service alone until Redis is right again',
    async (_, behaviour, reason) => {
      expect(remaining(await service.ask())).toBe(LIMIT - 1);
      redis.behaviour = behaviour;
      const statuses: number[] = [];
      const tookMs: number[] = [];
      const stoodStill = standstill();
      for (let count = 0; count < LIMIT; count++) {
        const sentMs = performance.now();
        const answer = await service.ask();
        tookMs.push(performance.now() - sentMs);
        if (answer.status !== 404) expectFailure(answer, 429, 'rate_limit_exceeded');
        statuses.push(answer.status);
      }
      expect(statuses.filter((status) => status === 404)).toHaveLength(LIMIT - 1);
      expect(Math.max(...tookMs) - stoodStill()).toBeLessThan(SLOWEST_MAX_MS);
      expect(tookMs.sort((one, other) => one - other)[LIMIT / 2]).toBeLessThan(MEDIAN_MAX_MS);
      expect([await service.health(), service.redisLog]).toEqual(['degraded', [`warn: ${reason}`]]);
      redis.behaviour = answersRight;
      redis.flush();
      await until(service.isWhole);
      expect(remaining(await service.ask())).toBe(LIMIT - 1);
      expect(service.redisLog).toEqual([`warn: ${reason}`, 'info: back']);
    },
  );

  it('right within 30 ms: counts all requests, and none is counted by the service alone', async () => {
    redis.behaviour = after(20);
    for (let count = 1; count <= 5; count++) expect(remaining(await service.ask())).toBe(LIMIT - count);
    expect([service.fallbacks, await service.health(), service.redisLog]).toEqual([0, 'ok', []]);
  });

  it('right after it was flushed: begins the windows anew, and refuses nothing', async () => {
    await service.askAtOnce(10);
    redis.flush();
    expect(remaining(await service.ask())).toBe(LIMIT - 1);
    expect([service.fallbacks, service.redisLog]).toEqual([0, []]);
  });

  it.each(someOf(MISBEHAVIOURS, 12))(
    '%s at the start: the service starts and is degraded',
    async (_, behaviour) => {
      await service.app.close();
      redis.behaviour = behaviour;
      await service.start();
      const answered = await service.askAtOnce(LIMIT + 5);
      expect(answered.filter(({ status }) => status === 404)).toHaveLength(LIMIT);
      expect(await service.health()).toBe('degraded');
    },
  );
});
