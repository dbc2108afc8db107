import { createLogger } from '@app/kernel';
import type { LetheResponse } from './request-context';
import { answerStream, AnswerStream } from './streams';
import { type OpenStream, type StreamLimits, StreamSlots } from './stream-slots';

type Stream = { -readonly [Key in keyof OpenStream]: OpenStream[Key] };

/** The streams of a test, by name: the first letter is the caller; behind a colon is the person of a page. */
class Streams {
  readonly slots: StreamSlots;
  readonly cut: string[] = [];
  /** Whether a cut stream stays open until it is freed, as on a busy process. */
  endsLate = false;
  private readonly known = new Map<string, { stream: OpenStream; taken: Promise<void> }>();

  constructor(limits: StreamLimits) {
    this.slots = new StreamSlots(limits);
  }

  /** Asks for room, for a stream that has waited for its reader for `stalledMs` of the virtual clock. */
  take(name: string, stalledMs?: number): Promise<void> {
    const stalledSinceMs = stalledMs === undefined ? undefined : performance.now() - stalledMs;
    const cut = (): void => {
      this.cut.push(name);
      // Its reader is no longer waited for.
      stream.stalledSinceMs = undefined;
      if (!this.endsLate) this.free(name);
    };
    const stream: Stream = { caller: name[0]!, person: name.split(':')[1], stalledSinceMs, cut };
    const taken = this.slots.take(stream);
    taken.catch(() => undefined);
    this.known.set(name, { stream, taken });
    return taken;
  }

  free(name: string): void {
    this.slots.free(this.known.get(name)!.stream);
  }

  /** What has happened to each until now. */
  async states(): Promise<Record<string, string>> {
    const states = [...this.known].map(async ([name, { taken }]) => {
      const waits = new Promise<string>((resolve) =>
        jest.requireActual<typeof import('node:timers')>('node:timers').setImmediate(resolve, 'waits'),
      );
      return [
        name,
        await Promise.race([
          taken.then(
            () => 'open',
            () => 'refused',
          ),
          waits,
        ]),
      ] as const;
    });
    return Object.fromEntries(await Promise.all(states));
  }
}

