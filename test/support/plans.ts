import { engine, type TestDatabase } from './database';

/** Tables that find a bot by a key or an address, and tables without rows of bots. */
const DIRECTORIES = [
  'bots',
  'api_keys',
  'job_leases',
  'storage_samples',
  'migrations',
  'service_keys',
  'sqlite_master',
];
/** The tables of the keys on PostgreSQL. They name no bot: a row of a subject names the one key that is read. */
const KEY_TABLES = ['subject_keys_a', 'subject_keys_b', 'removed_keys'];

/** Reads the plans of one database's statements. */
export class Plans {
  private tables: ReadonlySet<string> = new Set();
  /** Tables in which no column names a user. */
  private withoutUsers: ReadonlySet<string> = new Set();

  constructor(private readonly database: TestDatabase) {}

  /**
   * On PostgreSQL other bots get rows in every table and partition, so that the plans are those of a filled installation.
   * SQLite plans without a look at the tables.
   */
  async prepare(): Promise<this> {
    const tables = await this.database.tables();
    this.tables = new Set(tables.map(({ name }) => name.replace('keys.', '')));
    const others = tables.filter(({ columns }) => !columns.includes('user_id'));
    this.withoutUsers = new Set(others.map(({ name }) => name));
    if (engine === 'postgres') {
      for (const { name, columns } of tables)
        if (
          (columns.includes('bot_id') || KEY_TABLES.includes(name.replace('keys.', ''))) &&
          !DIRECTORIES.includes(name)
        )
          await this.database.run(othersRows(name));
      await this.database.run('ANALYZE');
      await this.database.run(
        `ALTER DATABASE ${new URL(this.database.url).pathname.slice(1)} SET enable_seqscan = off`,
      );
      await this.database.disconnect();
    }
    return this;
  }

  /**
   * The faults in the plan of `sql`: a table with rows of bots that is not read by an index with `bot_id` first, or that
   * reads rows of other users although the statement names one.
   */
  async faults(sql: string): Promise<string[]> {
    return engine === 'sqlite' ? this.onSqlite(sql) : this.onPostgres(sql);
  }

  /** Whether `sql` sorts what it reads, because no index has the order. */
  async sorts(sql: string): Promise<boolean> {
    return /USE TEMP B-TREE|"Node Type":"(Incremental )?Sort"/.test(await this.planOf(sql));
  }

