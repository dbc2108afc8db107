import makeDirectory from './jest.setup.mjs';
import { startPgbouncer } from './pgbouncer.mjs';
import { FAST, startPostgres } from './postgres.mjs';

/**
 * Starts the PostgreSQL server of this run, in which each suite makes its own databases. With TEST_POSTGRES_URL (a user
 * that may create databases) the suites use that server instead, of any supported version. With TEST_POOLER=pgbouncer the
 * services under test reach it through a PgBouncer in transaction mode.
 */
export default async function setup() {
  makeDirectory();
  await useServer();
  if (process.env.TEST_POOLER !== 'pgbouncer') return;
  const pooler = await startPgbouncer(process.env.TEST_POSTGRES_URL);
  process.env.TEST_POOLER_PORT = String(pooler.port);
  globalThis.stopPooler = pooler.stop;
}

async function useServer() {
  if (process.env.TEST_POSTGRES_URL) return;
  const settings = [...FAST, 'max_connections=500', 'shared_buffers=64MB'];
  const server = await startPostgres({ settings });
  process.env.TEST_POSTGRES_URL = server.url;
  globalThis.stopPostgres = server.stop;
}
