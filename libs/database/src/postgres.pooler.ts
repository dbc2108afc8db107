import { StartError } from '@app/kernel';
import { Client } from 'pg';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import { newClient } from './postgres.client';
import { type PostgresConfig, pooledParameters } from './postgres.options';
import type { PostgresRoutes } from './postgres.unit-of-work';

/** A mark of one server and database: two connections with the same one lead to the same rows. */
const MARK = `SELECT d.oid::text || ' ' || extract(epoch FROM pg_postmaster_start_time())::text AS mark,
  pg_is_in_recovery() AS standby FROM pg_database d WHERE d.datname = current_database()`;

interface Mark {
  readonly mark: string;
  readonly standby: boolean;
}

/**
 * Refuses a pooler through which a transaction would lose what it relies on: its parameters, its mode, or the database to which
 * the direct connection leads.
 * @throws StartError, without a password
 */
export async function requireFaithfulPooler(
  options: PostgresDataSourceOptions,
  config: PostgresConfig,
  routes: PostgresRoutes,
  place: string,
): Promise<void> {
  const pooled = newClient({
    connectionString: options.url,
    connectionTimeoutMillis: options.connectTimeoutMS,
    ...(options.extra as object),
  });
  const direct = newClient(routes.direct);
  try {
    const [seen, there] = [await seenThrough(pooled, config, routes), await markOf(direct)];
    const lost = Object.keys(seen.differing);
    if (lost.length > 0)
      throw new StartError(`DATABASE_URL (${place}) loses settings of a transaction: ${lost.join(', ')}.`);
    if (seen.mark !== there.mark || seen.standby)
      throw new StartError(
        `DATABASE_URL (${place}) and DATABASE_DIRECT_URL lead to different servers or databases. Both must lead to the same primary.`,
      );
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(
      `The pooler of DATABASE_URL (${place}) cannot be used: ${String((error as Error).message)}. It must pool by transaction or by session, and reach the server.`,
    );
  } finally {
    await Promise.allSettled([pooled.end(), direct.end()]);
  }
}

async function markOf(client: Client): Promise<Mark> {
  client.on('error', () => undefined);
  await client.connect();
  return first((await client.query<Mark>(MARK)).rows);
}

/** What a unit sees through the pooler, from the same statements as every unit. */
async function seenThrough(
  client: Client,
  config: PostgresConfig,
  { beginnings }: PostgresRoutes,
): Promise<Mark & { readonly differing: Readonly<Record<string, string>> }> {
  client.on('error', () => undefined);
  await client.connect();
  await client.query(beginnings.write);
  const differing: Record<string, string> = {};
  const wanted = {
    ...pooledParameters(config),
    transaction_read_only: 'off',
    transaction_isolation: 'read committed',
  };
  for (const [name, value] of Object.entries(wanted)) {
    const { rows } = await client.query<{ value: string }>('SELECT current_setting($1) AS value', [name]);
    const found = first(rows).value;
    if (milliseconds(found) !== milliseconds(value)) differing[name] = found;
  }
  const mark = first((await client.query<Mark>(MARK)).rows);
  await client.query('COMMIT');
  return { ...mark, differing };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000 };

/** Times in one form: the server writes 10000ms as 10s. */
function milliseconds(value: string): string {
  const [, number, unit = ''] = /^(\d+)(ms|s|min|h)$/.exec(value) ?? [];
  return number === undefined ? value : String(Number(number) * (UNITS[unit] ?? NaN));
}

function first<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new StartError('The database does not say what it is.');
  return row;
}
