import {
  isConnectionLost,
  KEY_TABLES,
  MOVE_TABLE,
  ofConnection,
  PostgresSchemaSource,
  requireKnown,
  requireUnused,
  requireUnusedKeys,
  WITHOUT_TIME_LIMITS,
} from '@app/database';
import { StartError } from '@app/kernel';
import { Client, type QueryResultRow, types } from 'pg';
import { type DataSource, type EntityMetadata, MigrationExecutor } from 'typeorm';
import { isOfRow, rowFault } from './move-faults';
import {
  listOf,
  type MovedTable,
  movedTable,
  type MovePlace,
  quoted,
  type Row,
  type TableProgress,
} from './moved-tables';

/** Sets the place of the next audit event after all existing and all pruned events. */
const CONTINUE_AUDIT_ORDER = `SELECT setval('audit_events_seq', GREATEST(
  (SELECT COALESCE(MAX(seq), 0) FROM audit_events), (SELECT COALESCE(MAX(last_seq), 0) FROM audit_heads)) + 1, false)`;

/** The session waits for other parts of the move. */
const PATIENT = '-c lock_timeout=0 -c idle_session_timeout=0 -c idle_in_transaction_session_timeout=0';

/** A row of {@link MOVE_TABLE}, one for each table that the move has begun and one without a name. */
interface ProgressRow {
  readonly source: string;
  readonly name: string;
  readonly rows: string;
  readonly last: string | null;
}

/** Fills a PostgreSQL database, and reads it again. Every value is read and written as text. */
export class PostgresMoveTarget {
  private constructor(
    private readonly client: Client,
    private readonly schema: DataSource,
    private readonly sourcePlace: string,
  ) {}

  /**
   * Creates the schema when there is none. `sourcePlace` is what is moved into it.
   * @throws StartError for a database that a process uses, and for a schema that is not the one of the source
   */
  static async open({ at, engine, options }: MovePlace, sourcePlace: string): Promise<PostgresMoveTarget> {
    const schema = engine.schemaSource(options);
    await schema.initialize();
    const target = new PostgresMoveTarget(clientOf(at), schema, sourcePlace);
    try {
      await target.client.connect();
      // A batch of a large table and the statistics of all tables take their time.
      await target.client.query(WITHOUT_TIME_LIMITS);
      // A crash of the server loses rows and progress together, so the move repeats them.
      await target.client.query('SET synchronous_commit = off');
      await requireUnused(schema, engine.place);
      await target.create();
      if (!(schema instanceof PostgresSchemaSource) || !(await schema.lock()))
        throw new StartError(`${engine.place} is being migrated or moved by another process. Wait for it.`);
      return target;
    } catch (error) {
      await target.close();
      throw error;
    }
  }

  get entities(): readonly EntityMetadata[] {
    return this.schema.entityMetadatas;
  }

  /** The key tables, which have no entity. */
  async keyTables(): Promise<MovedTable[]> {
    const tables: MovedTable[] = [];
    for (const [table, key] of Object.entries<readonly string[]>(KEY_TABLES)) {
      const rows = await this.rows<{ name: string; type: string }>(
        `SELECT column_name AS name, data_type AS type FROM information_schema.columns
         WHERE table_schema = 'keys' AND table_name = $1 ORDER BY ordinal_position`,
        [table],
      );
      tables.push(movedTable(`keys.${table}`, rows, key));
    }
    return tables;
  }

  async count({ name }: MovedTable): Promise<number> {
    const [row] = await this.rows<{ count: string }>(`SELECT COUNT(*) AS count FROM ${quoted(name)}`);
    return Number(row?.count);
  }

  /** Runs `work` on a snapshot of the table. Each call of `next` fetches further rows in the order of the key. */
  async read(
    table: MovedTable,
    work: (next: (count: number) => Promise<Row[]>) => Promise<void>,
  ): Promise<void> {
    await this.client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    try {
      await this.client.query(
        `DECLARE moved NO SCROLL CURSOR FOR SELECT ${listOf(table.columns)} FROM ${quoted(table.name)}
         ORDER BY ${listOf(table.key)}`,
      );
      await work(async (count) => {
        const text = `FETCH ${count} FROM moved`;
        return (await this.client.query<(string | null)[]>({ text, rowMode: 'array' })).rows;
      });
    } finally {
      await this.client.query('ROLLBACK');
    }
  }

  /** Whether a move that was interrupted has left rows. */
  async isFilledInPart(): Promise<boolean> {
    const find = 'SELECT to_regclass($1) AS found';
    const [table] = await this.rows<{ found: string | null }>(find, [MOVE_TABLE]);
    if (table?.found == null) return false;
    return (await this.rows(`SELECT 1 FROM ${MOVE_TABLE} WHERE name <> '' LIMIT 1`)).length > 0;
  }

