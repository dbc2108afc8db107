import { setTimeout as pause } from 'node:timers/promises';
import { RateLimitedError } from '@lethe/sdk';
import { EXIT, failureOf } from './failures';
import type { Session } from './session';

/** A unit of the service may commit later than another one whose row has a later time. */
const OVERLAP_MS = 60_000;
/** After so many old rows in turn none is new. Fewer can be of a process whose clock is behind, among those of others. */
const OLD_MAX = 50;

interface Row {
  readonly id: string;
  readonly created_at: string;
}

/** The rows of a list since a moment, each once, also those that become visible late. */
export class NewRows<R extends Row> {
  /** The time of each row that was answered and can still be met in the list. */
  private readonly seen = new Map<string, number>();
  private latestMs: number;

  constructor(
    /** Begins the list anew, newest first. */
    private readonly list: () => AsyncIterable<R>,
    private readonly fromMs: number,
    /** The time of the service. A row with a later one was written by a clock that was ahead. */
    private readonly nowMs: () => number,
  ) {
    this.latestMs = fromMs;
  }

  /** How many rows are kept in mind: those of the last minutes, not all that were answered. */
  get remembered(): number {
    return this.seen.size;
  }

  /** What was not answered before, oldest first. A row counts as answered once the next one is asked for. */
  async *next(): AsyncGenerator<R, void, undefined> {
    const found: R[] = [];
    // The list is sorted by places, which follow the times to within the overlap.
    const untilMs = Math.max(this.fromMs, this.latestMs - OVERLAP_MS) - OVERLAP_MS;
    const met = new Set<string>();
    /** How many of the found ones are before the last known row: an old one behind it was answered and forgotten. */
    let ahead = -1;
    let inTurn = 0;
    for await (const row of this.list()) {
      const atMs = Date.parse(row.created_at);
      if (atMs >= untilMs) inTurn = 0;
      else if ((ahead >= 0 || atMs < this.fromMs) && ++inTurn === OLD_MAX) break;
      met.add(row.id);
      if (this.seen.has(row.id)) ahead = found.length;
      else if (atMs >= this.fromMs) found.push(row);
    }
    for (const [id, atMs] of this.seen) if (atMs < untilMs && !met.has(id)) this.seen.delete(id);
    const isNew = (row: R, place: number): boolean => place < ahead || Date.parse(row.created_at) >= untilMs;
    for (const row of found.filter(isNew).reverse()) {
      yield row;
      const atMs = Date.parse(row.created_at);
      this.seen.set(row.id, atMs);
      this.latestMs = Math.max(this.latestMs, Math.min(atMs, this.nowMs()));
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

/** The time of the service, never a later one. Known after its first answer. */
export function nowOf({ clock }: Session): number {
  // The service may have answered at the end of a slow request: a time that is estimated too late would miss what follows.
  return Date.now() - (clock === undefined ? 0 : clock.answeredMs - clock.serviceMs);
}

/** The time of the service at which a command begins: `since`, else now. */
export function beginOf(session: Session, since: string | undefined): number {
  // `since` may be a time that the service has named, so that a clock that is behind makes it no later.
  return since === undefined ? nowOf(session) : Date.parse(since) - Math.max(0, Date.now() - nowOf(session));
}
