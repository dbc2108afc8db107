import { type ConnectionConfig, newClient } from './postgres.client';

/**
 * Vacuums a table on a connection of its own, without a time limit, until `stopping` is aborted. Answers the first warning
 * of the server, for example that the table belongs to another user and is left out.
 */
export async function vacuum(
  config: ConnectionConfig,
  table: string,
  stopping: AbortSignal,
): Promise<string | undefined> {
  // With pipelining the end would wait for the vacuum.
  const client = newClient({ ...config, pipeline: false, statement_timeout: 0, query_timeout: 0 });
  const stop = (): void => void client.end().catch(() => undefined);
  let warning: string | undefined;
  client.on('error', () => undefined);
  stopping.addEventListener('abort', stop);
  try {
    await client.connect();
    client.on('notice', ({ message }) => (warning ??= message));
    await client.query(`VACUUM (INDEX_CLEANUP ON) ${table}`);
  } finally {
    stopping.removeEventListener('abort', stop);
    await client.end().catch(() => undefined);
  }
  return warning;
}
