import { FAST, startPostgres } from './postgres.mjs';

/**
 * Starts the one PostgreSQL server of this run; each suite makes databases of its own in it. With TEST_POSTGRES_URL
 * (a user that may create databases) the suites use that server instead, of whatever version it is.
 */
export default async function setup() {
  if (process.env.TEST_POSTGRES_URL) return;
  const settings = [...FAST, 'max_connections=500', 'shared_buffers=64MB'];
  const server = await startPostgres({ settings });
  process.env.TEST_POSTGRES_URL = server.url;
  globalThis.stopPostgres = server.stop;
}
