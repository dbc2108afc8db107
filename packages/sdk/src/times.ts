const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const MOMENT =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;
const VALUE =
  /^(\d{4}-\d{2}-\d{2})(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/;

/** Whether `text` is an ISO 8601 date of a day that exists: 2026-02-30 is none. */
export function isDay(text: unknown): text is string {
  const [, year, month, day] = (typeof text === 'string' ? DAY.exec(text) : null) ?? [];
  if (day === undefined) return false;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

/** The time of an ISO 8601 date-time with its zone, on a day that exists; undefined for any other value. */
export function momentMs(text: unknown): number | undefined {
  const [, day] = (typeof text === 'string' ? MOMENT.exec(text) : null) ?? [];
  return isDay(day) ? Date.parse(String(text).toUpperCase()) : undefined;
}

/** Whether `text` is an ISO 8601 date, or date-time with or without a zone, of a day that exists. */
export function isDayOrTime(text: unknown): boolean {
  return typeof text === 'string' && isDay(VALUE.exec(text)?.[1]);
}
