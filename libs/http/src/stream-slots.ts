import { ApiError } from '@app/kernel';

/** How long an answer waits for its reader before it may be cut for another one, in milliseconds. */
const STALLED_MS = 1_000;
/** The answers that are open at the same time of one person on pages. */
const STREAMS_PER_PERSON = 2;

/** An answer that is being sent. */
export interface OpenStream {
  readonly caller: string;
  /** Whom the answer is about, on a page; undefined for the call of a bot. */
  readonly person?: string | undefined;
  /** Since when the answer waits for its reader, on the monotonic clock; undefined while it does not. */
  readonly stalledSinceMs?: number | undefined;
  readonly cut: () => void;
}

/** The number of streamed answers that are open at the same time, in all and of each caller. */
export interface StreamLimits {
  readonly streamsMax: number;
  readonly streamsPerBot: number;
}

/**
 * Bounds the streamed answers that are open at the same time. A further one is refused, or cuts the stalled one of any
 * caller that has waited longest for its reader, if only the number of all is reached.
 */
export class StreamSlots {
  private readonly open = new Set<OpenStream>();
  stalledMs = STALLED_MS;

  constructor(private readonly limits: StreamLimits) {}

  /** The number of open answers that wait for their readers. */
  get stalled(): number {
    return [...this.open].filter(({ stalledSinceMs }) => stalledSinceMs !== undefined).length;
  }

  /** Call {@link free} at the end of the answer. @throws ApiError 503 */
  take(stream: OpenStream): void {
    if (!this.hasShare(stream) || (this.open.size >= this.limits.streamsMax && !this.cutStalled()))
      throw new ApiError(
        'service_unavailable',
        'Too many large answers are being read at the same time: read these first, then repeat the request',
      );
    this.open.add(stream);
  }

  free(stream: OpenStream): void {
    this.open.delete(stream);
  }

  private hasShare({ caller, person }: OpenStream): boolean {
    const ofCaller = [...this.open].filter((one) => one.caller === caller);
    const ofPerson = ofCaller.filter((one) => one.person === person);
    return (
      ofCaller.length < this.limits.streamsPerBot &&
      (person === undefined || ofPerson.length < STREAMS_PER_PERSON)
    );
  }

  /** Whether a stalled answer was cut. */
  private cutStalled(): boolean {
    let found: OpenStream | undefined;
    let sinceMs = performance.now() - this.stalledMs;
    for (const one of this.open) {
      if (one.stalledSinceMs === undefined || one.stalledSinceMs > sinceMs) continue;
      [found, sinceMs] = [one, one.stalledSinceMs];
    }
    if (found === undefined) return false;
    this.open.delete(found);
    found.cut();
    return true;
  }
}
