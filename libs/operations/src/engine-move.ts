import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import {
  driverCode,
  isConnectionLost,
  JobLease,
  keysPath,
  needsMigrations,
  requireKnown,
  SqliteDatabase,
  sqliteOptions,
} from '@app/database';
import { isThere, StartError } from '@app/kernel';
import type { Database } from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import {
  keyOf,
  listOf,
  type MovedTable,
  movedTables,
  type MovePlace,
  quoted,
  type Row,
} from './moved-tables';
import { PostgresMoveTarget } from './postgres.move-target';

/** Called after every batch. */
type OnProgress = (step: MoveStep) => void;

interface MoveStep {
  readonly doing: 'moving' | 'verifying';
  readonly table: string;
  readonly rows: number;
  readonly total: number;
}

/**
 * Moves all rows of a SQLite file into an empty PostgreSQL database. It ends after a comparison: a digest over the rows
 * of each side must be equal. The source stays unchanged. After an interruption the next run continues. No service
 * starts on the target before the move has ended.
 * @throws StartError with the remedy.
 */
export async function moveEngine(from: MovePlace, to: MovePlace, onProgress: OnProgress): Promise<number> {
  const source = await SqliteMoveSource.open(from);
  try {
    const target = await PostgresMoveTarget.open(to, from.engine.place);
    try {
      // Leases are left out. They expire, and the processes that held them have ended.
      const moved = target.entities.filter(({ target: entity }) => entity !== JobLease);
      const tables = [...(await target.keyTables()), ...movedTables(moved)];
      if (!(await target.isFilledInPart())) await requireEmpty(target, tables, to);
      const rows = await copy(source, target, tables, onProgress);
      for (const table of tables) await verify(table, source, target, onProgress);
      await target.finish();
      return rows;
    } finally {
      await target.close();
    }
  } catch (error) {
    throw readable(error);
  } finally {
    await source.close();
  }
}

async function copy(
  source: SqliteMoveSource,
  target: PostgresMoveTarget,
  tables: readonly MovedTable[],
  onProgress: OnProgress,
): Promise<number> {
  const done = await target.begin();
  let sum = 0;
  for (const table of tables) {
    const total = source.count(table);
    let { rows, last } = done.get(table.name) ?? { rows: 0, last: undefined };
    const step = () => onProgress({ doing: 'moving', table: table.name, rows, total });
    step();
    for (const batch of source.batches(table, last)) {
      rows += batch.length;
      last = keyOf(table, batch.at(-1) ?? []);
      await target.append(table, batch, { rows, last });
      step();
    }
    sum += rows;
  }
  return sum;
}

/** Reads both sides batch by batch, in the order of the key. A digest is over the rows, each as a line of JSON. */
async function verify(
  table: MovedTable,
  source: SqliteMoveSource,
  target: PostgresMoveTarget,
  onProgress: OnProgress,
): Promise<void> {
  const total = source.count(table);
  const [there, here] = [createHash('sha256'), createHash('sha256')];
  let rows = 0;
  await target.read(table, async (next) => {
    for (const batch of source.batches(table)) {
      const fetched = next(batch.length);
      for (const row of batch) there.update(line(row));
      for (const row of await fetched) here.update(line(row));
      onProgress({ doing: 'verifying', table: table.name, rows: (rows += batch.length), total });
    }
    for (const row of await next(1)) here.update(line(row));
  });
  const [sent, found] = [there.digest('hex'), here.digest('hex')];
  if (sent === found) return;
  throw new StartError(
    `${table.name} differs: ${total} rows in the source, ${await target.count(table)} in the target, SHA-256 ${sent.slice(0, 12)}… and ${found.slice(0, 12)}…. ` +
      'One of them was changed after the move had begun. The source is untouched: drop the target, create it again, and run this once more.',
  );
}

function line(row: Row): string {
  return `${JSON.stringify(row)}\n`;
}

async function requireEmpty(
  target: PostgresMoveTarget,
  tables: readonly MovedTable[],
  { engine }: MovePlace,
): Promise<void> {
  for (const table of tables) {
    if ((await target.count(table)) === 0) continue;
    throw new StartError(
      `The target (${engine.place}) already has data, for example in ${table.name}. Nothing was changed; move into an empty database.`,
    );
  }
}

function readable(error: unknown): unknown {
  if (error instanceof StartError) return error;
  if (isConnectionLost(error) || /^(53|57)/.test(driverCode(error)))
    return new StartError(
      `The connection to PostgreSQL was lost (${driverCode(error) || (error as Error).message}). Run this again: it continues where it ended.`,
    );
  if (driverCode(error) === '22021')
    return new StartError(
      'A text in the source holds a NUL character, which PostgreSQL cannot store. Nothing of its batch was moved.',
    );
  return error;
}

/** The number of rows in a batch, and the approximate number of characters. */
const BATCH_ROWS = 1000;
const BATCH_CHARACTERS = 2_000_000;

/** Reads a SQLite file without changes, under the lock of the service. */
class SqliteMoveSource {
  private readonly database: Database;

  private constructor(
    path: string,
    private readonly schema: DataSource,
  ) {
    this.database = new SqliteDatabase(path, { readonly: true, fileMustExist: true });
    this.database.defaultSafeIntegers(true);
    this.database.prepare('ATTACH DATABASE ? AS keys').run(keysPath(path));
  }

  /** @throws StartError for a file that a process uses, and for one that is not of this version */
  static async open({ at, engine, options }: MovePlace): Promise<SqliteMoveSource> {
    if (!isThere(at)) throw new StartError(`There is no file ${at}. Check --from.`);
    const { entities, migrations } = options;
    const schema = engine.schemaSource({ ...sqliteOptions(at, 'read'), entities, migrations });
    await schema.initialize();
    try {
      await requireKnown(schema);
      if (await needsMigrations(schema))
        throw new StartError(
          `The source (${engine.place}) is not a complete database of this version. Run npm run admin -- db:migrate with DATABASE_URL set to it, then run this again.`,
        );
      return new SqliteMoveSource(resolve(at), schema);
    } catch (error) {
      await schema.destroy();
      throw error;
    }
  }

  count({ name }: MovedTable): number {
    const count = this.database.prepare(`SELECT COUNT(*) FROM ${quoted(name)}`).pluck();
    return Number(count.get());
  }

  /** Every row after the key `after`, in the order of the key, in batches of bounded size. */
  *batches(table: MovedTable, after?: Row): Generator<Row[]> {
    const marks = table.key.map(() => '?').join(', ');
    const where = after === undefined ? '' : `WHERE (${listOf(table.key)}) > (${marks})`;
    const statement = this.database
      .prepare(
        `SELECT ${listOf(table.columns)} FROM ${quoted(table.name)} ${where} ORDER BY ${listOf(table.key)}`,
      )
      .raw();
    const values = table.key.map(({ isInteger }, index) => {
      const text = after?.[index] ?? null;
      return isInteger && text !== null ? BigInt(text) : text;
    });
    let batch: Row[] = [];
    let characters = 0;
    const found = statement.iterate(...(after === undefined ? [] : values));
    for (const values of found as Iterable<(string | bigint | null)[]>) {
      const row = values.map((value) => (value === null ? null : String(value)));
      batch.push(row);
      for (const text of row) characters += text?.length ?? 0;
      if (batch.length < BATCH_ROWS && characters < BATCH_CHARACTERS) continue;
      yield batch;
      batch = [];
      characters = 0;
    }
    if (batch.length > 0) yield batch;
  }

  async close(): Promise<void> {
    this.database.close();
    await this.schema.destroy();
  }
}
