import { someOf } from '../support/depth';
import { expectFailure } from '../support/expected';
import { answers, answersRight, type Behaviour, FakeRedis, listOf } from '../support/fake-redis';
import {
  beginPatience,
  giveUpSoon,
  LIMIT,
  LimitedService,
  remaining,
  usePatience,
} from '../support/redis-services';
import { until } from '../support/until';

const DAY_MS = 86_400_000;

/** Later than Redis is waited for: with the next of these answers. */
const late = (): Behaviour => {
  const waiting: (() => unknown)[] = [];
  return (socket, right) => {
    for (const answer of waiting.splice(0)) answer();
    waiting.push(() => socket.destroyed || socket.write(right));
  };
};
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
  ['right, but too late', late(), 'TIMEOUT'],
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

usePatience();
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
  it.each(someOf(MISBEHAVIOURS, 3))(
    '%s: delays at most one request, and the limit is held by the service alone until Redis is right again',
    async (_, behaviour, reason) => {
      expect(remaining(await service.ask())).toBe(LIMIT - 1);
      redis.behaviour = behaviour;
      // However long the requests take: no probe of a new connection succeeds between them.
      redis.accepts = false;
      const { counting } = redis;
      if (reason === 'TIMEOUT') giveUpSoon();
      const statuses: number[] = [];
      for (let count = 0; count < LIMIT; count++) {
        const answer = await service.ask();
        if (answer.status !== 404) expectFailure(answer, 429, 'rate_limit_exceeded');
        statuses.push(answer.status);
      }
      expect(statuses.filter((status) => status === 404)).toHaveLength(LIMIT - 1);
      expect(redis.counting - counting).toBe(1);
      expect([await service.health(), service.redisLog]).toEqual(['degraded', [`warn: ${reason}`]]);
      redis.behaviour = answersRight;
      redis.accepts = true;
      redis.flush();
      beginPatience();
      await until(service.isWhole);
      expect(remaining(await service.ask())).toBe(LIMIT - 1);
      expect(service.redisLog).toEqual([`warn: ${reason}`, 'info: back']);
    },
  );

  it('right in time: counts all requests, and none is counted by the service alone', async () => {
    redis.behaviour = (socket, right) => void setTimeout(() => socket.write(right), 20);
    for (let count = 1; count <= 5; count++) expect(remaining(await service.ask())).toBe(LIMIT - count);
    expect([service.fallbacks, await service.health(), service.redisLog]).toEqual([0, 'ok', []]);
  });

  it('right after it was flushed: begins the windows anew, and refuses nothing', async () => {
    await service.askAtOnce(10);
    redis.flush();
    expect(remaining(await service.ask())).toBe(LIMIT - 1);
    expect([service.fallbacks, service.redisLog]).toEqual([0, []]);
  });

  it.each(someOf(MISBEHAVIOURS, 6))(
    '%s at the start: the service starts and is degraded',
    async (_, behaviour, reason) => {
      await service.app.close();
      redis.behaviour = behaviour;
      if (reason === 'TIMEOUT') giveUpSoon();
      await service.start();
      const answered = await service.askAtOnce(LIMIT + 5);
      expect(answered.filter(({ status }) => status === 404)).toHaveLength(LIMIT);
      expect(await service.health()).toBe('degraded');
    },
  );
});
