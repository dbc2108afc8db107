import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import {
  driverCode,
  isConnectionLost,
  type DatabaseEngine,
  PostgresSchemaSource,
  isBeingFilled,
  needsMigrations,
  requireKnown,
  sqliteOptions,
} from '@app/database';
import { JobLease } from '@app/jobs';
import { type Config, isThere, StartError } from '@app/kernel';
import type { DataSource, DataSourceOptions } from 'typeorm';
import {
  keyOf,
  keyTables,
  type MovedTable,
  movedTables,
  type MoveEnd,
  type MoveTarget,
  type Row,
} from './move-end';
import { PostgresMoveEnd } from './postgres.move-end';
import { SqliteMoveEnd, SqliteMoveTarget } from './sqlite.move-end';

/** One of the two databases, with its schema. */
export interface MovePlace {
  readonly database: Config['database'];
  readonly engine: DatabaseEngine;
  readonly options: DataSourceOptions;
}

/** Called after every batch. */
export type OnProgress = (step: MoveStep) => void;

export interface MoveStep {
  readonly doing: 'moving' | 'verifying';
  readonly table: string;
  readonly rows: number;
  readonly total: number;
}

interface Opened<End> {
  readonly end: End;
  readonly schema: DataSource;
  close(): Promise<void>;
}

/**
 * Moves all rows of a database into an empty database of the other engine. It ends after a comparison: a digest over
 * the rows of each side must be equal. The source stays unchanged. After an interruption the next run continues. No
 * service starts on the target before the move has ended.
 * @throws StartError with the remedy.
 */
