import { Injectable } from '@nestjs/common';
import { EVENT_TYPES, eventsBehind, type HourlyEvents } from '@app/audit';
import { type Tx, UnitOfWork } from '@app/database';
import { ApiError, Clock } from '@app/kernel';
import { BatchSealer, lastSealed } from '@app/sealing';
import { type Durations, quantile } from './duration-steps';
import { durationNamed, webhookEndOf } from './stat-names';
import type { StatsBucketView, StatsQuery, StatsView } from './stats.dto';
import { periodOf } from './stats.period';
import { beginOf, type Counted, countsIn, type Period } from './stats.sql';

/** The most unsealed events that one answer counts. Sealing is behind by so many only where it has failed. */
const UNSEALED_MAX = 10_000;

/**
 * Numbers over time, true to the audit log at every moment: the counts of what is sealed, and the unsealed events, read in
 * one snapshot.
 */
@Injectable()
export class StatsService {
  /** Tests lower it. */
  unsealedMax = UNSEALED_MAX;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly sealer: BatchSealer,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError 400 for an empty or too long period; 503 while too many events are not sealed yet. */
  async of(botId: string, query: StatsQuery): Promise<StatsView> {
    const period = periodOf(query, this.clock.nowIso());
    const look = (): Promise<Counted[] | undefined> =>
      this.unitOfWork.readAnywhere((tx) => this.countsOf(tx, botId, period));
    let counts = await look();
    if (counts === undefined) {
      await this.sealer.sealNow(botId);
      counts = await look();
    }
    if (counts === undefined)
      throw new ApiError('service_unavailable', 'The latest events are not sealed yet: try again');
    return { buckets: bucketsOf(counts) };
  }

  /** Undefined where more events are unsealed than one answer counts. */
  private async countsOf(tx: Tx, botId: string, period: Period): Promise<Counted[] | undefined> {
    const unsealed = await eventsBehind(tx, botId, await lastSealed(tx, botId), this.unsealedMax);
    if (unsealed === undefined) return undefined;
    return [...(await countsIn(tx, botId, period)), ...unsealed.flatMap((each) => countedOf(each, period))];
  }
}

/** Unsealed events as a number of the period; none for those of bots and of other days. */
function countedOf({ hour, event_type: name, source, total }: HourlyEvents, period: Period): Counted[] {
  const day = hour.slice(0, 10);
  if (source === 'client' || day < period.first || day > period.last) return [];
  return [{ at: beginOf(period.bucket, hour), name, number: total }];
}

function bucketsOf(counted: readonly Counted[]): StatsBucketView[] {
  const byTime = new Map<string, Counted[]>();
  for (const each of counted) {
    if (each.number === 0) continue;
    const found = byTime.get(each.at);
    if (found === undefined) byTime.set(each.at, [each]);
    else found.push(each);
  }
  return [...byTime].sort(([one], [other]) => (one < other ? -1 : 1)).map(([at, own]) => bucketOf(at, own));
}

function bucketOf(at: string, counted: readonly Counted[]): StatsBucketView {
  const counts = Object.fromEntries(EVENT_TYPES.map((type) => [type, 0]));
  const ends = { delivered: 0, failed: 0, exhausted: 0 };
  const durations = { erasure: noDurations(), latency: noDurations() };
  for (const { name, number } of counted) {
    const end = webhookEndOf(name);
    const duration = durationNamed(name);
    if (end !== undefined) ends[end] += number;
    else if (duration === undefined)
      // The unsealed events of a type are another number of it.
      counts[name] = (counts[name] ?? 0) + number;
    else if (duration.step === 'longest') durations[duration.timed].longestMs = number;
    else durations[duration.timed].steps.set(duration.step, number);
  }
  const webhooks = { ...ends, latency_ms: timesOf(durations.latency) };
  return { at, counts, webhooks, erasure_ms: timesOf(durations.erasure) };
}

function noDurations(): { readonly steps: Map<number, number>; longestMs: number } {
  return { steps: new Map(), longestMs: 0 };
}

function timesOf(of: Durations): StatsBucketView['erasure_ms'] {
  if (of.steps.size === 0) return null;
  return { p50: quantile(of, 0.5), p95: quantile(of, 0.95), max: of.longestMs };
}
