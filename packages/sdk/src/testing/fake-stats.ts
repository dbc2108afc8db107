import { isDay } from '../times';
import { AUDIT_EVENT_TYPES } from '../vocabulary';
import type { Json } from './fake-consent';
import { invalid } from './fake-refusal';

const DAY_MS = 86_400_000;

export interface Counted {
  readonly events: readonly Json[];
  /** The time of each webhook call. */
  readonly calls: readonly string[];
}

/** The answer of `GET /stats`. Every webhook call of the fake is delivered, no erasure takes time, and no day has ended. */
export function statsOf({ events, calls }: Counted, given: Json, nowIso: string): Json {
  const { from, until, isHourly } = periodOf(given, nowIso);
  const beginOf = (at: string): string =>
    isHourly ? `${at.slice(0, 13)}:00:00.000Z` : `${at.slice(0, 10)}T00:00:00.000Z`;
  const happened = [
    ...events
      .filter(({ source }) => source === 'service')
      .map(({ event_type, created_at }) => ({ name: String(event_type), at: beginOf(String(created_at)) })),
    ...calls.map((at) => ({ name: 'call', at: beginOf(at) })),
  ].filter(({ at }) => at >= from && at < until);
  const begins = [...new Set(happened.map(({ at }) => at))].sort();
  const buckets = begins.map((begin) => {
    const count = (name: string): number =>
      happened.filter((each) => each.at === begin && each.name === name).length;
    const none = count('deletion_completed') === 0;
    return {
      at: begin,
      counts: Object.fromEntries(AUDIT_EVENT_TYPES.map((type) => [type, count(type)])),
      webhooks: { delivered: count('call'), failed: 0, exhausted: 0 },
      erasure_ms: none ? null : { p50: 0, p95: 0, max: 0 },
    };
  });
  return { buckets, under_consent: [] };
}

function periodOf(given: Json, nowIso: string): { from: string; until: string; isHourly: boolean } {
  const { bucket = 'day' } = given;
  if (bucket !== 'day' && bucket !== 'hour') throw invalid('bucket', 'must be one of hour, day');
  const lastMs = dateOf(given, 'to') ?? Date.parse(nowIso.slice(0, 10));
  const firstMs = dateOf(given, 'from') ?? lastMs - 29 * DAY_MS;
  const days = (lastMs - firstMs) / DAY_MS + 1;
  if (days < 1 || days > (bucket === 'hour' ? 31 : 401)) throw invalid('from', 'is too far from to');
  const isoOf = (timeMs: number): string => new Date(timeMs).toISOString();
  return { from: isoOf(firstMs), until: isoOf(lastMs + DAY_MS), isHourly: bucket === 'hour' };
}

function dateOf(given: Json, name: string): number | undefined {
  const value = given[name];
  if (value === undefined) return undefined;
  if (!isDay(value)) throw invalid(name, 'must be a date without a time');
  return Date.parse(value);
}
