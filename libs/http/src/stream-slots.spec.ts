import { type OpenStream, type StreamLimits, StreamSlots } from './stream-slots';

/** The streams of a test, by name: the first letter is the caller; behind a colon is the person of a page. */
class Streams {
  readonly slots: StreamSlots;
  readonly cut: string[] = [];
  private readonly known = new Map<string, OpenStream>();

  constructor(limits: StreamLimits) {
    this.slots = new StreamSlots(limits);
  }

  /** Asks for room for each, and answers those that are refused. `stalledSinceMs` is since when they wait for their readers. */
  take(names: readonly string[], stalledSinceMs?: number): string[] {
    return names.filter((name) => {
      const cut = (): void => void this.cut.push(name);
      const stream = { caller: name[0]!, person: name.split(':')[1], stalledSinceMs, cut };
      this.known.set(name, stream);
      try {
        this.slots.take(stream);
        return false;
      } catch (error) {
        expect(error).toMatchObject({ code: 'service_unavailable' });
        return true;
      }
    });
  }

  free(name: string): void {
    this.slots.free(this.known.get(name)!);
  }
}

/** Seconds before the monotonic clock of this process began. */
const before = (seconds: number): number => -1_000 * seconds;
const JUST_NOW = Infinity;

describe('the open streams', () => {
  it('are bounded for each bot, and further ones are refused', () => {
    const streams = new Streams({ streamsMax: 100, streamsPerBot: 2 });
    expect(streams.take(['a1', 'a2', 'a3', 'b1'])).toEqual(['a3']);
    streams.free('a1');
    expect(streams.take(['a4', 'a5'])).toEqual(['a5']);
  });

  it('are two of a person on the pages of a bot, and others of the bot have their room', () => {
    const streams = new Streams({ streamsMax: 100, streamsPerBot: 8 });
    expect(streams.take(['a1:x', 'a2:x', 'a3:x', 'a4:y', 'b1:x'])).toEqual(['a3:x']);
    streams.free('a1:x');
    expect(streams.take(['a5:x'])).toEqual([]);
  });

  it('are bounded in all: those that have their readers are not cut', () => {
    const streams = new Streams({ streamsMax: 3, streamsPerBot: 2 });
    expect(streams.take(['a1', 'a2'])).toEqual([]);
    expect(streams.take(['b1'], JUST_NOW)).toEqual([]);
    expect(streams.take(['c1'])).toEqual(['c1']);
    streams.free('b1');
    expect(streams.take(['c2', 'd1'])).toEqual(['d1']);
    expect(streams.cut).toEqual([]);
  });

  it('are cut for others, the one that has waited longest for its reader first', () => {
    const streams = new Streams({ streamsMax: 4, streamsPerBot: 2 });
    streams.take(['a1'], before(2));
    streams.take(['a2'], before(9));
    streams.take(['b1'], before(1));
    streams.take(['b2']);
    expect(streams.take(['c1', 'd1', 'e1', 'f1'])).toEqual(['f1']);
    expect(streams.cut).toEqual(['a2', 'a1', 'b1']);
    // The end of one that was cut gives its room to no further one.
    streams.free('a2');
    expect(streams.take(['f2'])).toEqual(['f2']);
  });

  it('are not cut for a bot that has as many itself', () => {
    const streams = new Streams({ streamsMax: 2, streamsPerBot: 2 });
    streams.take(['a1', 'a2'], before(9));
    expect(streams.take(['a3'])).toEqual(['a3']);
    expect(streams.cut).toEqual([]);
  });
});
