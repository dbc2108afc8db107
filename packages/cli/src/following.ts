import { setTimeout as pause } from 'node:timers/promises';
import { RateLimitedError } from '@lethe/sdk';
import { EXIT, failureOf } from './failures';
import type { Session } from './session';

/** A unit of the service may commit later than another one whose row has a later time. */
const OVERLAP_MS = 60_000;

interface Row {
  readonly id: string;
  readonly created_at: string;
}

/** Rows that are kept in mind where newer ones may be erased. */
const KEPT = 100;

/**
 * The rows of a list since a moment, each once, also those that become visible late. The times of the rows place none: a clock of
 * the service that was ahead for a moment leaves one that all later rows are before.
 */
export class NewRows<R extends Row> {
  /** When each row was met, by the monotonic clock of this computer. One that was old then counts as met earlier. */
  private readonly met = new Map<string, number>();
  /** Nothing new becomes visible behind a row that was met before it. */
  private settledMs = -Infinity;

  constructor(
    /** Begins the list anew, newest first. */
    private readonly list: () => AsyncIterable<R>,
    private readonly fromMs: number,
    private readonly monotonicMs = (): number => performance.now(),
  ) {}

  /** How many rows are kept in mind: those of the last minutes, not all that were answered. */
  get remembered(): number {
    return this.met.size;
  }

  /** What was not answered before, oldest first. A row counts as answered once the next one is asked for. */
  async *next(): AsyncGenerator<R, void, undefined> {
    const beganMs = this.monotonicMs();
    const found: R[] = [];
    let newestMs: number | undefined;
    for await (const row of this.list()) {
      const atMs = Date.parse(row.created_at);
      newestMs ??= atMs;
      // The list is sorted by places, which follow the times to within the overlap.
      if (atMs < this.fromMs - OVERLAP_MS || (this.met.get(row.id) ?? Infinity) <= this.settledMs) break;
      if (atMs >= this.fromMs && !this.met.has(row.id)) found.push(row);
    }
    for (const row of found.reverse()) {
      yield row;
      this.met.set(row.id, beganMs - Math.max(0, (newestMs ?? 0) - Date.parse(row.created_at)));
    }
    this.settledMs = beganMs - OVERLAP_MS;
    for (const [id, metMs] of this.met) {
      if (this.met.size <= KEPT || metMs > this.settledMs) break;
      this.met.delete(id);
    }
  }
}

/** Hands each new row to `act` until Ctrl+C. A service that does not answer, or wants fewer requests, is asked again. */
export async function follow<R extends Row>(
  { output, url }: Session,
  rows: NewRows<R>,
  intervalMs: number,
  act: (row: R) => unknown,
): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  while (!stop.signal.aborted) {
    let waitMs = intervalMs;
    try {
      for await (const row of rows.next()) await act(row);
    } catch (error) {
      const failure = failureOf(error, url);
      if (error instanceof RateLimitedError)
        waitMs = Math.max(intervalMs, (error.retryAfterSeconds ?? 0) * 1000);
      else if (failure.exitCode !== EXIT.unreachable) throw failure;
      output.note(`${failure.message} Trying again.`);
    }
    await pause(waitMs, undefined, { signal: stop.signal }).catch(() => undefined);
  }
}

/** The time of the service at which a command begins: `since`, else now by the clock of the service. Known after its first answer. */
export function beginOf({ clock }: Session, since: string | undefined): number {
  // The service may have answered at the end of a slow request: a time that is estimated too late would miss what follows.
  const skewMs = clock === undefined ? 0 : clock.answeredMs - clock.serviceMs;
  // `since` may be a time that the service has named, so that a clock that is behind makes it no later.
  return since === undefined ? Date.now() - skewMs : Date.parse(since) - Math.max(0, skewMs);
}
