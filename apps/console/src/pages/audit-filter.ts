import { AUDIT_EVENT_TYPES } from '@lethe/sdk';
import { isId } from './user-ids';

export const SOURCES = ['service', 'client'] as const;

/** What the log is asked for. Days are those of the browser; the last one counts whole. */
export interface AuditFilter {
  readonly type?: (typeof AUDIT_EVENT_TYPES)[number];
  readonly server?: string;
  readonly user?: string;
  readonly source?: (typeof SOURCES)[number];
  readonly from?: string;
  readonly to?: string;
}

/** Where a screen begins: a cursor of the service, and rows behind it that an earlier screen has shown. */
export interface Place {
  readonly after: string;
  readonly skip: number;
}

export interface Asked {
  readonly filter: AuditFilter;
  readonly place?: Place;
  /** What the address has that is no filter, as it is written there. */
  readonly bad: readonly string[];
}

const CURSOR = /^[\w.-]{1,500}$/;
const SKIP_MAX = 100;

const isOneOf = (list: readonly string[]) => (text: string) => list.includes(text);
const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(beginOf(text));

const TESTS: Readonly<Record<keyof AuditFilter, (text: string) => boolean>> = {
  type: isOneOf(AUDIT_EVENT_TYPES),
  server: isId,
  user: isId,
  source: isOneOf(SOURCES),
  from: isDay,
  to: isDay,
};
export const FILTERS = Object.keys(TESTS) as (keyof AuditFilter)[];

/** What an address asks for. What is not understood is named and not applied. */
export function askedBy(search: string): Asked {
  const given = new URLSearchParams(search);
  const filter: Record<string, string> = {};
  const bad: string[] = [];
  for (const name of FILTERS) {
    const text = given.get(name);
    if (text === null || text === '') continue;
    if (TESTS[name](text)) filter[name] = text;
    else bad.push(`${name}=${text}`);
  }
  const after = given.get('after') ?? '';
  const skip = Number(given.get('skip') ?? 0);
  const isPlace = CURSOR.test(after) && Number.isInteger(skip) && skip >= 0 && skip <= SKIP_MAX;
  return { filter: filter, bad, ...(isPlace && { place: { after, skip } }) };
}

/** The query of the address that asks for this; empty for the whole log. */
export function searchOf(filter: AuditFilter, place?: Place): string {
  const pairs = FILTERS.flatMap((name) => {
    const text = filter[name];
    return text === undefined ? [] : [[name, text] as [string, string]];
  });
  if (place !== undefined) {
    pairs.push(['after', place.after]);
    if (place.skip > 0) pairs.push(['skip', String(place.skip)]);
  }
  const text = new URLSearchParams(pairs).toString();
  return text === '' ? '' : `?${text}`;
}

/** The first moment of a day of the browser. */
export function beginOf(day: string): number {
  return new Date(`${day}T00:00`).getTime();
}

/** The first moment after a day of the browser, also on days of 23 or 25 hours. */
export function endOf(day: string): number {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + 1).getTime();
}
