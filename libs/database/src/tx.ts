import { OwnError } from '@app/kernel';

import type { EntityManager } from 'typeorm';

/** The supported engines. */
export type Engine = 'sqlite' | 'postgres';

/** A value that both engines bind without conversion. Times and ids are text, flags are 0 and 1. */
export type SqlValue = string | number | null;

/** A list as one value, for `unnest`. Only PostgreSQL accepts it. */
export type SqlList = readonly SqlValue[];

/**
 * One unit's view of the database. Every statement belongs to the unit's transaction, and no statement is accepted
 * after its end. `manager` is for convenience. The three statement methods keep prepared statements and are for the
 * paths that every request takes. Placeholders are `?` on every engine. A statement may end in a row lock (`FOR
 * UPDATE`, `FOR SHARE`, `SKIP LOCKED`), which SQLite ignores, since its writers run one after the other.
 */
export abstract class Tx {
  private closed = false;
  private callbacks: (() => void)[] | undefined;
  private notes: Map<object, unknown> | undefined;

  /** The engine, for an act that needs a different statement on each. */
  abstract readonly engine: Engine;
  protected abstract readonly entityManager: EntityManager;
  protected abstract fetch(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<unknown[]>;
  protected abstract fetchOne(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<unknown>;
  protected abstract execute(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<number>;

  get manager(): EntityManager {
    this.requireOpen();
    return this.entityManager;
  }

  /** All rows. */
  all<Row>(sql: string, ...values: readonly (SqlValue | SqlList)[]): Promise<Row[]> {
    this.requireOpen();
    return this.fetch(sql, values) as Promise<Row[]>;
  }

  /** The first row, if there is one. */
  get<Row>(sql: string, ...values: readonly (SqlValue | SqlList)[]): Promise<Row | undefined> {
    this.requireOpen();
    return this.fetchOne(sql, values) as Promise<Row | undefined>;
  }

  /** The number of changed rows. With a condition in the statement this is a compare-and-set. */
  run(sql: string, ...values: readonly (SqlValue | SqlList)[]): Promise<number> {
    this.requireOpen();
    return this.execute(sql, values);
  }

  /**
   * Runs `callback` when the unit is durable and before its caller gets the answer. It never runs for a unit that is
   * rolled back.
   */
  afterCommit(callback: () => void): void {
    this.requireOpen();
    (this.callbacks ??= []).push(callback);
  }

  /** The object that `owner` keeps for this unit; `make` creates it at the first call. */
  kept<Kept>(owner: object, make: () => Kept): Kept {
    this.notes ??= new Map();
    const known = this.notes.get(owner) as Kept | undefined;
    if (known !== undefined) return known;
    const made = make();
    this.notes.set(owner, made);
    return made;
  }

  /** Ends the unit and returns its callbacks. Only the UnitOfWork calls it. */
  close(): readonly (() => void)[] {
    this.closed = true;
    return this.callbacks ?? NONE;
  }

  private requireOpen(): void {
    if (this.closed) throw new OwnError('This unit of work has ended: await every statement inside it');
  }
}

const NONE: readonly (() => void)[] = [];

/** The condition that a column has one of some values, which are one parameter: the SQL text does not depend on them. */
export function amongValues(
  tx: Tx,
  column: string,
  values: readonly string[],
): { readonly sql: string; readonly value: SqlValue | SqlList } {
  return tx.engine === 'postgres'
    ? { sql: `${column} = ANY(?)`, value: values }
    : { sql: `${column} IN (SELECT value FROM json_each(?))`, value: JSON.stringify(values) };
}

/** A part of a statement, with the values of its placeholders. */
export interface SqlPart {
  readonly sql: string;
  readonly values: readonly (SqlValue | SqlList)[];
}

/**
 * Rows of text as the table `given` of a statement, with their `place` from 1: one statement serves any number of rows on
 * both engines, and its text does not depend on their number.
 */
export function givenRows(
  tx: Tx,
  columns: readonly string[],
  rows: readonly (readonly (string | null)[])[],
): SqlPart {
  if (tx.engine === 'postgres') {
    const lists = columns.map(() => '?::text[]').join(', ');
    return {
      sql: `unnest(${lists}) WITH ORDINALITY AS given (${columns.join(', ')}, place)`,
      values: columns.map((_, at) => rows.map((row) => row[at] ?? null)),
    };
  }
  const fields = columns.map((column, at) => `value ->> ${at} AS ${column}`).join(', ');
  return {
    sql: `(SELECT ${fields}, key + 1 AS place FROM json_each(?)) AS given`,
    values: [JSON.stringify(rows)],
  };
}

/** Ends a unit that awaits something else than its statements, since it would block other units. */
export async function withinTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  if (timeoutMs === Infinity) return work;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new OwnError('A unit of work took too long: it may await its statements only')),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