  /**
   * Marks the database as being filled. The progress of an interrupted move by table; empty at the first run.
   * @throws StartError when that move had another source
   */
  async begin(): Promise<ReadonlyMap<string, TableProgress>> {
    await this.client.query(
      `CREATE TABLE IF NOT EXISTS ${MOVE_TABLE}
         (source text NOT NULL, name text PRIMARY KEY, rows bigint NOT NULL, last text)`,
    );
    await this.client.query(
      `INSERT INTO ${MOVE_TABLE} (source, name, rows) VALUES ($1, '', 0) ON CONFLICT (name) DO NOTHING`,
      [this.sourcePlace],
    );
    const rows = await this.rows<ProgressRow>(`SELECT source, name, rows, last FROM ${MOVE_TABLE}`);
    const other = rows.find(({ source }) => source !== this.sourcePlace);
    if (other !== undefined)
      throw new StartError(
        `A move of ${other.source} to the target was begun and not finished. Finish it, or drop the target and create it again.`,
      );
    const progress = ({ rows: count, last }: ProgressRow): TableProgress => ({
      rows: Number(count),
      last: last === null ? undefined : (JSON.parse(last) as Row),
    });
    return new Map(rows.map((row) => [row.name, progress(row)]));
  }

  /**
   * Commits rows and progress together.
   * @throws StartError for a row that the server refuses
   */
  async append(table: MovedTable, rows: readonly Row[], { rows: count, last }: TableProgress): Promise<void> {
    await this.client.query('BEGIN');
    try {
      await this.insert(table, rows);
      await this.client.query(
        `INSERT INTO ${MOVE_TABLE} (source, name, rows, last)
           VALUES ((SELECT source FROM ${MOVE_TABLE} WHERE name = ''), $1, $2, $3)
         ON CONFLICT (name) DO UPDATE SET rows = excluded.rows, last = excluded.last`,
        [table.name, count, JSON.stringify(last)],
      );
      await this.client.query('COMMIT');
    } catch (error) {
      await this.client.query('ROLLBACK').catch(() => undefined);
      if (!isOfRow(error)) throw error;
      await this.client.query('BEGIN');
      const fault = await rowFault(error, table, rows, count, (row) => this.insert(table, [row]));
      await this.client.query('ROLLBACK');
      throw fault;
    }
  }

  /** Makes the statistics by which the server plans. */
  async analyze(): Promise<void> {
    await this.client.query('ANALYZE');
  }

  /**
   * Adds last rows to a table, where it lacks them, and releases the database for use.
   * @throws StartError when the connection is lost during the commit, which may have taken effect
   */
  async finish(table: MovedTable, rows: readonly Row[]): Promise<void> {
    await this.client.query('SET synchronous_commit = on');
    await this.client.query('BEGIN');
    await this.insert(table, rows, 'ON CONFLICT DO NOTHING');
    await this.client.query(CONTINUE_AUDIT_ORDER);
    await this.client.query(`DROP TABLE ${MOVE_TABLE}`);
    await this.client.query('COMMIT').catch((error: unknown) => {
      if (!isConnectionLost(error)) throw error;
      throw new StartError(
        'All rows are moved and compared, but the connection to PostgreSQL was lost during the last commit: the move may have ended or not. ' +
          'Run this again before a service starts on the target: it says that the move has ended, or ends it.',
      );
    });
  }

  async close(): Promise<void> {
    await this.client.end();
    await this.schema.destroy();
  }

  private async insert(table: MovedTable, rows: readonly Row[], end = ''): Promise<void> {
    const given = table.columns.map(
      ({ isInteger }, index) => `$${index + 1}::${isInteger ? 'bigint' : 'text'}[]`,
    );
    await this.client.query({
      name: `move ${table.name}`,
      text: `INSERT INTO ${quoted(table.name)} (${listOf(table.columns)}) SELECT * FROM unnest(${given.join(', ')}) ${end}`,
      values: table.columns.map((_, index) => rows.map((row) => row[index])),
    });
  }

  private async rows<Found extends QueryResultRow>(
    text: string,
    values: readonly string[] = [],
  ): Promise<Found[]> {
    return (await this.client.query<Found>(text, [...values])).rows;
  }

  /** The mark of the move comes before the schema, so that no service starts on a target that has tables and no rows yet. */
  private async create(): Promise<void> {
    const { schema } = this;
    await requireKnown(schema);
    if ((await new MigrationExecutor(schema).getExecutedMigrations()).length === 0) {
      await requireUnusedKeys(schema);
      await this.begin();
    }
    await schema.runMigrations({ transaction: 'all' });
    const { upQueries } = await schema.driver.createSchemaBuilder().log();
    if (upQueries.length === 0) return;
    throw new StartError(
      `The schema of the target is not the one of this Lethe: ${upQueries[0]?.query}; and ${upQueries.length - 1} more. Move into a database that nothing else uses.`,
    );
  }
}

function clientOf(url: string): Client {
  const asText = { getTypeParser: () => (text: string) => text } as unknown as typeof types;
  const { url: connectionString, extra } = ofConnection(url, {
    application_name: 'lethe-move',
    options: PATIENT,
  });
  const client = new Client({ connectionString, ...extra, types: asText });
  client.on('error', () => undefined);
  return client;
}