export async function moveEngine(from: MovePlace, to: MovePlace, onProgress: OnProgress): Promise<number> {
  const source = await openSource(from);
  try {
    const target = await openTarget(to);
    try {
      const tables = [
        ...(await keyTables(target.end)),
        ...movedTables(target.schema.entityMetadatas, [leftOut(target.schema)]),
      ];
      if (!(await target.end.isBegun())) await requireEmpty(target.end, tables, to);
      const rows = await copy(source.end, target.end, from.engine.place, tables, onProgress);
      for (const table of tables) await verify(table, source.end, target.end, onProgress);
      await target.end.finish(tables);
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

/** The leases of jobs are left out. They expire, and the processes that held them have ended. */
function leftOut(schema: DataSource): string {
  return schema.getMetadata(JobLease).tableName;
}

async function copy(
  source: MoveEnd,
  target: MoveTarget,
  sourcePlace: string,
  tables: readonly MovedTable[],
  onProgress: OnProgress,
): Promise<number> {
  const done = await target.begin(sourcePlace);
  let sum = 0;
  for (const table of tables) {
    const total = await source.count(table);
    let { rows, last } = done.get(table.name) ?? { rows: 0, last: undefined };
    const step = () => onProgress({ doing: 'moving', table: table.name, rows, total });
    step();
    for await (const batch of source.batches(table, last)) {
      rows += batch.length;
      last = keyOf(table, batch.at(-1) ?? []);
      await target.append(table, batch, { rows, last });
      step();
    }
    sum += rows;
  }
  return sum;
}

async function verify(
  table: MovedTable,
  source: MoveEnd,
  target: MoveEnd,
  onProgress: OnProgress,
): Promise<void> {
  const total = await source.count(table);
  const [there, here] = await Promise.all([
    digestOf(source, table, () => undefined),
    digestOf(target, table, (rows) => onProgress({ doing: 'verifying', table: table.name, rows, total })),
  ]);
  if (there.digest === here.digest && there.rows === here.rows) return;
  throw new StartError(
    `${table.name} differs: ${there.rows} rows in the source, ${here.rows} in the target, SHA-256 ${there.digest.slice(0, 12)}… and ${here.digest.slice(0, 12)}…. ` +
      'One of them was changed after the move had begun. The source is untouched: drop the target, create it again, and run this once more.',
  );
}

/** The digest over the rows in the order of their keys, each as a line of JSON. */
async function digestOf(
  end: MoveEnd,
  table: MovedTable,
  onRows: (rows: number) => void,
): Promise<{ rows: number; digest: string }> {
  const hash = createHash('sha256');
  let rows = 0;
  for await (const batch of end.batches(table, undefined)) {
    for (const row of batch) hash.update(line(row));
    rows += batch.length;
    onRows(rows);
  }
  return { rows, digest: hash.digest('hex') };
}

function line(row: Row): string {
  return `${JSON.stringify(row)}\n`;
}

async function openSource(from: MovePlace): Promise<Opened<MoveEnd>> {
  const { database, engine, options } = from;
  const check = (schema: DataSource) => requireMigrated(schema, from);
  if (database.engine === 'postgres') return openPostgres(engine, options, database.url, check);
  if (!isThere(database.path)) throw new StartError(`There is no file ${database.path}. Check --from.`);
  const { entities, migrations } = options;
  const readOnly = { ...sqliteOptions(database.path, 'read'), entities, migrations };
  const schema = await prepared(engine.schemaSource(readOnly), check);
  const end = new SqliteMoveEnd(resolve(database.path));
  return { schema, end, close: async () => (end.close(), schema.destroy()) };
}

async function openTarget({ database, engine, options }: MovePlace): Promise<Opened<MoveTarget>> {
  if (database.engine === 'postgres') return openPostgres(engine, options, database.url, create);
  const schema = await prepared(engine.schemaSource(options), create);
  const end = new SqliteMoveTarget(resolve(database.path));
  return { schema, end, close: async () => (end.close(), schema.destroy()) };
}

async function openPostgres(
  engine: DatabaseEngine,
  options: DataSourceOptions,
  url: string,
  prepare: (schema: DataSource) => Promise<void>,
): Promise<Opened<PostgresMoveEnd>> {
  const schema = await prepared(engine.schemaSource(options), prepare);
  const end = await PostgresMoveEnd.open(url);
  const close = async () => {
    await end.close();
    await schema.destroy();
  };
  try {
    if ((await end.services()) > 0)
      throw new StartError(`A process of Lethe is using ${engine.place}. Stop it, then run this again.`);
    if (!(schema instanceof PostgresSchemaSource) || !(await schema.lock()))
      throw new StartError(`${engine.place} is being migrated or moved by another process. Wait for it.`);
    return { schema, end, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function prepared(
  schema: DataSource,
  prepare: (schema: DataSource) => Promise<void>,
): Promise<DataSource> {
  await schema.initialize();
  try {
    await prepare(schema);
    return schema;
  } catch (error) {
    await schema.destroy();
    throw error;
  }
}

/** Creates the schema when there is none. @throws StartError when the schema differs from the source's */
async function create(schema: DataSource): Promise<void> {
  await requireKnown(schema);
  await schema.runMigrations({ transaction: 'all' });
  const { upQueries } = await schema.driver.createSchemaBuilder().log();
  if (upQueries.length === 0) return;
  throw new StartError(
    `The schema of the target is not the one of this Lethe: ${upQueries[0]?.query}; and ${upQueries.length - 1} more. Move into a database that nothing else uses.`,
  );
}

async function requireMigrated(schema: DataSource, { engine }: MovePlace): Promise<void> {
  await requireKnown(schema);
  if (!(await needsMigrations(schema)) && !(await isBeingFilled(schema))) return;
  throw new StartError(
    `The source (${engine.place}) is not a complete database of this version. Run npm run admin -- db:migrate with DATABASE_URL set to it, then run this again.`,
  );
}

async function requireEmpty(
  end: MoveEnd,
  tables: readonly MovedTable[],
  { engine }: MovePlace,
): Promise<void> {
  for (const table of tables) {
    if ((await end.count(table)) === 0) continue;
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
