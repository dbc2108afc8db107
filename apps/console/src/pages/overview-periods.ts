import type { lethe } from '../service';
import type { TextName } from '../texts.en';

export type Stats = Awaited<ReturnType<typeof lethe.stats>>;
export type Bucket = Stats['buckets'][number];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How much of the past the overview shows. */
export interface Period {
  readonly name: TextName;
  readonly bucket: 'hour' | 'day';
  readonly count: number;
}

export const PERIODS: readonly Period[] = [
  { name: 'hours48', bucket: 'hour', count: 48 },
  { name: 'days30', bucket: 'day', count: 30 },
  { name: 'days90', bucket: 'day', count: 90 },
  { name: 'days400', bucket: 'day', count: 400 },
];

export const FIRST_PERIOD: Period = { name: 'days30', bucket: 'day', count: 30 };

const lengthOf = ({ bucket }: Period): number => (bucket === 'hour' ? HOUR_MS : DAY_MS);

/** What to ask the service for. */
export function queryOf(period: Period, nowMs: number): { bucket: 'hour' | 'day'; from: string } {
  const fromMs = nowMs - (period.count - 1) * lengthOf(period);
  return { bucket: period.bucket, from: new Date(fromMs).toISOString().slice(0, 10) };
}

/** An hour or day of a plot; without a bucket where nothing happened. */
export interface Moment {
  readonly atMs: number;
  readonly bucket: Bucket | undefined;
}

/** The service leaves out hours and days in which nothing happened; a plot needs them. */
export function momentsOf(period: Period, buckets: readonly Bucket[], nowMs: number): Moment[] {
  const known = new Map(buckets.map((bucket) => [Date.parse(bucket.at), bucket]));
  const stepMs = lengthOf(period);
  const lastMs = Math.max(Math.floor(nowMs / stepMs) * stepMs, ...known.keys());
  return Array.from({ length: period.count }, (_, at) => {
    const atMs = lastMs - (period.count - 1 - at) * stepMs;
    return { atMs, bucket: known.get(atMs) };
  });
}
