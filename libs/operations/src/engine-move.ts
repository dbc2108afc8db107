import { createHash } from 'node:crypto';
import { driverCode, isConnectionLost } from '@app/database';
import { JobLease } from '@app/jobs';
import { StartError } from '@app/kernel';
import type { DataSource } from 'typeorm';
import {
  keyOf,
  keyTables,
  type MovedTable,
  movedTables,
  type MoveEnd,
  type MoveTarget,
  type Row,
} from './move-end';
import { type MovePlace, openSource, openTarget } from './move-places';

/** Called after every batch. */
export type OnProgress = (step: MoveStep) => void;

export interface MoveStep {
  readonly doing: 'moving' | 'verifying';
  readonly table: string;
  readonly rows: number;
  readonly total: number;
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
    const target = await openTarget(to, from.engine.place);
    try {
      const tables = [
        ...(await keyTables(target.end)),
        ...movedTables(target.schema.entityMetadatas, [leftOut(target.schema)]),
      ];
      if (!(await target.end.isFilledInPart())) await requireEmpty(target.end, tables, to);
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
