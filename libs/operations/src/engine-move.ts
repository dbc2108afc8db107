import { CLOCK_LEASE, JobLease } from '@app/database';
import { StartError } from '@app/kernel';
import type { EntityMetadata } from 'typeorm';
import { readable } from './move-faults';
import { keyOf, type MovedTable, movedTables, type MovePlace, type Row } from './moved-tables';
import { PostgresMoveTarget } from './postgres.move-target';
import { SqliteMoveSource } from './sqlite.move-source';

/** The table whose rows the sealed logs are made of. */
const EVENTS = 'audit_events';
/** It is empty until the first start, and so are all others. */
const INSTALLATION_KEYS = { name: 'keys.service_keys' };

/** What a caller of {@link moveEngine} adds to it, and what it calls. */
interface MoveWatch {
  /** Called after every batch. */
  readonly onProgress: (step: MoveStep) => void;
  /** Called before an interrupted move continues, with the number of rows that it has moved. */
  readonly onContinued: (rows: number) => void;
  /** Rejects unless the present master key opens the keys of the source. */
  readonly requireKeys: () => Promise<void>;
  /** Verifies the sealed logs of the target, of which it reads alone, and rejects for a fault. */
  readonly verifyLogs: (onEvents: (count: number) => void) => Promise<void>;
}

/** The parts of a move, in their order. */
export const MOVE_PARTS = ['moving', 'verifying', 'log'] as const;

interface MoveStep {
  readonly part: (typeof MOVE_PARTS)[number];
  readonly table: string;
  readonly rows: number;
  readonly total: number;
  /** The rows of all tables in this part. */
  readonly all: { readonly done: number; readonly total: number };
}

/**
 * Moves all rows of a SQLite file into an empty PostgreSQL database. It ends after both sides were read again and compared
 * row by row, and after the sealed logs of the target were verified. The source stays unchanged. After an interruption the
 * next run continues with the next batch. No service starts on the target before the move has ended.
 * @throws StartError with the remedy.
 */
export async function moveEngine(from: MovePlace, to: MovePlace, watch: MoveWatch): Promise<number> {
  const source = await SqliteMoveSource.open(from);
  try {
    if (source.count(INSTALLATION_KEYS) > 0) await watch.requireKeys();
    const target = await PostgresMoveTarget.open(to, from.engine.place);
    try {
      return await new EngineMove(source, target, watch).run(to);
    } finally {
      await target.close();
    }
  } catch (error) {
    throw readable(error);
  } finally {
    await source.close();
  }
}

class EngineMove {
  private readonly totals = new Map<MovedTable, number>();
  private total = 0;

  constructor(
    private readonly source: SqliteMoveSource,
    private readonly target: PostgresMoveTarget,
    private readonly watch: MoveWatch,
  ) {}

  async run(to: MovePlace): Promise<number> {
    const { target } = this;
    // Leases are left out. They expire, and the processes that held them have ended. One has the newest time on record.
    const isLease = ({ target: entity }: EntityMetadata): boolean => entity === JobLease;
    const [leases] = movedTables(target.entities.filter(isLease)) as [MovedTable];
    const moved = target.entities.filter((entity) => !isLease(entity));
    const tables = [...(await target.keyTables()), ...movedTables(moved)];
    for (const table of tables) this.totals.set(table, this.source.count(table));
    this.total = [...this.totals.values()].reduce((all, count) => all + count, 0);
    if (!(await target.isFilledInPart())) {
      if (await this.hasEnded()) return this.total;
      await requireEmpty(target, tables, to);
    }
    await this.copy();
    await this.compare();
    await target.analyze();
    if (this.source.count(INSTALLATION_KEYS) > 0) await this.verifyLogs();
    const clock = [...this.source.batches(leases)].flat().filter((row) => row.includes(CLOCK_LEASE));
    await target.finish(leases, clock);
    return this.total;
  }

  private async copy(): Promise<void> {
    const { source, target, watch, total: allRows } = this;
    const begun = await target.begin();
    const before = [...begun.values()].reduce((all, { rows }) => all + rows, 0);
    if (before > 0) watch.onContinued(before);
    let done = before;
    for (const [table, total] of this.totals) {
      let { rows, last } = begun.get(table.name) ?? { rows: 0, last: undefined };
      const step = (): void =>
        watch.onProgress({ part: 'moving', table: table.name, rows, total, all: { done, total: allRows } });
      step();
      for (const batch of source.batches(table, last)) {
        rows += batch.length;
        last = keyOf(table, batch.at(-1) ?? []);
        await target.append(table, batch, { rows, last });
        done += batch.length;
        step();
      }
    }
  }

  private async compare(): Promise<void> {
    const found = await this.difference();
    if (found === undefined) return;
    const { table, total, row } = found;
    throw new StartError(
      `${table.name} differs: ${total} rows in the source, ${await this.target.count(table)} in the target, the first difference at row ${row} in the order of the key. ` +
        'One of them was changed after the move had begun. The source is untouched: drop the target, create it again, and run this once more.',
    );
  }

  /** Whether the target has all rows of the source, and no others: a move whose connection was lost in the last commit can have ended. */
  private async hasEnded(): Promise<boolean> {
    for (const [table, total] of this.totals) if ((await this.target.count(table)) !== total) return false;
    return this.total > 0 && (await this.difference()) === undefined;
  }

  /** The first row in which both sides differ. */
  private async difference(): Promise<{ table: MovedTable; total: number; row: number } | undefined> {
    let before = 0;
    for (const [table, total] of this.totals) {
      const step = (rows: number): void =>
        this.watch.onProgress({
          ...{ part: 'verifying', table: table.name, rows, total },
          all: { done: before + rows, total: this.total },
        });
      step(0);
      const row = await this.firstDifference(table, step);
      if (row !== undefined) return { table, total, row };
      before += total;
    }
    return undefined;
  }

  /** Reads both sides in the order of the key, and compares each row; undefined when all are equal, and none is left over. */
  private async firstDifference(
    table: MovedTable,
    onRows: (count: number) => void,
  ): Promise<number | undefined> {
    let [rows, found]: [number, number | undefined] = [0, undefined];
    await this.target.read(table, async (next) => {
      for (const batch of this.source.batches(table)) {
        const there = await next(batch.length);
        const at = batch.findIndex((row, n) => !isSame(row, there[n]));
        if (at >= 0) return void (found = rows + at + 1);
        onRows((rows += batch.length));
      }
      if ((await next(1)).length > 0) found = rows + 1;
    });
    return found;
  }

  private async verifyLogs(): Promise<void> {
    const [, total = 0] = [...this.totals].find(([{ name }]) => name === EVENTS) ?? [];
    let done = 0;
    const step = (rows: number): void =>
      this.watch.onProgress({ part: 'log', table: EVENTS, rows, total, all: { done: rows, total } });
    await this.watch.verifyLogs((count) => step((done += count)));
    // Events that are not sealed yet are in no batch.
    if (done < total) step(total);
  }
}

function isSame(row: Row, other: Row | undefined): boolean {
  return other?.length === row.length && row.every((text, n) => text === other[n]);
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
