import type { SqlValue, Tx } from './tx';

/** The only way to the database. A unit awaits nothing but its own statements. */
export abstract class UnitOfWork {
  /**
   * Runs `work` in one transaction. Resolves when it is committed and durable; rejects when nothing of it remains.
   * @throws ApiError 503 `service_unavailable` when the database cannot commit now; else whatever `work` throws.
   */
  abstract write<T>(work: (tx: Tx) => Promise<T>): Promise<T>;

  /** Runs `work` on one consistent snapshot of what was committed before the call; it cannot write. */
  abstract read<T>(work: (tx: Tx) => Promise<T>): Promise<T>;

  /** {@link read} for a single statement: its first row, if there is one. The cheapest way to the database. */
  abstract get<Row>(sql: string, ...values: readonly SqlValue[]): Promise<Row | undefined>;

  /** {@link read} for work that takes long, such as a streamed export: it holds up nobody. */
  abstract snapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T>;

  /**
   * Removes what erased rows left in the engine's own files, as far as the engine can; resolves when done or when it
   * has to be left to a later try. Call it after the erasing unit.
   */
  abstract scrub(): Promise<void>;

  /** @throws Error when the database does not answer; for the readiness probe. */
  abstract ping(): Promise<void>;
}
