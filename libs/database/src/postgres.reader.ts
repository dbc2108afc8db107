import type { Client, QueryResult } from 'pg';
import { Batcher, type Waiting } from './batcher';
import { databaseUnavailable, isConnectionLost, notBegun } from './database-faults';
import type { Beginnings } from './postgres.beginnings';
import { type ConnectionConfig, newClient } from './postgres.client';
import { statementFor } from './postgres.tx';

/** The number of connections for single reads. One can run a statement while the answers of the other are read. */
const CONNECTIONS = 2;

type Row = Record<string, unknown> | undefined;
type Values = readonly string[];
type Found = NonNullable<Row>;
type Ask = (sql: string, values: readonly (string | (string | undefined)[])[]) => Promise<QueryResult<Found>>;

/**
 * Reads of one statement each. Simultaneous reads with the same text are sent as one statement. The next read replaces
 * a broken connection.
 */
export class PostgresReader {
  private readonly connections = new Array<Promise<Client> | undefined>(CONNECTIONS).fill(undefined);
  private readonly convoys = new Map<string, Batcher<Values, Row>>();
  private next = 0;
  private closed = false;

  constructor(
    private readonly config: ConnectionConfig,
    private readonly beginnings: Beginnings,
    private readonly onFault: (error: unknown) => void,
  ) {}

  /** The first row, if there is one. */
  get(sql: string, values: Values): Promise<Row> {
    let convoy = this.convoys.get(sql);
    if (convoy === undefined) {
      convoy = new Batcher((batch) => this.serve(sql, batch), this.config.connectionTimeoutMillis);
      this.convoys.set(sql, convoy);
    }
    return convoy.join(values);
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const connection of this.connections)
      await connection?.then((client) => client.end()).catch(this.onFault);
  }

  private async serve(sql: string, batch: readonly Waiting<Values, Row>[]): Promise<void> {
    try {
      const rows = await this.read(
        sql,
        batch.map(({ input }) => input),
      );
      batch.forEach(({ resolve }, at) => resolve(rows[at]));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  private async read(sql: string, asked: readonly Values[]): Promise<Row[]> {
    const client = await this.connection();
    try {
      return await ask(this.asking(client), sql, asked);
    } catch (error) {
      // A connection with a timed-out statement may never answer. The next read opens another.
      if (isConnectionLost(error)) client.end().catch(this.onFault);
      throw error;
    }
  }

  /** Behind a pooler a statement has its limits in a transaction of its own, which is sent with it. */
  private asking(client: Client): Ask {
    const { isPooled, read } = this.beginnings;
    return async (sql, values) => {
      const statement = { ...statementFor(this.beginnings, sql), values: [...values] };
      if (!isPooled) return client.query(statement);
      const sent = [client.query(read), client.query<Found>(statement), client.query('COMMIT')] as const;
      const [begun, answered] = await Promise.allSettled(sent);
      // Behind a failed beginning the statement fails too, and only the first error says why.
      if (begun.status === 'rejected')
        throw isConnectionLost(begun.reason) ? begun.reason : notBegun(begun.reason);
      if (answered.status === 'rejected') throw answered.reason;
      return answered.value;
    };
  }

  private connection(): Promise<Client> {
    this.next = (this.next + 1) % CONNECTIONS;
    return this.connections[this.next] ?? this.open(this.next);
  }

  private open(at: number): Promise<Client> {
    if (this.closed) throw databaseUnavailable();
    const client = newClient(this.config);
    const abandon = (): void => {
      if (this.connections[at] === connection) this.connections[at] = undefined;
    };
    const connection = client.connect().then(
      () => client,
      (error: unknown) => {
        abandon();
        throw error;
      },
    );
    // The reads that wait on a lost connection get the error from the driver, so no other report is needed.
    client.on('error', abandon).on('end', abandon);
    this.connections[at] = connection;
    return connection;
  }
}

async function ask(query: Ask, sql: string, asked: readonly Values[]): Promise<Row[]> {
  const [first = []] = asked;
  if (asked.length === 1 || first.length === 0) {
    const { rows } = await query(sql, first);
    return new Array<Row>(asked.length).fill(rows[0]);
  }
  // One list of values for each placeholder, with one value for each read of the batch.
  const lists = first.map((_, at) => asked.map((values) => values[at]));
  const { rows } = await query(forMany(sql), lists);
  const found = new Array<Row>(asked.length).fill(undefined);
  for (const { lethe_place: place, ...row } of rows) found[Number(place) - 1] ??= row;
  return found;
}

const many = new Map<string, string>();

/** Rewrites a statement for many values: its placeholders become columns of lists. */
function forMany(sql: string): string {
  let text = many.get(sql);
  if (text === undefined) {
    let count = 0;
    const question = sql.replace(/\?/g, () => `given.v${++count}`);
    const columns = Array.from({ length: count }, (_, at) => `v${at + 1}`);
    text = `SELECT given.place AS lethe_place, found.* FROM unnest(${columns.map(() => '?::text[]').join(', ')})
      WITH ORDINALITY AS given (${[...columns, 'place'].join(', ')}) CROSS JOIN LATERAL (${question}) AS found`;
    many.set(sql, text);
  }
  return text;
}
