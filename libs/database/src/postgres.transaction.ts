import { OwnError } from '@app/kernel';
import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import { driverCode, isConnectionLost, notBegun, outcomeUnknown } from './database-faults';
import type { Beginning } from './postgres.beginnings';
import type { LateCommits } from './postgres.late-commits';
import { type Connected, PostgresTx } from './postgres.tx';
import type { Tx } from './tx';
import { withinTimeout } from './unit-timeout';

/** SQLSTATE of a statement in a failed transaction. */
const ABORTED = '25P02';
/** SQLSTATE of a warning. */
const WARNING = /^01/;
/** The longest time of a timer, in milliseconds. */
const NO_LIMIT = 2_147_483_647;

/** How a transaction runs. */
export interface Form {
  readonly begin: Beginning;
  readonly timeoutMs: number;
  readonly connected: Connected;
  /** For a unit that writes: its COMMIT can wait for a synchronous standby. */
  readonly late?: LateCommits;
}

/** What a committed transaction leaves. */
export interface Committed<T> {
  readonly value: T;
  readonly commitMs: number;
  readonly callbacks: readonly (() => void)[];
}

/** Runs `work` in one transaction on `client` and releases it. @throws the first fault of the unit */
export async function transaction<T>(
  client: PoolClient,
  source: DataSource,
  { begin, timeoutMs, connected, late }: Form,
  work: (tx: Tx) => Promise<T>,
): Promise<Committed<T>> {
  let broken = true;
  let isLate = false;
  try {
    const begun = client.query(begin);
    let refusal: Error | undefined;
    begun.catch((error: unknown) => (refusal = notBegun(error)));
    const tx = new PostgresTx(client, source, connected);
    let value: T;
    try {
      value = await withinTimeout(work(tx), timeoutMs);
      await begun.catch((error: unknown) => {
        throw notBegun(error);
      });
    } catch (error) {
      tx.close();
      broken = !(await rolledBack(client, error));
      // If several statements are sent together, those after the failed one fail too, and their errors can arrive
      // first.
      throw driverCode(error) === ABORTED ? (refusal ?? tx.firstFault ?? error) : error;
    }
    const callbacks = tx.close();
    const committingMs = performance.now();
    const committing = commit(client, late === undefined ? undefined : NO_LIMIT);
    isLate = late !== undefined && !(await late.isInTime(client, committing));
    if (isLate) throw outcomeUnknown();
    await committing;
    broken = false;
    return { value, commitMs: performance.now() - committingMs, callbacks };
  } finally {
    if (!isLate) client.release(broken);
  }
}

/**
 * @throws ApiError 503 when it is unknown whether the commit took effect. That is also so when the server has cancelled the
 * wait for its synchronous standby: it reports success with a warning, and a failover would lose the commit.
 */
async function commit(client: PoolClient, query_timeout?: number): Promise<void> {
  let isUnsure = false;
  const note = ({ code }: { code?: string }): void => void (isUnsure ||= WARNING.test(code ?? ''));
  client.on('notice', note);
  try {
    const statement: Beginning = { text: 'COMMIT', query_timeout };
    const { command } = await client.query(statement);
    // PostgreSQL answers ROLLBACK when a statement has failed and the unit has caught its error.
    if (command !== 'COMMIT') throw new OwnError('The unit of work went on after a statement had failed');
  } catch (error) {
    throw isConnectionLost(error) ? outcomeUnknown() : error;
  } finally {
    client.off('notice', note);
  }
  if (isUnsure) throw outcomeUnknown();
}

/** Resolves to false when the connection cannot be used again. */
async function rolledBack(client: PoolClient, error: unknown): Promise<boolean> {
  if (isConnectionLost(error)) return false;
  try {
    await client.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}
