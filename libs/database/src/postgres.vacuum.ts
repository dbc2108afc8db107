import { OwnError } from '@app/kernel';
import { Client, type ClientConfig } from 'pg';

/**
 * Vacuums a table on a connection of its own, without a time limit. Empty pages at the end of its file are removed.
 * @throws OwnError with the warning of the server, for example that the table belongs to another user and is left out
 */
export async function vacuum(config: ClientConfig, table: string): Promise<void> {
  const client = new Client({ ...config, statement_timeout: 0, query_timeout: 0 });
  let warning: string | undefined;
  client.on('error', () => undefined);
  client.on('notice', ({ message }) => (warning ??= message));
  try {
    await client.connect();
    await client.query(`VACUUM (INDEX_CLEANUP ON, TRUNCATE ON) ${table}`);
  } finally {
    await client.end().catch(() => undefined);
  }
  if (warning !== undefined) throw new OwnError(`PostgreSQL did not vacuum ${table}: ${warning}`);
}