describe('the open streams', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  it('are bounded for each bot: as many more wait, and further ones are refused', async () => {
    const streams = new Streams({ streamsMax: 100, streamsPerBot: 2 });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1']) void streams.take(name).catch(() => undefined);
    const then = { a1: 'open', a2: 'open', a4: 'waits', a5: 'refused', b1: 'open' };
    expect(await streams.states()).toEqual({ ...then, a3: 'waits' });
    streams.free('a1');
    expect(await streams.states()).toEqual({ ...then, a3: 'open' });
  });

  it('are two of a person on the pages of a bot, two more wait, and others of the bot have their room', async () => {
    const streams = new Streams({ streamsMax: 100, streamsPerBot: 8 });
    for (const name of ['a1:x', 'a2:x', 'a3:x', 'a4:x', 'a5:x', 'a6:y', 'b1:x']) void streams.take(name);
    const then = { 'a1:x': 'open', 'a2:x': 'open', 'a4:x': 'waits', 'a5:x': 'refused' };
    expect(await streams.states()).toEqual({ ...then, 'a3:x': 'waits', 'a6:y': 'open', 'b1:x': 'open' });
    streams.free('a1:x');
    expect(await streams.states()).toMatchObject({ ...then, 'a3:x': 'open' });
  });

  it('are bounded in all, and those that wait for others hold up no bot with room', async () => {
    const streams = new Streams({ streamsMax: 3, streamsPerBot: 2 });
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) void streams.take(name);
    expect(await streams.states()).toMatchObject({ a3: 'waits', b1: 'open', c1: 'waits' });
    streams.free('b1');
    expect(await streams.states()).toMatchObject({ a3: 'waits', c1: 'open' });
  });

  it('give the room of an ended one to one answer, not also to one that asks in the same moment', async () => {
    const streams = new Streams({ streamsMax: 1, streamsPerBot: 1 });
    await streams.take('a1');
    void streams.take('b1');
    streams.free('a1');
    void streams.take('c1');
    expect(await streams.states()).toMatchObject({ b1: 'open', c1: 'waits' });
  });

  it('are waited for at most five seconds, then answered 503', async () => {
    const streams = new Streams({ streamsMax: 1, streamsPerBot: 1 });
    await streams.take('a1');
    const waiting = streams.take('a2');
    jest.advanceTimersByTime(5_000);
    await expect(waiting).rejects.toMatchObject({ code: 'service_unavailable' });
    streams.free('a1');
    await streams.take('a3');
  });

  it('are cut for others that wait, the one that has waited longest for its reader first', async () => {
    const streams = new Streams({ streamsMax: 4, streamsPerBot: 2 });
    await streams.take('a1', 2_000);
    await streams.take('a2', 9_000);
    await streams.take('b1', 800);
    await streams.take('b2');
    for (const name of ['c1', 'd1', 'e1']) void streams.take(name);
    jest.advanceTimersByTime(500);
    expect(streams.cut).toEqual(['a2', 'a1', 'b1']);
    expect(await streams.states()).toMatchObject({ b2: 'open', c1: 'open', d1: 'open', e1: 'open' });
  });

  it('are cut once for each that waits, also while the cut ones are still ending', async () => {
    const streams = new Streams({ streamsMax: 3, streamsPerBot: 2 });
    streams.endsLate = true;
    for (const [at, name] of ['a1', 'a2', 'b1'].entries()) await streams.take(name, 9_000 - at);
    void streams.take('c1');
    jest.advanceTimersByTime(2_000);
    expect(streams.cut).toEqual(['a1']);
    void streams.take('d1');
    jest.advanceTimersByTime(2_000);
    expect(streams.cut).toEqual(['a1', 'a2']);
    for (const name of streams.cut) streams.free(name);
    expect(await streams.states()).toMatchObject({ b1: 'open', c1: 'open', d1: 'open' });
  });

  it('are cut once more for one that waits where another answer got the place', async () => {
    const streams = new Streams({ streamsMax: 3, streamsPerBot: 2 });
    for (const [at, name] of ['a1', 'a2', 'b1'].entries()) await streams.take(name, 9_000 - at);
    // The bot of the first cut stream has one that waits for longer.
    for (const name of ['a3', 'c1']) void streams.take(name);
    jest.advanceTimersByTime(4_000);
    expect(streams.cut).toEqual(['a1', 'a2']);
    expect(await streams.states()).toMatchObject({ a3: 'open', c1: 'open', b1: 'open' });
  });

  it('are not cut for a bot that reads as many itself, nor while they are taken', async () => {
    const streams = new Streams({ streamsMax: 3, streamsPerBot: 2 });
    await streams.take('a1', 9_000);
    await streams.take('a2');
    const waiting = streams.take('a3');
    await streams.take('b1');
    jest.advanceTimersByTime(5_000);
    await expect(waiting).rejects.toThrow();
    streams.free('a1');
    await streams.take('a4');
    void streams.take('c1').catch(() => undefined);
    jest.advanceTimersByTime(5_000);
    expect(streams.cut).toEqual([]);
  });
});

describe('a streamed answer that finds no room', () => {
  it.each([false, true])(
    'is logged and counted once as 503; its caller has closed: %s',
    async (destroyed) => {
      const slots = new StreamSlots({ streamsMax: 1, streamsPerBot: 1 });
      slots.waitMs = 0;
      await slots.take({ caller: 'a', cut: () => undefined });
      const answered = jest.fn();
      const lines: string[] = [];
      const logger = createLogger('info', { write: (line: string) => void lines.push(line) });
      const context = { id: 'one', startedMs: 0, meter: { answered }, spans: {}, logger };
      const request = { method: 'GET', headers: {}, complete: true, context, route: { path: '/export' } };
      const [writeHead, end, destroy] = [jest.fn(), jest.fn(), jest.fn()];
      const response = { req: request, destroyed, writeHead, end, destroy } as unknown as LetheResponse;
      await answerStream(response, 200, new AnswerStream(() => Promise.resolve()), slots);
      expect(answered.mock.calls).toEqual([['GET', '/export', 503, expect.any(Number)]]);
      expect(lines.filter((line) => line.includes('"status":503'))).toHaveLength(1);
      expect(writeHead).toHaveBeenCalledTimes(destroyed ? 0 : 1);
    },
  );
});
