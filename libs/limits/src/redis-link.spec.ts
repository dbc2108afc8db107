import { createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { RedisLink, RedisTimes } from './redis-link';

const NEVER = new Promise<never>(() => undefined);

describe('a link to a Redis, in virtual time', () => {
  let server: Server;
  let link: RedisLink;
  let times: RedisTimes;
  let connections: Socket[];
  let probes: number;
  let said: string[];

  /** Only the timers are virtual: connections are real, and may take long on a busy machine. */
  beforeEach(async () => {
    [connections, probes, said] = [[], 0, []];
    server = createServer((socket) => void connections.push(socket.on('error', () => undefined)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] });
    const { port } = server.address() as { port: number };
    const probe = () => Promise.resolve(++probes);
    const notice = { lost: (reason: string) => said.push(reason), regained: () => said.push('back') };
    times = Object.assign(new RedisTimes(), { connectMs: 600_000 });
    link = new RedisLink(`redis://127.0.0.1:${port}`, probe, notice, times);
    await link.start();
  });
  afterEach(() => {
    link.close();
    jest.useRealTimers();
    connections.forEach((socket) => socket.destroy());
    server.close();
  });

  const connects = (): number => jest.mocked(Redis.prototype.connect).mock.calls.length;
  const ended = (work: Promise<unknown>): { isEnded: boolean } => {
    const state = { isEnded: false };
    const note = () => (state.isEnded = true);
    void work.then(note, note);
    return state;
  };

  it('waits 50 ms for an answer, and no command waits after that', async () => {
    const asked = link.run(() => NEVER);
    const state = ended(asked);
    await jest.advanceTimersByTimeAsync(49);
    expect([state.isEnded, link.up]).toEqual([false, true]);
    jest.advanceTimersByTime(1);
    await expect(asked).rejects.toMatchObject({ code: 'TIMEOUT' });
    const next = jest.fn(() => NEVER);
    await expect(link.run(next)).rejects.toMatchObject({ code: 'AWAY' });
    expect([next.mock.calls.length, link.up, said]).toEqual([0, false, ['TIMEOUT']]);
  });

  it('takes an answer of the last millisecond', async () => {
    let answer: (text: string) => void = () => undefined;
    const asked = link.run(() => new Promise<string>((resolve) => (answer = resolve)));
    await jest.advanceTimersByTimeAsync(49);
    answer('right');
    await expect(asked).resolves.toBe('right');
    expect([link.up, said]).toEqual([true, []]);
  });

  it('takes an answer that has arrived while the event loop was busy for longer than that', async () => {
    let answer: (text: string) => void = () => undefined;
    const asked = link.run(() => new Promise<string>((resolve) => (answer = resolve)));
    // The timers are run before what has arrived is read.
    jest.advanceTimersByTime(10_000);
    answer('right');
    await expect(asked).resolves.toBe('right');
    expect([link.up, said]).toEqual([true, []]);
  });

  it('tries again half a second after each loss, until the probe passes', async () => {
    await expect(link.run(() => Promise.reject(new Error('OOM no')))).rejects.toThrow('OOM');
    await jest.advanceTimersByTimeAsync(499);
    expect([probes, said]).toEqual([1, ['OOM']]);
    jest.advanceTimersByTime(1);
    while (!link.up) await new Promise((resolve) => setImmediate(resolve));
    expect([probes, said]).toEqual([2, ['OOM', 'back']]);
  });

  it('gives a connection up that is not made within a second', async () => {
    times.connectMs = new RedisTimes().connectMs;
    jest.spyOn(Redis.prototype, 'connect').mockReturnValue(NEVER);
    void link.run(() => Promise.reject(new Error('OOM no'))).catch(() => undefined);
    await jest.advanceTimersByTimeAsync(500 + 999);
    expect(connects()).toBe(1);
    await jest.advanceTimersByTimeAsync(1 + 500);
    expect(connects()).toBe(2);
    jest.restoreAllMocks();
  });
});
