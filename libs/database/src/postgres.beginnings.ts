import type { QueryConfig } from 'pg';

/** A statement with a time limit of its own. */
export type Beginning = QueryConfig & { readonly query_timeout?: number };

/** How the transactions of a connection begin. */
export interface Beginnings {
  readonly write: Beginning;
  readonly read: Beginning;
  /** Whether a transaction pooler is between the process and the server: two transactions share no session. */
  readonly isPooled: boolean;
}

const WRITE = 'ISOLATION LEVEL READ COMMITTED READ WRITE';
const READ = 'ISOLATION LEVEL REPEATABLE READ READ ONLY';
/** A standby refuses READ WRITE: its reads can be late, and a pooler may lead to one without a sign. */
const READ_ON_PRIMARY = ['ISOLATION LEVEL REPEATABLE READ READ WRITE', 'READ ONLY'];

/** On connections that were opened with their parameters. */
export const DIRECT: Beginnings = {
  write: { text: `BEGIN ${WRITE}` },
  read: { text: `BEGIN ${READ}` },
  isPooled: false,
};

/**
 * Each transaction sets its parameters. If one of these statements fails, the transaction has begun and is aborted: the
 * statements that were sent behind it are refused. A failed BEGIN with options would leave them outside a transaction.
 * The wait for a free connection of the pooler is part of the first statement, which has a limit of its own.
 */
export function pooledBeginnings(
  parameters: Readonly<Record<string, string>>,
  query_timeout: number,
): Beginnings {
  const locals = Object.entries(parameters).map(([name, value]) => `SET LOCAL ${name} = '${value}'`);
  const begin = (...modes: readonly string[]): Beginning => ({
    text: ['BEGIN', ...modes.map((mode) => `SET TRANSACTION ${mode}`), ...locals].join('; '),
    query_timeout,
  });
  return { write: begin(WRITE), read: begin(...READ_ON_PRIMARY), isPooled: true };
}
