import { OwnError } from '@app/kernel';

import type { EntityManager } from 'typeorm';

/** The engines that the same code runs on. */
export type Engine = 'sqlite' | 'postgres';

/** A value that both engines bind without conversion; times and ids are text, flags are 0 and 1. */
export type SqlValue = string | number | null;

/** A list as one value, for `unnest`: PostgreSQL alone takes it. */
export type SqlList = readonly SqlValue[];

/**
 * One unit's view of the database: every statement belongs to the unit's transaction, and none is accepted after it.
 * `manager` is for everything where convenience counts; the three statement methods keep prepared statements and are
 * for the paths that every request takes. Placeholders are `?`, on every engine. A statement may end in a row lock
 * (`FOR UPDATE`, `FOR SHARE`, `SKIP LOCKED`), which SQLite, whose writers take turns, passes over.
 */
export abstract class Tx {
  private closed = false;
  private callbacks: (() => void)[] | undefined;
  private notes: Map<object, unknown> | undefined;

  /** Where the engines have no text in common, an act chooses by it. */
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

  /** The number of rows changed: the way to a compare-and-set. */
  run(sql: string, ...values: readonly (SqlValue | SqlList)[]): Promise<number> {
    this.requireOpen();
    return this.execute(sql, values);
  }

  /** Runs `callback` once the unit is durable, before its caller hears of it; never if it is rolled back. */
  afterCommit(callback: () => void): void {
    this.requireOpen();
    (this.callbacks ??= []).push(callback);
  }

  /** What `owner` keeps for the time of this unit; `make` makes it when it is first asked for. */
  kept<Kept>(owner: object, make: () => Kept): Kept {
    this.notes ??= new Map();
    const known = this.notes.get(owner) as Kept | undefined;
    if (known !== undefined) return known;
    const made = make();
    this.notes.set(owner, made);
    return made;
  }

  /** For the UnitOfWork alone: nothing may use this unit any more. */
  close(): readonly (() => void)[] {
    this.closed = true;
    return this.callbacks ?? NONE;
  }

  private requireOpen(): void {
    if (this.closed) throw new OwnError('This unit of work has ended: await every statement inside it');
  }
}

const NONE: readonly (() => void)[] = [];
