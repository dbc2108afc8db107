import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../dist/apps/api/src/main.js');
export const WORKER = join(import.meta.dirname, '../dist/apps/worker/src/main.js');
/** As `npm start` does. */
const FLAGS = ['--max-semi-space-size=8', '--initial-old-space-size=32'];
const STARTED = /^Lethe(?: listens on|'s worker runs; its state is at) (http:\/\/[^/\s]+)/m;
/** For a start that hangs: one that fails ends its process. */
const START_TIMEOUT_MS = 300_000;

/** A directory in `place` for the database of a server; removed at the end of the process. */
export function temporaryDirectory(place = tmpdir()) {
  const directory = mkdtempSync(join(place, 'lethe-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/**
 * Starts the built server on a free port of the loopback address, without the settings of the environment:
 * `{ url, pid, child, stop }`, where `stop` ends it in order and answers its exit code. Its log is written to `stdout`.
 * `flags` are further ones of Node.js; with `channel` the process can send messages.
 */
export async function startServer({
  directory = temporaryDirectory(),
  environment = {},
  stdout = 'ignore',
  program = [MAIN],
  flags = [],
  channel = false,
} = {}) {
  const settings = {
    PORT: '0',
    WORKER_PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_URL: `sqlite:${join(directory, 'lethe.db')}`,
  };
  const child = spawn(process.execPath, [...FLAGS, ...flags, ...program], {
    cwd: directory,
    env: { PATH: process.env.PATH, ...settings, ...environment },
    stdio: ['ignore', stdout, 'pipe', ...(channel ? ['ipc'] : [])],
  });
  const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  process.on('exit', () => child.kill('SIGKILL'));
  return {
    url: await readUrl(child),
    pid: child.pid,
    child,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

function readUrl(child) {
  return new Promise((resolve, reject) => {
    let said = '';
    const fail = () => reject(new Error(`the server did not start:\n${said}`));
    const timer = setTimeout(fail, START_TIMEOUT_MS);
    child.once('exit', fail);
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said += text;
      const url = STARTED.exec(said)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      child.off('exit', fail);
      resolve(url);
    });
  });
}
