import type { Schemas } from '@lethe/sdk';
import type { TextName } from '../texts';

export type Bucket = Schemas['StatsBucket'];
export type Stats = Schemas['StatsView'];
export type ConsentCount = Schemas['ConsentCountView'];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How much of the past the overview shows. */
export interface Period {
  /** Its name in the address. */
  readonly key: string;
  readonly name: TextName;
  readonly bucket: 'hour' | 'day';
  /** Its hours or days. */
  readonly count: number;
}

const USUAL: Period = { key: '30d', name: 'period30d', bucket: 'day', count: 30 };

export const PERIODS: readonly Period[] = [
  { key: '24h', name: 'period24h', bucket: 'hour', count: 24 },
  { key: '7d', name: 'period7d', bucket: 'day', count: 7 },
  USUAL,
  { key: '90d', name: 'period90d', bucket: 'day', count: 90 },
];

/** The period of an address; the usual one for a name that is none. */
export function periodOf(key: string | null): Period {
  return PERIODS.find((period) => period.key === key) ?? USUAL;
}

const lengthOf = ({ bucket }: Period): number => (bucket === 'hour' ? HOUR_MS : DAY_MS);

/** What to ask the service for: the period and the one before it. */
export function queryOf(period: Period, nowMs: number): { bucket: 'hour' | 'day'; from: string } {
  const fromMs = nowMs - (2 * period.count - 1) * lengthOf(period);
  return { bucket: period.bucket, from: new Date(fromMs).toISOString().slice(0, 10) };
}

/** An hour or day of a plot; without a bucket where nothing happened, and without a count where nothing was counted. */
export interface Moment {
  readonly atMs: number;
  readonly bucket: Bucket | undefined;
  /** Users in guilds under consent, of a day. */
  readonly underConsent: number | undefined;
}

export interface Compared {
  readonly before: readonly Moment[];
  readonly shown: readonly Moment[];
}

/** The moments of a period and of the one before. The service leaves out those in which nothing happened; a plot needs them. */
export function momentsOf(
  period: Period,
  { buckets, under_consent: counts }: Pick<Stats, 'buckets' | 'under_consent'>,
  nowMs: number,
): Compared {
  const known = new Map(buckets.map((bucket) => [Date.parse(bucket.at), bucket]));
  const days = new Map(period.bucket === 'day' ? counts.map((each) => [Date.parse(each.at), each]) : []);
  const stepMs = lengthOf(period);
  const { count } = period;
  // The service may be a moment ahead of the browser.
  const lastMs = Math.max(Math.floor(nowMs / stepMs) * stepMs, ...known.keys());
  const all = Array.from({ length: 2 * count }, (_, at) => {
    const atMs = lastMs - (2 * count - 1 - at) * stepMs;
    return { atMs, bucket: known.get(atMs), underConsent: days.get(atMs)?.subjects };
  });
  return { before: all.slice(0, count), shown: all.slice(count) };
}

/** The last count, and the one as long before it as the period is; undefined where there is none. */
export function consentsCompared(
  { bucket, count }: Period,
  counts: readonly ConsentCount[],
): { readonly now: ConsentCount | undefined; readonly before: ConsentCount | undefined } {
  const now = counts.at(-1);
  const beforeMs = Date.parse(now?.at ?? '') - (bucket === 'hour' ? 1 : count) * DAY_MS;
  return { now, before: counts.find(({ at }) => Date.parse(at) === beforeMs) };
}

export const sumOf = (moments: readonly Moment[], of: (bucket: Bucket) => number): number =>
  moments.reduce((sum, { bucket }) => sum + (bucket === undefined ? 0 : of(bucket)), 0);
