import { ApiError, type Config } from '@app/kernel';

const WAIT_MS = 5_000;
/** How often, in milliseconds, a waiting answer looks for a stalled one, which has waited this long for its reader. */
const LOOK_MS = 500;
const STALLED_MS = 1_000;
/** The number of answers to one person on pages that are open at the same time, and that may wait. */
const STREAMS_PER_PERSON = 2;

/** An answer that is being sent. */
export interface OpenStream {
  readonly caller: string;
  /** The person whom the answer is about, on a page; undefined for the call of a bot. */
  readonly person?: string | undefined;
  /** When the answer began to wait for its reader, on the monotonic clock; undefined while it does not wait. */
  readonly stalledSinceMs?: number | undefined;
  readonly cut: () => void;
}

/** The number of streamed answers that are open at the same time, in all and of each caller. */
export type StreamLimits = Pick<Config, 'streamsMax' | 'streamsPerBot'>;

/**
 * Bounds the number of streamed answers that are open at the same time, in all and of each caller. A further one waits for
 * the end of another one; the number that may wait is the same. While an answer waits although its caller has room, it
 * cuts a stalled answer of any caller, the longest stalled first, and another one only once that one has ended.
 */
export class StreamSlots {
  private readonly open = new Set<OpenStream>();
  /** Open answers that were cut and have not ended yet. */
  private readonly ending = new Set<OpenStream>();
  /** Each answer that waits, with what begins it. */
  private readonly waiting = new Map<OpenStream, () => void>();

  /** How long, in milliseconds, an answer waits for the end of another one. */
  waitMs = WAIT_MS;

  constructor(private readonly limits: StreamLimits) {}

  /** The number of open answers that wait for their readers. */
  get stalled(): number {
    return [...this.open].filter(({ stalledSinceMs }) => stalledSinceMs !== undefined).length;
  }

  /** Resolves when the answer may begin. Call {@link free} at its end. @throws ApiError 503 */
  async take(stream: OpenStream): Promise<void> {
    if (this.hasRoom(stream)) this.open.add(stream);
    else await this.turnOf(stream);
  }

  free(stream: OpenStream): void {
    this.open.delete(stream);
    this.ending.delete(stream);
    for (const [next, begin] of this.waiting) {
      if (!this.hasRoom(next)) continue;
      this.waiting.delete(next);
      begin();
      return;
    }
  }

  private get isFull(): boolean {
    return this.open.size >= this.limits.streamsMax;
  }

  private hasRoom(stream: OpenStream): boolean {
    return !this.isFull && this.hasShare(stream);
  }

  private hasShare(stream: OpenStream): boolean {
    return this.isWithin([...this.open], stream);
  }

  /** Whether one more may be among these, of its caller and of its person. */
  private isWithin(streams: readonly OpenStream[], { caller, person }: OpenStream): boolean {
    const ofCaller = streams.filter((one) => one.caller === caller);
    if (ofCaller.length >= this.limits.streamsPerBot) return false;
    return (
      person === undefined || ofCaller.filter((one) => one.person === person).length < STREAMS_PER_PERSON
    );
  }

  private turnOf(stream: OpenStream): Promise<void> {
    if (!this.isWithin([...this.waiting.keys()], stream)) throw tooMany();
    return new Promise((resolve, reject) => {
      let cut: OpenStream | undefined;
      const look = setInterval(() => {
        const isEnding = cut !== undefined && this.ending.has(cut);
        if (!isEnding && this.isFull && this.hasShare(stream)) cut = this.cutStalled();
      }, LOOK_MS);
      const timer = setTimeout(() => {
        clearInterval(look);
        this.waiting.delete(stream);
        reject(tooMany());
      }, this.waitMs);
      this.waiting.set(stream, () => {
        clearInterval(look);
        clearTimeout(timer);
        // At once: an answer that asks before the waiting one continues must not find the same room.
        this.open.add(stream);
        resolve();
      });
    });
  }

  /** Returns the one that was cut. It ends a little later, on a busy process after the next look; another answer may get its place. */
  private cutStalled(): OpenStream | undefined {
    let found: OpenStream | undefined;
    let sinceMs = performance.now() - STALLED_MS;
    for (const one of this.open) {
      if (one.stalledSinceMs === undefined || one.stalledSinceMs >= sinceMs || this.ending.has(one)) continue;
      [found, sinceMs] = [one, one.stalledSinceMs];
    }
    if (found !== undefined) this.ending.add(found);
    found?.cut();
    return found;
  }
}

function tooMany(): ApiError {
  return new ApiError(
    'service_unavailable',
    'Too many large answers are being read at the same time: read these first',
  );
}
