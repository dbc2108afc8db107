import { resolve } from 'node:path';
import {
  type DatabaseEngine,
  isBeingFilled,
  needsMigrations,
  PostgresSchemaSource,
  requireKnown,
  requireUnusedKeys,
  sqliteOptions,
} from '@app/database';
import { type Config, isThere, StartError } from '@app/kernel';
import { type DataSource, type DataSourceOptions, MigrationExecutor } from 'typeorm';
import type { MoveEnd, MoveTarget } from './move-end';
import { PostgresMoveEnd } from './postgres.move-end';
import { SqliteMoveEnd, SqliteMoveTarget } from './sqlite.move-end';

/** One of the two databases of a move, with its schema. */
export interface MovePlace {
  readonly database: Config['database'];
  readonly engine: DatabaseEngine;
  readonly options: DataSourceOptions;
}

interface Opened<End> {
  readonly end: End;
  readonly schema: DataSource;
  close(): Promise<void>;
}

type Prepare<End> = (schema: DataSource, end: End) => Promise<void>;

export async function openSource(from: MovePlace): Promise<Opened<MoveEnd>> {
  const { database, engine, options } = from;
  const check = (schema: DataSource) => requireMigrated(schema, from);
  if (database.engine === 'postgres') return openPostgres(engine, options, database.url, check);
  if (!isThere(database.path)) throw new StartError(`There is no file ${database.path}. Check --from.`);
  const { entities, migrations } = options;
  const readOnly = { ...sqliteOptions(database.path, 'read'), entities, migrations };
  const end = async (): Promise<MoveEnd> => new SqliteMoveEnd(resolve(database.path));
  return opened(engine.schemaSource(readOnly), end, check);
}

/** `sourcePlace` is what is moved into it. */
export async function openTarget(
  { database, engine, options }: MovePlace,
  sourcePlace: string,
): Promise<Opened<MoveTarget>> {
  const make = (schema: DataSource, target: MoveTarget) => create(schema, target, sourcePlace);
  if (database.engine === 'postgres') return openPostgres(engine, options, database.url, make);
  const end = async (): Promise<MoveTarget> => new SqliteMoveTarget(resolve(database.path));
  return opened(engine.schemaSource(options), end, make);
}

function openPostgres(
  engine: DatabaseEngine,
  options: DataSourceOptions,
  url: string,
  prepare: Prepare<MoveTarget>,
): Promise<Opened<MoveTarget>> {
  const alone = async (schema: DataSource, end: PostgresMoveEnd): Promise<void> => {
    if ((await end.services()) > 0)
      throw new StartError(`A process of Lethe is using ${engine.place}. Stop it, then run this again.`);
    await prepare(schema, end);
    if (!(schema instanceof PostgresSchemaSource) || !(await schema.lock()))
      throw new StartError(`${engine.place} is being migrated or moved by another process. Wait for it.`);
  };
  return opened(engine.schemaSource(options), () => PostgresMoveEnd.open(url), alone);
}

async function opened<End extends MoveEnd>(
  schema: DataSource,
  openEnd: () => Promise<End>,
  prepare: Prepare<End>,
): Promise<Opened<End>> {
  await schema.initialize();
  let end: End | undefined;
  const close = async (): Promise<void> => {
    await end?.close();
    await schema.destroy();
  };
  try {
    end = await openEnd();
    await prepare(schema, end);
    return { schema, end, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Creates the schema when there is none. The mark of the move comes before it, so that no service starts on a target
 * that has tables and no rows yet.
 * @throws StartError when the schema differs from the source's
 */
async function create(schema: DataSource, target: MoveTarget, sourcePlace: string): Promise<void> {
  await requireKnown(schema);
  if ((await new MigrationExecutor(schema).getExecutedMigrations()).length === 0) {
    await requireUnusedKeys(schema);
    await target.begin(sourcePlace);
  }
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
