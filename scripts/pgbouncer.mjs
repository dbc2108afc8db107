import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from './postgres.mjs';

const PROGRAM = '/usr/sbin/pgbouncer';

/** Whether the program is on this machine. */
export function hasPgbouncer() {
  return spawnSync(PROGRAM, ['--version']).status === 0;
}

/**
 * Starts a PgBouncer on a free port of the loopback address before the server of `url`, for all of its databases:
 * `{ urlOf, pid, kill, start, stop }`. `kill` and `start` leave the port the same.
 */
export async function startPgbouncer(url, settings = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'lethe-pgbouncer-'));
  // It refuses to run as root; its user reads the file.
  chmodSync(directory, 0o755);
  const server = new URL(url);
  const port = await freePort();
  const file = join(directory, 'pgbouncer.ini');
  const options = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    max_client_conn: 2000,
    default_pool_size: 20,
    ...settings,
  };
  const lines = Object.entries(options).map(([name, value]) => `${name} = ${value}`);
  const target = `host=${server.hostname} port=${server.port} user=${server.username} password=${server.password}`;
  writeFileSync(file, ['[databases]', `* = ${target}`, '[pgbouncer]', ...lines, ''].join('\n'));

  let child;
  const start = async () => {
    const as = userInfo().uid === 0 ? ['-u', 'postgres'] : [];
    child = spawn(PROGRAM, [...as, file], { stdio: ['ignore', 'ignore', 'pipe'] });
    const said = [];
    await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', () => reject(new Error(`PgBouncer did not start: ${said.join('')}`)));
      child.stderr.on('data', (chunk) => {
        said.push(String(chunk));
        if (said.join('').includes('process up')) resolve();
      });
    });
    child.stderr.removeAllListeners('data').resume();
    child.unref();
    child.stderr.unref();
  };
  const kill = async (signal = 'SIGKILL') => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  await start();
  return {
    port,
    urlOf: (direct) => Object.assign(new URL(direct), { host: `127.0.0.1:${port}` }).href,
    kill,
    start,
    signal: (signal) => child.kill(signal),
    stop: async () => {
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
