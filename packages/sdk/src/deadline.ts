import { TimeoutError } from './errors';

/** The time of one call with all its attempts and waits, and the signal of the caller. */
export class Deadline {
  /** While the function of the key is awaited: nothing is sent before it answers. */
  awaitsKey = false;
  private readonly controller = new AbortController();
  /** By a clock that is never set: the time of the system can jump during a call. */
  private readonly endMs: number;
  private readonly timer: ReturnType<typeof setTimeout>;
  private readonly aborted: Promise<never>;
  private readonly onAbort = (): void => this.controller.abort(this.given?.reason);

  constructor(
    timeoutMs: number,
    private readonly given?: AbortSignal,
  ) {
    this.endMs = performance.now() + timeoutMs;
    const { signal } = this.controller;
    this.aborted = new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    this.aborted.catch(() => undefined);
    this.timer = setTimeout(() => {
      const message = this.awaitsKey
        ? `The function of key has not answered within ${timeoutMs} ms; nothing was sent.`
        : `The call took longer than ${timeoutMs} ms. Whether it took effect is unknown.`;
      this.controller.abort(new TimeoutError(message, { code: 'timeout' }));
    }, timeoutMs);
    if (given?.aborted === true) this.onAbort();
    else given?.addEventListener('abort', this.onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get leftMs(): number {
    return this.endMs - performance.now();
  }

  /** The promise, or the end of the time, whatever is first: an injected `fetch` may ignore its signal. */
  race<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.aborted]);
  }

  async sleep(ms: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      await this.race(new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))));
    } finally {
      clearTimeout(timer);
    }
  }

  /** The answer has begun: the time is no longer limited, and the signal of the caller still ends it. */
  begun(): void {
    clearTimeout(this.timer);
  }

  end(): void {
    clearTimeout(this.timer);
    this.given?.removeEventListener('abort', this.onAbort);
  }
}
