import type { MovedTable } from './move-end';

/** Called after every batch. */
export type OnProgress = (step: MoveStep) => void;

export interface MoveStep {
  readonly doing: 'moving' | 'verifying';
  readonly table: string;
  readonly rows: number;
  readonly total: number;
  /** The rows of all tables, each counted once when it is moved and once when it is compared. */
  readonly whole: { readonly done: number; readonly total: number };
}

/** Reports the rows of a table that are moved or compared. */
export type Tell = (doing: MoveStep['doing'], table: MovedTable, rows: number) => void;

/** Adds to each step how much of the whole is done. */
export function told(counts: ReadonlyMap<MovedTable, number>, onProgress: OnProgress): Tell {
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const done = { moving: new Map<MovedTable, number>(), verifying: new Map<MovedTable, number>() };
  const sumOf = (rows: ReadonlyMap<MovedTable, number>) =>
    [...rows.values()].reduce((sum, count) => sum + count, 0);
  return (doing, table, rows) => {
    done[doing].set(table, rows);
    const whole = { done: sumOf(done.moving) + sumOf(done.verifying), total: 2 * all };
    onProgress({ doing, table: table.name, rows, total: counts.get(table) ?? 0, whole });
  };
}
