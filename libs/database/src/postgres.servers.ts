import { OwnError, type Place } from '@app/kernel';
import { Client, type ClientConfig } from 'pg';

/** How long a server may take to say what it is, in milliseconds. */
const PROBE_MS = 1_000;

/** SQLSTATE of a connection that was refused, in the place of an error of the server. */
export const WRONG_SERVER = '08004';

/** What a connection needs of its server. */
export type Role = 'primary' | 'standby';

/** A connection that can be given up from outside. */
interface Held {
  readonly place: Place;
  abandon(): void;
}

/** No server has the role. */
export function wrongServer(role: Role): Error {
  const message =
    role === 'primary'
      ? 'None of the PostgreSQL servers accepts writes now'
      : 'None of the PostgreSQL servers is a standby now';
  return Object.assign(new OwnError(message), { code: WRONG_SERVER });
}

/** Only a former primary accepts writes. It was not stopped, and what it holds is stale. */
function formerPrimary(timeline: number, newest: number): Error {
  const message = `The only PostgreSQL server that accepts writes is a former primary (timeline ${timeline} behind ${newest})`;
  return Object.assign(new OwnError(message), { code: WRONG_SERVER });
}

/**
 * The servers of one URL, one of which is in use. After the loss of a connection all of them are asked again, together.
 * When another one is selected, connections to the former one are given up, also those that are only silent.
 */
export class PostgresServers {
  private inUse: Place;
  private isSure: boolean;
  private searching: Promise<Place> | undefined;
  /** Of all primaries that this process has found. */
  private newestTimeline = 0;
  private readonly held = new Set<Held>();

  constructor(
    private readonly places: readonly Place[],
    private readonly role: Role,
  ) {
    this.inUse = places[0] as Place;
    this.isSure = places.length === 1;
  }

  /** @throws Error of {@link WRONG_SERVER}, or that of the first server when none answers */
  select(config: ClientConfig): Promise<Place> {
    // Without a connection the process does not learn that the server was lost.
    if (this.isSure && (this.held.size > 0 || this.places.length === 1)) return Promise.resolve(this.inUse);
    return (this.searching ??= this.search(config).finally(() => (this.searching = undefined)));
  }

  /** The server may be gone, or may have another role now. */
  doubt(place: Place): void {
    if (place === this.inUse && this.places.length > 1) this.isSure = false;
  }

  hold(held: Held): void {
    this.held.add(held);
  }

  leave(held: Held): void {
    this.held.delete(held);
  }

  private async search(config: ClientConfig): Promise<Place> {
    const answers = await Promise.allSettled(
      this.places.map((place) => timelineAt(place, config, this.role)),
    );
    // Of two servers that accept writes the one that was promoted last is right, also while it is away: the other one was
    // not stopped in time.
    let found: { readonly place: Place; readonly timeline: number } | undefined;
    answers.forEach((answer, at) => {
      const place = this.places[at] as Place;
      const timeline = answer.status === 'fulfilled' ? answer.value : undefined;
      if (timeline === undefined) return;
      const isBetter = found === undefined || timeline > found.timeline;
      if (isBetter || (timeline === found?.timeline && place === this.inUse)) found = { place, timeline };
    });
    if (found === undefined) throw this.reasonOf(answers);
    if (found.timeline < this.newestTimeline) throw formerPrimary(found.timeline, this.newestTimeline);
    this.newestTimeline = found.timeline;
    this.use(found.place);
    return found.place;
  }

  private use(place: Place): void {
    this.inUse = place;
    this.isSure = true;
    for (const held of this.held) if (held.place !== place) held.abandon();
  }

  private reasonOf(answers: readonly PromiseSettledResult<number | undefined>[]): unknown {
    const faults = answers.filter((answer) => answer.status === 'rejected');
    return faults.length === answers.length ? faults[0]?.reason : wrongServer(this.role);
  }
}

/** The timeline of a server that has the role; undefined for one that has not. */
async function timelineAt(place: Place, config: ClientConfig, role: Role): Promise<number | undefined> {
  const client = new Client({
    ...config,
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS,
    application_name: 'lethe-probe',
  });
  Object.assign(client, place);
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ timeline: string | null }>(
      'SELECT CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS timeline',
    );
    const timeline = rows[0]?.timeline ?? null;
    if (role === 'standby') return timeline === null ? 0 : undefined;
    return timeline === null ? undefined : parseInt(timeline, 16);
  } finally {
    client.end().catch(() => undefined);
  }
}
