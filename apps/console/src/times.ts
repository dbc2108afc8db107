import type { TEXTS } from './texts';

/** Here, since this file is also loaded without the types of a browser. */
export type Language = keyof typeof TEXTS;

/** With the day before the month in both languages. */
export function localeOf(language: Language): string {
  return language === 'de' ? 'de' : 'en-GB';
}

/** Days as every page shows them, in the time zone of the browser unless another is named. */
export function days(language: Language, timeZone?: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'medium', timeZone });
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;
/** From this age on a date says more than a distance. */
const DATE_FROM_DAYS = 7;

/**
 * How long ago a time was, or in how long it is, in whole units that have passed; its day from a week on; undefined within a
 * minute. A distance of days is no name of a day: 47 hours ago can be the day before yesterday.
 */
export function ago(language: Language, at: string): string | undefined {
  const ms = Date.parse(at) - Date.now();
  const [unit, size] = UNITS.find(([, each]) => Math.abs(ms) >= each) ?? [];
  if (unit === undefined) return undefined;
  if (unit === 'day' && Math.abs(ms) >= DATE_FROM_DAYS * size) return days(language).format(new Date(at));
  return new Intl.RelativeTimeFormat(language).format(Math.trunc(ms / size), unit);
}
