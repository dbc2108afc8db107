import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { someOf } from '../support/depth';
import { expectFailure } from '../support/expected';
import { describeWithRedis } from '../support/redis-server';
import { beginPatience, giveUpSoon, LIMIT, remaining, useRedisServices } from '../support/redis-services';
import { until } from '../support/until';

const DAY_MS = 86_400_000;

/** What is sent instead of the right answer. */
type Behaviour = (socket: Socket, right: Buffer) => void;

const answersRight: Behaviour = (socket, right) => void socket.write(right);
const answers =
  (text: string): Behaviour =>
  (socket) =>
    void socket.write(text);
const listOf = (numbers: readonly number[]): string =>
  `*${numbers.length}\r\n${numbers.map((one) => `:${one}\r\n`).join('')}`;
/** Later than Redis is waited for: with the next of these answers. */
const late = (): Behaviour => {
  const waiting: (() => unknown)[] = [];
  return (socket, right) => {
    for (const answer of waiting.splice(0)) answer();
    waiting.push(() => socket.destroyed || socket.write(right));
  };
};
const half: Behaviour = (socket, right) => void socket.write(right.subarray(0, right.length / 2));
const halfAndEnd: Behaviour = (socket, right) => void socket.end(right.subarray(0, right.length / 2));
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

/** A way to a Redis on which its answers are exchanged. */
class Way {
  behaviour = answersRight;
  /** Whether new connections are accepted: without them a service that has lost its Redis stays without it. */
  accepts = true;
  /** The commands of the service: an answer can be lost that comes after the service has given up. */
  commands = 0;
  private readonly server = createServer((socket) => {
    if (!this.accepts) return void socket.destroy();
    const redis = connect(this.port, '127.0.0.1').on('data', (answer) => {
      this.behaviour(socket, answer);
    });
    socket.on('data', (command) => {
      this.commands++;
      redis.write(command);
    });
    socket.on('error', () => undefined).on('close', () => redis.destroy());
    redis.on('error', () => undefined).on('close', () => socket.destroy());
  });

  constructor(private readonly port: number) {}

  async open(): Promise<string> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return `redis://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
  }
}

describeWithRedis('a Redis that answers', () => {
  const given = useRedisServices();
  let way: Way;
  let url: string;
  beforeEach(async () => {
    way = new Way(given.redis.port);
    url = await way.open();
  });
  afterEach(() => way.close());

  it.each(someOf(MISBEHAVIOURS, 3))(
    '%s: delays at most one request, and the limit is held by the service alone until Redis is right again',
    async (_, behaviour, reason) => {
      const service = await given.started({ REDIS_URL: url });
      expect(remaining(await service.ask())).toBe(LIMIT - 1);
      way.behaviour = behaviour;
      // However long the requests take: no probe of a new connection succeeds between them.
      way.accepts = false;
      const { commands } = way;
      if (reason === 'TIMEOUT') giveUpSoon();
      const statuses: number[] = [];
      for (let count = 0; count < LIMIT; count++) {
        const answer = await service.ask();
        if (answer.status !== 404) expectFailure(answer, 429, 'rate_limit_exceeded');
        statuses.push(answer.status);
      }
      expect(statuses.filter((status) => status === 404)).toHaveLength(LIMIT - 1);
      expect(way.commands - commands).toBe(1);
      expect([await service.health(), service.redisLog]).toEqual(['degraded', [`warn: ${reason}`]]);
      way.behaviour = answersRight;
      way.accepts = true;
      await given.redis.client.flushall();
      beginPatience();
      await until(service.isWhole);
      expect(remaining(await service.ask())).toBe(LIMIT - 1);
      expect(service.redisLog).toEqual([`warn: ${reason}`, 'info: back']);
    },
  );

  it('right in time: counts all requests, and none is counted by the service alone', async () => {
    const service = await given.started({ REDIS_URL: url });
    way.behaviour = (socket, right) => void setTimeout(() => socket.write(right), 20);
    for (let count = 1; count <= 5; count++) expect(remaining(await service.ask())).toBe(LIMIT - count);
    expect([service.fallbacks, await service.health(), service.redisLog]).toEqual([0, 'ok', []]);
  });

  it('right after it was flushed: begins the windows anew, and refuses nothing', async () => {
    const service = await given.started({ REDIS_URL: url });
    await service.askAtOnce(10);
    await given.redis.client.flushall();
    expect(remaining(await service.ask())).toBe(LIMIT - 1);
    expect([service.fallbacks, service.redisLog]).toEqual([0, []]);
  });

  it.each(someOf(MISBEHAVIOURS, 6))(
    '%s at the start: the service starts and is degraded',
    async (_, behaviour, reason) => {
      way.behaviour = behaviour;
      if (reason === 'TIMEOUT') giveUpSoon();
      const service = await given.started({ REDIS_URL: url });
      const answered = await service.askAtOnce(LIMIT + 5);
      expect(answered.filter(({ status }) => status === 404)).toHaveLength(LIMIT);
      expect(await service.health()).toBe('degraded');
    },
  );
});
