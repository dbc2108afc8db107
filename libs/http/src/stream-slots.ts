import { ApiError } from '@app/kernel';

/** How long, in milliseconds, an answer waits for the end of another one. */
const WAIT_MS = 5_000;

interface Waiting {
  readonly caller: string;
  readonly begin: () => void;
}

/** The number of streamed answers that are open at the same time, in all and of each caller. */
export interface StreamLimits {
  readonly streamsMax: number;
  readonly streamsPerBot: number;
}

/**
 * Bounds the streamed answers that are open at the same time. A further one waits for the end of another one. As many
 * as may be open of a caller may wait.
 */
export class StreamSlots {
  private open = 0;
  private readonly openOf = new Map<string, number>();
  private readonly waiting = new Set<Waiting>();

  constructor(private readonly limits: StreamLimits) {}

  /** Resolves when the caller's answer may begin. Call {@link free} at its end. @throws ApiError 503 */
  async take(caller: string): Promise<void> {
    if (this.hasRoom(caller)) this.count(caller);
    else await this.turnOf(caller);
  }

  free(caller: string): void {
    this.open--;
    const left = (this.openOf.get(caller) ?? 1) - 1;
    if (left === 0) this.openOf.delete(caller);
    else this.openOf.set(caller, left);
    for (const next of this.waiting) {
      if (!this.hasRoom(next.caller)) continue;
      this.waiting.delete(next);
      next.begin();
      return;
    }
  }

  private hasRoom(caller: string): boolean {
    const { streamsMax, streamsPerBot } = this.limits;
    return this.open < streamsMax && (this.openOf.get(caller) ?? 0) < streamsPerBot;
  }

  private count(caller: string): void {
    this.open++;
    this.openOf.set(caller, (this.openOf.get(caller) ?? 0) + 1);
  }

  private turnOf(caller: string): Promise<void> {
    const others = [...this.waiting].filter((one) => one.caller === caller);
    if (others.length >= this.limits.streamsPerBot) throw tooMany();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(waiting);
        reject(tooMany());
      }, WAIT_MS);
      const begin = (): void => {
        clearTimeout(timer);
        // At once: an answer that asks before the waiting one continues must not find the same room.
        this.count(caller);
        resolve();
      };
      const waiting = { caller, begin };
      this.waiting.add(waiting);
    });
  }
}

function tooMany(): ApiError {
  return new ApiError(
    'service_unavailable',
    'Too many large answers are being read at the same time: read these first. The answer was made, but not sent',
  );
}
