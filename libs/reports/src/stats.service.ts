import { EVENT_TYPES, eventsBehind, type HourlyEvents } from '@app/audit';
import { type Batches, type BotSweep, PeriodicJob, type Tx, UnitOfWork } from '@app/database';
import { ApiError, Clock, DAY_MS, invalidRequest } from '@app/kernel';
import { BatchSealer, lastSealed } from '@app/sealing';
import { Injectable } from '@nestjs/common';
import { consentCountsIn } from './consent-counting.job';
import { quantile } from './duration-steps';
import type { ConsentCountView, StatsBucket, StatsQuery, StatsView } from './reports.dto';
import {
  beginOf,
  type Counted,
  countsIn,
  ERASURE,
  KEPT_DAYS,
  LONGEST,
  type Period,
  WEBHOOK,
} from './stats.sql';

/** Days of the default period. */
const DEFAULT_DAYS = 30;
/** The most days of hours in one answer. */
const HOURLY_DAYS = 31;

/** The most unsealed events that one answer counts. Sealing has more left to do only after it has failed. */
const UNSEALED_MAX = 10_000;

/** What is known of a period, of one snapshot. */
interface Found {
  readonly counts: readonly Counted[];
  readonly underConsent: ConsentCountView[];
}

/**
 * Numbers over time. They always agree with the audit log: the stored counts of sealed batches and the events that are not
 * sealed yet are read in one snapshot.
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
    const { counts, underConsent } = await this.found(botId, periodOf(query, this.clock.nowIso()));
    return { buckets: bucketsOf(counts), under_consent: underConsent };
  }

  /** The numbers of the last days, today included, in one, with their first day. @throws ApiError 503 as {@link of} */
  async ofLastDays(botId: string, days: number): Promise<StatsBucket> {
    const nowIso = this.clock.nowIso();
    const from = dateOf(Date.parse(nowIso) - (days - 1) * DAY_MS);
    const period = periodOf({ from }, nowIso);
    return bucketOf(beginOf('day', from), (await this.found(botId, period)).counts);
  }

  private async found(botId: string, period: Period): Promise<Found> {
    const look = (): Promise<Found | undefined> =>
      this.unitOfWork.read((tx) => this.foundOf(tx, botId, period));
    let found = await look();
    if (found === undefined) {
      await this.sealer.sealNow(botId);
      found = await look();
    }
    if (found === undefined)
      throw new ApiError('service_unavailable', 'The latest events are not sealed yet: try again');
    return found;
  }

  /** Undefined where more events are unsealed than one answer counts. */
  private async foundOf(tx: Tx, botId: string, period: Period): Promise<Found | undefined> {
    const unsealed = await eventsBehind(tx, botId, await lastSealed(tx, botId), this.unsealedMax);
    if (unsealed === undefined) return undefined;
    const sealed = await countsIn(tx, botId, period);
    return {
      counts: [...sealed, ...unsealed.flatMap((each) => countedOf(each, period))],
      underConsent: await consentCountsIn(tx, botId, period),
    };
  }
}

/** The period of a query at the time `nowIso`. @throws ApiError 400 for one that is empty or too long. */
function periodOf({ from, to, bucket = 'day' }: StatsQuery, nowIso: string): Period {
  const lastMs = Date.parse(to ?? nowIso.slice(0, 10));
  const firstMs = from == null ? lastMs - (DEFAULT_DAYS - 1) * DAY_MS : Date.parse(from);
  const days = (lastMs - firstMs) / DAY_MS + 1;
  if (days < 1) throw fault(to == null ? 'must not be later than today' : 'must not be later than to');
  if (days > KEPT_DAYS + 1) throw fault(`must be at most ${KEPT_DAYS} days before to`);
  if (bucket === 'hour' && days > HOURLY_DAYS)
    throw fault(
      `must be at most ${HOURLY_DAYS - 1} days before to, for hours of at most ${HOURLY_DAYS} days`,
    );
  return { bucket, first: dateOf(firstMs), last: dateOf(lastMs) };
}

function fault(message: string): Error {
  return invalidRequest([{ field: 'from', message }]);
}

/** A day before the year 0 has another text form, and no counts. */
function dateOf(timeMs: number): string {
  const text = new Date(timeMs).toISOString();
  return text.startsWith('-') ? '0000-01-01' : text.slice(0, 10);
}

/** Unsealed events as a number of the period; none for events that a bot has posted, and for other days. */
function countedOf({ hour, event_type: name, source, total }: HourlyEvents, period: Period): Counted[] {
  const day = hour.slice(0, 10);
  if (source === 'client' || day < period.first || day > period.last) return [];
  return [{ at: beginOf(period.bucket, hour), name, number: total }];
}

function bucketsOf(counted: readonly Counted[]): StatsBucket[] {
  const byTime = new Map<string, Counted[]>();
  for (const each of counted) {
    if (each.number === 0) continue;
    const found = byTime.get(each.at);
    if (found === undefined) byTime.set(each.at, [each]);
    else found.push(each);
  }
  return [...byTime].sort(([one], [other]) => (one < other ? -1 : 1)).map(([at, own]) => bucketOf(at, own));
}

function bucketOf(at: string, counted: readonly Counted[]): StatsBucket {
  const counts = Object.fromEntries(EVENT_TYPES.map((type) => [type, 0]));
  const webhooks: StatsBucket['webhooks'] & Record<string, number> = {
    delivered: 0,
    failed: 0,
    exhausted: 0,
  };
  const steps = new Map<number, number>();
  let longestMs = 0;
  for (const { name, number } of counted) {
    // A bucket can have several numbers of a name: of its days, and of the events that are not sealed yet.
    if (name === LONGEST) longestMs = Math.max(longestMs, number);
    else if (name.startsWith(WEBHOOK)) add(webhooks, name.slice(WEBHOOK.length), number);
    else if (name.startsWith(ERASURE)) {
      const step = Number(name.slice(ERASURE.length));
      steps.set(step, (steps.get(step) ?? 0) + number);
    } else add(counts, name, number);
  }
  const of = { steps, longestMs };
  const times = { p50: quantile(of, 0.5), p95: quantile(of, 0.95), max: longestMs };
  return { at, counts, webhooks, erasure_ms: steps.size === 0 ? null : times };
}

function add(numbers: Record<string, number>, name: string, number: number): void {
  numbers[name] = (numbers[name] ?? 0) + number;
}

/** Removes the counts of days that ended more than 400 days ago, one day in each unit. */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class StatsRetention implements BotSweep {
  readonly name = 'stats-retention';
  readonly everyMs = 3_600_000;
  readonly bots = 'stats_counts';

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  async *batches(botId: string): Batches {
    const kept = this.clock.daysAgoIso(KEPT_DAYS).slice(0, 10);
    const sql = 'SELECT MIN(day) AS day FROM stats_counts WHERE bot_id = ?';
    const oldest = async (): Promise<string | null> =>
      (await this.unitOfWork.get<{ day: string | null }>(sql, botId))?.day ?? null;
    for (let day = await oldest(); day !== null && day < kept; day = await oldest()) {
      const removed = day;
      yield (tx) => tx.run('DELETE FROM stats_counts WHERE bot_id = ? AND day = ?', botId, removed);
    }
  }
}
