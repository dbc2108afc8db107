import { givenRows, type Tx } from '@app/database';
import { HOURS } from './stat-count.entity';

/**
 * The prefixes of the names that count no audit events, whose types have no colon: the ends of webhook calls, and the steps
 * of the durations of erasures.
 */
export const WEBHOOK = 'webhook:';
export const ERASURE = 'erasure:';
/** The longest duration of an erasure in milliseconds: the greatest number counts, not the sum. */
export const LONGEST = `${ERASURE}longest`;

/** How far apart the first and the last day of an answer can be. The numbers are kept for as long. */
export const KEPT_DAYS = 400;

/** What happened in one hour of a bot. */
export interface Happened {
  readonly botId: string;
  /** Any time of the hour. */
  readonly at: string;
  readonly name: string;
  /** How often; of {@link LONGEST} milliseconds. */
  readonly number: number;
}

/** A number of one hour or one day. */
export interface Counted {
  /** The first moment. */
  readonly at: string;
  readonly name: string;
  readonly number: number;
}

export const BUCKETS = ['hour', 'day'] as const;
export type Bucket = (typeof BUCKETS)[number];

/** The days of an answer, the last one included. */
export interface Period {
  readonly bucket: Bucket;
  readonly first: string;
  readonly last: string;
}

/** On PostgreSQL a shared count is spread over this many rows, so that two writers rarely meet in one. */
const WRITERS = 8;

const KEY = 'bot_id, day, name';
const added = (hour: string): string =>
  `${hour} = CASE WHEN excluded.name <> '${LONGEST}' THEN stats_counts.${hour} + excluded.${hour}
    WHEN excluded.${hour} > stats_counts.${hour} THEN excluded.${hour} ELSE stats_counts.${hour} END`;

/** The first moment of the hour or the day (UTC) of a time, of which the beginning up to the hour is enough. */
export function beginOf(bucket: Bucket, time: string): string {
  return bucket === 'hour' ? `${time.slice(0, 13)}:00:00.000Z` : `${time.slice(0, 10)}T00:00:00.000Z`;
}

/**
 * Adds to the numbers of the hours, in the order of their keys, so that two units cannot deadlock. `shared` says that other
 * units can add to the same names of the same bot meanwhile.
 */
export async function addCounts(tx: Tx, happened: readonly Happened[], shared: boolean): Promise<void> {
  const { hours, rows } = summed(happened);
  if (rows.length === 0) return;
  const given = givenRows(tx, [...KEY.split(', '), ...hours], rows);
  const numbers = HOURS.map((hour) => (hours.includes(hour) ? `CAST(${hour} AS bigint)` : '0'));
  const writer = shared && tx.engine === 'postgres' ? `pg_backend_pid() % ${WRITERS}` : '0';
  await tx.run(
    `INSERT INTO stats_counts (${KEY}, writer, ${HOURS.join(', ')})
     SELECT ${KEY}, ${writer}, ${numbers.join(', ')}
     FROM ${given.sql} WHERE place > 0 ORDER BY ${KEY}
     ON CONFLICT (${KEY}, writer) DO UPDATE SET ${hours.map(added).join(', ')}`,
    ...given.values,
  );
}

/** One row for each name and day, with its numbers of one hour if there is no other, else of all: the texts are few. */
function summed(happened: readonly Happened[]): { readonly hours: string[]; readonly rows: string[][] } {
  const sums = new Map<string, { readonly key: string[]; readonly numbers: Record<string, number> }>();
  const found = new Set<string>();
  for (const { botId, at, name, number } of happened) {
    if (number === 0) continue;
    const key = [botId, at.slice(0, 10), name];
    const place = key.join(' ');
    const numbers: Record<string, number> = sums.get(place)?.numbers ?? {};
    const hour = HOURS[Number(at.slice(11, 13))] ?? '';
    const before = numbers[hour] ?? 0;
    numbers[hour] = name === LONGEST ? Math.max(before, number) : before + number;
    sums.set(place, { key, numbers });
    found.add(hour);
  }
  const hours = found.size === 1 ? [...found] : HOURS;
  const textsOf = (numbers: Record<string, number>): string[] =>
    hours.map((hour) => String(numbers[hour] ?? 0));
  return { hours, rows: [...sums.values()].map(({ key, numbers }) => [...key, ...textsOf(numbers)]) };
}

/** The numbers of a period. */
export async function countsIn(tx: Tx, botId: string, { bucket, first, last }: Period): Promise<Counted[]> {
  const greatest = tx.engine === 'sqlite' ? 'MAX' : 'GREATEST';
  const numberOf = (sum: string, longest: string): string =>
    `CASE WHEN name = '${LONGEST}' THEN MAX(${longest}) ELSE SUM(${sum}) END`;
  const numbers =
    bucket === 'day'
      ? `${numberOf(HOURS.join(' + '), `${greatest}(${HOURS.join(', ')})`)} AS number`
      : HOURS.map((hour) => `${numberOf(hour, hour)} AS ${hour}`).join(', ');
  const rows = await tx.all<Record<string, number | string>>(
    `SELECT day, name, ${numbers} FROM stats_counts WHERE bot_id = ? AND day >= ? AND day <= ? GROUP BY day, name`,
    ...[botId, first, last],
  );
  const columns = bucket === 'day' ? ['number'] : HOURS;
  return rows.flatMap(({ day, name, ...row }) =>
    columns.map((column) => ({
      at: beginOf(bucket, `${day}T${column.slice(1)}`),
      name: String(name),
      number: Number(row[column]),
    })),
  );
}
