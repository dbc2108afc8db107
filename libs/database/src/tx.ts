import { inTime, OwnError } from '@app/kernel';
import type { EntityManager } from 'typeorm';

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

  /** The column `total` of the first row as a number; 0 without a row, and for null. */
  async total(sql: string, ...values: readonly (SqlValue | SqlList)[]): Promise<number> {
    return Number((await this.get<{ total: number | null }>(sql, ...values))?.total ?? 0);
  }

  /**
   * The rows that a question finds for each list of its values, in their order: by one statement on PostgreSQL, and by one for
   * each on SQLite, where that costs less. The question locks nothing, and its values are texts.
   */
  each<Row>(sql: string, asked: readonly (readonly string[])[]): Promise<Row[][]> {
    return Promise.all(asked.map((values) => this.all<Row>(sql, ...values)));
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

/**
 * The condition that the text of a column contains some parts in their order, in these letters: LIKE of SQLite does not
 * distinguish upper and lower case.
 */
export function containing(
  { engine }: Pick<Tx, 'engine'>,
  column: string,
  ...parts: readonly string[]
): { readonly sql: string; readonly value: string } {
  const [any, special, escape, operator] =
    engine === 'postgres'
      ? (['%', /[\\%_]/g, '\\$&', 'LIKE'] as const)
      : (['*', /[*?[]/g, '[$&]', 'GLOB'] as const);
  const escaped = parts.map((part) => part.replace(special, escape));
  return { sql: `${column} ${operator} ?`, value: ['', ...escaped, ''].join(any) };
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

/**
 * An insertion of any number of rows: by one statement on PostgreSQL, in the order of their first three columns, and one by
 * one on SQLite. It returns how many rows the engine has inserted or changed. `into` names the table; `end` is what follows
 * the values. All columns are text but those in `numbers`.
 */
export function insertion(
  into: `INSERT INTO ${string}`,
  columns: readonly string[],
  end: string,
  numbers: readonly string[] = [],
): (tx: Tx, rows: readonly (readonly SqlValue[])[]) => Promise<number> {
  const head = `${into} (${columns.join(', ')})`;
  const one = `${head} VALUES (${columns.map(() => '?').join(', ')}) ${end}`;
  const lists = columns.map((column) => (numbers.includes(column) ? '?::bigint[]' : '?::text[]'));
  const all = `${head} SELECT * FROM unnest(${lists.join(', ')}) AS given ORDER BY 1, 2, 3 ${end}`;
  return async (tx, rows) => {
    if (rows.length === 0) return 0;
    if (tx.engine === 'postgres')
      return tx.run(all, ...columns.map((_, at) => rows.map((row) => row[at] ?? null)));
    let done = 0;
    for (const row of rows) done += await tx.run(one, ...row);
    return done;
  };
}

/**
 * A search in `table` by its columns `key`, which are unique, with a row lock if one is named: one statement on PostgreSQL,
 * in the order of the keys. It finds at most one row for each key, in their order, else undefined. An act of a single caller,
 * `isAlone`, waits for rows that another unit has locked; for several callers such rows are undefined too.
 */
export function finding<Row>(
  table: string,
  key: readonly string[],
  columns: readonly string[],
  lock?: 'FOR UPDATE' | 'FOR SHARE' | 'FOR KEY SHARE',
): (tx: Tx, keys: readonly (readonly string[])[], isAlone: boolean) => Promise<readonly (Row | undefined)[]> {
  const shown = columns.map((column) => `${table}.${column}`).join(', ');
  const one = `SELECT ${shown} FROM ${table} WHERE ${key.map((column) => `${column} = ?`).join(' AND ')} ${lock ?? ''}`;
  const all = `SELECT given.place, ${shown}
    FROM unnest(${key.map(() => '?::text[]').join(', ')}) WITH ORDINALITY AS given (${key.join(', ')}, place)
    JOIN ${table} ON ${key.map((column) => `${table}.${column} = given.${column}`).join(' AND ')}
    ORDER BY ${key.map((column) => `${table}.${column}`).join(', ')} ${lock === undefined ? '' : `${lock} OF ${table}`}`;
  return async (tx, keys, isAlone) => {
    const found = new Array<Row | undefined>(keys.length).fill(undefined);
    if (tx.engine === 'sqlite' || (isAlone && keys.length === 1))
      for (const [at, values] of keys.entries()) found[at] = await tx.get<Row>(one, ...values);
    else {
      const lists = key.map((_, at) => keys.map((values) => values[at] ?? ''));
      const sql = isAlone || lock === undefined ? all : `${all} SKIP LOCKED`;
      for (const row of await tx.all<Row & { place: number }>(sql, ...lists))
        found[Number(row.place) - 1] = row;
    }
    return found;
  };
}

/** Ends a unit that awaits something else than its statements, since it would block other units. */
export function withinTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  if (timeoutMs === Infinity) return work;
  return inTime(work, timeoutMs, () => {
    throw new OwnError('A unit of work took too long: it may await its statements only');
  });
}
