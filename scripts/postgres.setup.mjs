import { FAST, startPostgres } from './postgres.mjs';

/** Starts the one PostgreSQL server of this run; each suite makes databases of its own in it. */
export default async function setup() {
  const server = await startPostgres({ settings: [...FAST, 'max_connections=500', 'shared_buffers=64MB'] });
  process.env.TEST_POSTGRES_URL = server.url;
  globalThis.stopPostgres = server.stop;
}