  /** The definitions of the indexes that `sql` reads. */
  async indexes(sql: string): Promise<string[]> {
    const plan = await this.planOf(sql);
    const names = [...plan.matchAll(/(?: INDEX |"Index Name":")(\w+)/g)].map(([, name]) => name ?? '');
    const [column, catalog, named] =
      engine === 'sqlite' ? ['sql', 'sqlite_master', 'name'] : ['indexdef', 'pg_indexes', 'indexname'];
    const found = `SELECT ${column} AS sql FROM ${catalog} WHERE ${named} = ?`;
    const rows = await Promise.all(
      names.map((name) => this.database.rows<{ sql: string | null }>(found, name)),
    );
    return rows.flat().map(({ sql: definition }) => definition ?? '');
  }

  private async planOf(sql: string): Promise<string> {
    const values = engine === 'sqlite' ? Array.from(sql.matchAll(/\?/g), () => null) : [];
    const explain = engine === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN (GENERIC_PLAN, FORMAT JSON)';
    return JSON.stringify(await this.database.rows(`${explain} ${sql}`, ...values));
  }

  /** Skips rows from the statement itself or from a parameter, and single rows by their key. */
  private async onSqlite(sql: string): Promise<string[]> {
    const values = Array.from(sql.matchAll(/\?/g), () => null);
    const steps = await this.database.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values);
    const namesUser = /\buser_id"? = \?/.test(sql);
    return steps
      .map(({ detail }) => detail)
      .filter(
        (detail) =>
          /^(SCAN|SEARCH) (?!CONSTANT ROW|\d+-ROW VALUES|json_each|dummy_table|found\b)/.test(detail) &&
          !isOfDirectory(detail) &&
          !isOfOneKey(detail) &&
          !/\(bot_id=\? AND (seq|id)=\?\)$/.test(detail),
      )
      .filter(
        (detail) =>
          !/\(bot_id=\?/.test(detail) ||
          (namesUser && !/user_id=\?/.test(detail) && !this.withoutUsers.has(this.tableOf(detail))),
      );
  }

  /** The table of an index that SQLite reads: the one with the longest name that the index begins with. */
  private tableOf(detail: string): string {
    const index = /INDEX (?:sqlite_autoindex|ix)_(\w+)/.exec(detail)?.[1] ?? '';
    const found = [...this.tables].filter((name) => index.startsWith(`${name}_`));
    return found.sort((a, b) => b.length - a.length)[0] ?? '';
  }

  private async onPostgres(sql: string): Promise<string[]> {
    const rows = await this.database.rows<{ 'QUERY PLAN': [{ Plan: Step }] }>(
      `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${sql}`,
    );
    return [...new Set(rows.flatMap((row) => this.faultsOf(row['QUERY PLAN'][0].Plan)))];
  }

  private faultsOf(step: Step, table = ''): string[] {
    // The plan of a partitioned table names its partitions.
    const relation = (step['Relation Name'] ?? table).replace(/_p\d\d$/, '');
    const below = (step.Plans ?? []).flatMap((child) => this.faultsOf(child, relation));
    const kind = step['Node Type'];
    if (
      !/^(Seq|Index|Index Only|Bitmap Heap|Bitmap Index) Scan$/.test(kind) ||
      !this.tables.has(relation) ||
      DIRECTORIES.includes(relation)
    )
      return below;
    const looked = `${kind} of ${relation}: ${step['Index Cond'] ?? 'from end to end'}`;
    const filtered = step.Filter !== undefined && /\buser_id\)?(::text)? = /.test(step.Filter);
    if (filtered) return [...below, `${looked}, and then users by ${step.Filter}`];
    const key = KEY_TABLES.includes(relation) ? 'id' : 'bot_id';
    const cond = step['Index Cond'] ?? '';
    const entered = kind === 'Bitmap Heap Scan' || new RegExp(`\\b${key}\\)?(::text)? = `).test(cond);
    return entered ? below : [...below, looked];
  }
}

interface Step {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Filter?: string;
  readonly Plans?: readonly Step[];
}

/** SQLite names a table by its alias, and always by its index. */
function isOfDirectory(detail: string): boolean {
  const table = /^(?:SCAN|SEARCH) (?:\w+\.)?(\w+)/.exec(detail)?.[1] ?? '';
  const index = /INDEX (?:sqlite_autoindex|ix)_(\w+)/.exec(detail)?.[1] ?? '';
  return DIRECTORIES.some((name) => table === name || index.startsWith(`${name}_`));
}

/** On SQLite the keys are in `key_slots`, and `subject_keys` is a view: a scan of it is one of the found rows. */
function isOfOneKey(detail: string): boolean {
  return /INDEX ix_key_slots_id \(id=\?\)/.test(detail) || detail === 'SCAN subject_keys';
}

/** A statement that gives 128 bots 25,600 rows, each of another user, in a few guilds, whatever the columns are. */
function othersRows(table: string): string {
  return `DO $do$ DECLARE names text; texts text; BEGIN
    SELECT string_agg(quote_ident(column_name), ', '),
      string_agg(CASE
        WHEN column_name = 'bot_id' THEN 'md5((n % 128)::text)'
        WHEN column_name = 'retention_days' THEN 'NULL'
        WHEN column_name = 'guild_id' THEN '(n / 128 % 20)::text'
        WHEN column_name = 'event_type' THEN '(n / 128 % 9)::text'
        WHEN column_name = 'category_key' THEN '(n / 128 % 10)::text'
        WHEN column_name = 'status' AND data_type <> 'bigint' THEN quote_literal('delivered')
        WHEN data_type = 'bigint' THEN 'n'
        WHEN column_name = 'id' OR column_name LIKE '%\\_id' OR column_name IN ('key', 'token') THEN 'n::text'
        ELSE quote_literal('x') END, ', ')
      INTO names, texts FROM information_schema.columns
      WHERE table_schema IN ('public', 'keys') AND table_name = '${table.replace('keys.', '')}';
    SET LOCAL session_replication_role = replica;
    EXECUTE format('INSERT INTO ${table} (%s) SELECT %s FROM generate_series(1, 25600) n ON CONFLICT DO NOTHING', names, texts);
  END $do$`;
}
