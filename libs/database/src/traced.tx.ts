import type { Span } from '@app/tracing';
import type { EntityManager } from 'typeorm';
import type { TracedStatements } from './traced.statements';
import { type SqlList, type SqlValue, Tx } from './tx';

/** A unit's view of the database that records its statements. Everything else is that of `tx`. */
export class TracedTx extends Tx {
  statements = 0;

  constructor(
    private readonly tx: Tx,
    private readonly span: Span,
    private readonly traced: TracedStatements,
    private readonly outside: <T>(work: () => T) => T,
  ) {
    super();
  }

  get engine() {
    return this.tx.engine;
  }

  override get isOnStandby(): boolean {
    return this.tx.isOnStandby;
  }

  protected get entityManager(): EntityManager {
    const { manager } = this.tx;
    this.traced.observe(manager.dataSource);
    return manager;
  }

  /** What it starts belongs to no trace: it may go on for as long as the process. */
  override afterCommit(callback: () => void): void {
    this.tx.afterCommit(() => this.outside(callback));
  }

  override kept<Kept>(owner: object, make: () => Kept): Kept {
    return this.tx.kept(owner, make);
  }

  protected fetch(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<unknown[]> {
    return this.note(sql, () => this.tx.all(sql, ...values));
  }

  protected fetchOne(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<unknown> {
    return this.note(sql, () => this.tx.get(sql, ...values));
  }

  protected execute(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<number> {
    return this.note(sql, () => this.tx.run(sql, ...values));
  }

  private note<T>(sql: string, statement: () => Promise<T>): Promise<T> {
    return this.traced.run(this.span, ++this.statements, sql, statement);
  }
}
