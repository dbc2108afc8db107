import { type AuditFilter, beginOf, endOf, type Place } from './audit-filter';

/** Rows of one screen. */
const SCREEN = 20;
/** Rows of one call, where many of them may be left out. */
const WIDE = 100;
/** Calls of one screen at most: all sessions of a bot share a budget of calls. */
const LOOKS_MAX = 10;
/** Events come in the order of their commits, which is that of their times but for less than this. */
const DISORDER_MS = 60_000;

/** An event as the service answers it. */
export interface ShownEvent {
  readonly id: string;
  readonly user_id: string;
  readonly guild_id: string;
  readonly event_type: string;
  readonly source: string;
  readonly details: object | null;
  readonly created_at: string;
  readonly erased?: boolean;
  readonly unreadable?: boolean;
}

interface Answered {
  readonly events: readonly ShownEvent[];
  readonly total: number;
  /** The cursor behind the last event; null where it is the oldest. */
  readonly next: string | null;
}

/** Reads a part of the log, newest first, by what the service itself can filter. */
export type Read = (given: {
  readonly after?: string;
  readonly page?: number;
  readonly page_size: number;
}) => Promise<Answered>;

/** What one screen shows. */
export interface Screen {
  readonly events: readonly ShownEvent[];
  /** How many events there are, where the service has counted them. */
  readonly total?: number;
  /** Where the next screen begins; absent where nothing follows. */
  readonly next?: Place;
  /** Set where the look was ended before the screen was full: the time up to which was looked. */
  readonly lookedTo?: string;
}

/** What of the filter the service does not know. */
export function isAmong(
  { source, from, to }: AuditFilter,
  { source: by, created_at: at }: Pick<ShownEvent, 'source' | 'created_at'>,
): boolean {
  const ms = Date.parse(at);
  if (source !== undefined && source !== by) return false;
  return (from === undefined || ms >= beginOf(from)) && (to === undefined || ms < endOf(to));
}

/** The rows of one screen: it reads until it is full, the log or the time ends, or a bound is met. */
export async function screenOf(read: Read, filter: AuditFilter, place?: Place): Promise<Screen> {
  const events: ShownEvent[] = [];
  const isCounted = [filter.source, filter.from, filter.to].every((each) => each === undefined);
  let looks = 0;
  for await (const { answered, skip, after, isEnd } of partsOf(read, filter, place)) {
    const total = isCounted && { total: answered.total };
    for (let at = skip; at < answered.events.length; at++) {
      const event = answered.events[at];
      if (event === undefined || !isAmong(filter, event)) continue;
      events.push(event);
      if (events.length < SCREEN) continue;
      const rest = at + 1 < answered.events.length ? after : undefined;
      if (rest !== undefined) return { events, ...total, next: { after: rest, skip: at + 1 } };
      return { events, ...total, ...nextOf(answered, isEnd) };
    }
    if (isEnd) return { events, ...total };
    if ((looks += 1) === LOOKS_MAX)
      return {
        ...{ events, ...total, ...nextOf(answered, isEnd) },
        lookedTo: answered.events.at(-1)?.created_at ?? '',
      };
  }
  return { events };
}

/** All rows of a filter up to a bound, for a file. */
export async function rowsOf(
  read: Read,
  filter: AuditFilter,
  max: number,
  onRead: (rows: number) => void,
): Promise<{ readonly rows: readonly ShownEvent[]; readonly isWhole: boolean }> {
  const rows: ShownEvent[] = [];
  let looked = 0;
  for await (const { answered, isEnd } of partsOf(read, filter, undefined, WIDE)) {
    rows.push(...answered.events.filter((event) => isAmong(filter, event)));
    onRead(rows.length);
    looked += answered.events.length;
    if (isEnd) return { rows, isWhole: true };
    if (looked >= max) return { rows, isWhole: false };
  }
  return { rows, isWhole: true };
}

function nextOf({ next }: Answered, isEnd: boolean): { readonly next?: Place } {
  return next === null || isEnd ? {} : { next: { after: next, skip: 0 } };
}

interface Part {
  readonly answered: Answered;
  readonly skip: number;
  /** The cursor in front of the part; absent for the first one. */
  readonly after?: string;
  readonly isEnd: boolean;
}

/** The log in parts from a place on. A first part has no cursor, so it is no larger than a screen. */
async function* partsOf(
  read: Read,
  filter: AuditFilter,
  place?: Place,
  width = filter.source === undefined ? SCREEN : WIDE,
): AsyncGenerator<Part, void, undefined> {
  let after = place?.after;
  let skip = place?.skip ?? 0;
  const page = after === undefined && filter.to !== undefined ? await pageAt(read, endOf(filter.to)) : 1;
  for (;;) {
    const answered = await read(
      after === undefined ? { page, page_size: SCREEN } : { after, page_size: width },
    );
    const isEnd = answered.next === null || isBefore(answered, filter.from);
    yield { answered, skip, ...(after !== undefined && { after }), isEnd };
    if (isEnd || answered.next === null) return;
    [after, skip] = [answered.next, 0];
  }
}

function isBefore({ events }: Answered, from: string | undefined): boolean {
  const last = events.at(-1)?.created_at;
  return from !== undefined && last !== undefined && Date.parse(last) < beginOf(from) - DISORDER_MS;
}

/** The number of the first page with an event before a moment, found by halving: the log is in the order of time. */
async function pageAt(read: Read, ms: number): Promise<number> {
  const isOlder = ({ events: [event] }: Answered): boolean =>
    event === undefined || Date.parse(event.created_at) < ms + DISORDER_MS;
  const newest = await read({ page: 1, page_size: 1 });
  if (isOlder(newest)) return 1;
  let [low, high] = [1, Math.max(1, Math.ceil(newest.total / SCREEN))];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isOlder(await read({ page: middle * SCREEN, page_size: 1 }))) high = middle;
    else low = middle + 1;
  }
  return low;
}
