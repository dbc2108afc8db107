import { invalidRequest } from '@app/kernel';
import type { StatsQuery } from './stats.dto';
import type { Period } from './stats.sql';

const DAY_MS = 86_400_000;
/** Days of the default period. */
const DEFAULT_DAYS = 30;
/** How far apart the first and the last day can be. The counts are kept for as long. */
export const KEPT_DAYS = 400;
/** The most days of hours in one answer. */
const HOURLY_DAYS = 31;

/** The period of a query at the time `nowIso`. @throws ApiError 400 for one that is empty or too long. */
export function periodOf({ from, to, bucket = 'day' }: StatsQuery, nowIso: string): Period {
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
