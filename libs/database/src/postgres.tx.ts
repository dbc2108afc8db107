import { Client, type ClientConfig, type PoolClient } from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import { databaseUnavailable, isConnectionLost } from './database-faults';
import { requirePrimary } from './postgres.options';
import { Batcher, type Waiting } from './shared-calls';
import { type SqlList, type SqlValue, Tx } from './tx';

/**
 * A statement in the form of PostgreSQL: numbered placeholders, and the name of the prepared statement on each
 * connection.
 */
interface Prepared {
  readonly name?: string;
  readonly text: string;
}

/**
 * The maximum of kept texts. The texts of Lethe are far fewer; a module that writes values into its texts cannot fill
 * the memory.
 */
const KEPT_MAX = 1_000;

const known = new Map<string, Prepared>();

/** `?` becomes `$1`, `$2`, … No statement of Lethe has a question mark inside a text. */
export function prepared(sql: string): Prepared {
  let found = known.get(sql);
  if (found === undefined) {
    let count = 0;
    const text = sql.replace(/\?/g, () => `$${++count}`);
    if (known.size >= KEPT_MAX) return { text };
    found = { name: `lethe_${known.size + 1}`, text };
    known.set(sql, found);
  }
  return found;
}

/** One unit on its own connection. */
export class PostgresTx extends Tx {
  readonly engine = 'postgres';

  /** The error of the first failed statement, whichever error reaches the unit first. */
  firstFault: unknown;
  private typeorm: EntityManager | undefined;

  constructor(
    private readonly client: PoolClient,
    private readonly source: DataSource,
    /** The next transaction has another session, in which no statement is prepared. */
    private readonly isPooled: boolean,
  ) {
    super();
  }

  /** Created at the first use, since most units need none. TypeORM's runner uses the connection of the unit. */
  protected get entityManager(): EntityManager {
    if (this.typeorm !== undefined) return this.typeorm;
    const runner = this.source.createQueryRunner();
    Object.assign(runner, { databaseConnection: this.client });
    return (this.typeorm = runner.manager);
  }

  override each<Row>(sql: string, asked: readonly Values[]): Promise<Row[][]> {
    return ask((text, values) => this.all<object>(text, ...values), sql, asked) as Promise<Row[][]>;
  }

  protected async fetch(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<unknown[]> {
    return (await this.query(sql, values)).rows;
  }

  protected async fetchOne(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<unknown> {
    return (await this.query(sql, values)).rows[0];
  }

  protected async execute(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<number> {
    return (await this.query(sql, values)).rowCount ?? 0;
  }

  private async query(sql: string, values: readonly (SqlValue | SqlList)[]) {
    const { name, text } = prepared(sql);
    try {
      return await this.client.query<Record<string, unknown>>({
        ...(this.isPooled ? { text } : { name, text }),
        values: values as unknown[],
      });
    } catch (error) {
      this.firstFault ??= error;
      throw error;
    }
  }
}

/** The number of connections for single reads. One can run a statement while the answers of the other are read. */
const CONNECTIONS = 2;

type Row = Record<string, unknown> | undefined;
type Values = readonly string[];

/**
 * Reads of one statement each. Simultaneous reads with the same text are sent as one statement. The next read replaces
 * a broken connection.
 */
export class PostgresReader {
  private readonly connections = new Array<Promise<Client> | undefined>(CONNECTIONS).fill(undefined);
  private readonly batchers = new Map<string, Batcher<Values, Row>>();
  private next = 0;
  private closed = false;

  constructor(
    private readonly config: ClientConfig,
    private readonly onFault: (error: unknown) => void,
  ) {}

  /** The first row, if there is one. */
  get(sql: string, values: Values): Promise<Row> {
    let batcher = this.batchers.get(sql);
    if (batcher === undefined) {
      batcher = new Batcher((batch) => this.serve(sql, batch), this.config.connectionTimeoutMillis);
      this.batchers.set(sql, batcher);
    }
    return batcher.join(values);
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
      const query: Query = async (text, values) =>
        (await client.query<object>({ ...prepared(text), values: [...values] })).rows;
      return (await ask(query, sql, asked)).map(([row]) => row as Row);
    } catch (error) {
      // A connection with a timed-out statement may never answer. The next read opens another.
      if (isConnectionLost(error)) client.end().catch(this.onFault);
      throw error;
    }
  }

  private connection(): Promise<Client> {
    this.next = (this.next + 1) % CONNECTIONS;
    return this.connections[this.next] ?? this.open(this.next);
  }

  private open(at: number): Promise<Client> {
    if (this.closed) throw databaseUnavailable();
    const client = new Client(this.config);
    const abandon = (): void => {
      if (this.connections[at] === connection) this.connections[at] = undefined;
    };
    const connected = client.connect().then(() => requirePrimary(client));
    const connection = connected.then(
      () => client,
      (error: unknown) => {
        abandon();
        client.end().catch(this.onFault);
        throw error;
      },
    );
    // The reads that wait on a lost connection get the error from the driver, so no other report is needed.
    client.on('error', abandon).on('end', abandon);
    this.connections[at] = connection;
    return connection;
  }
}

type Query = (sql: string, values: readonly (string | SqlList)[]) => Promise<object[]>;

/** The rows that a question finds for each list of its values. */
async function ask(query: Query, sql: string, asked: readonly Values[]): Promise<object[][]> {
  const [first] = asked;
  if (first === undefined) return [];
  if (asked.length === 1 || first.length === 0) {
    const rows = await query(sql, first);
    return asked.map(() => rows);
  }
  // One list of values for each placeholder, with one value for each question.
  const lists = first.map((_, at) => asked.map((values) => values[at] ?? null));
  const found = asked.map((): object[] => []);
  for (const { lethe_place: place, ...row } of (await query(forMany(sql), lists)) as {
    lethe_place: number;
  }[])
    found[place - 1]?.push(row);
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
