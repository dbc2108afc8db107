import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

/** Loaded before the script: stops the process for good before the statement that it is told to stop at. */
const HOLD = `
  const { writeSync } = require('node:fs');
  const at = new RegExp(process.env.TEST_HOLD_AT);
  let left = Number(process.env.TEST_HOLD_COUNT);
  const look = (sql) => {
    if (!at.test(typeof sql === 'string' ? sql : sql?.text) || --left > 0) return;
    writeSync(2, 'HELD');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  };
  // Statements that are kept prepared are looked at each time they run.
  const Sqlite = require('better-sqlite3');
  const statement = Object.getPrototypeOf(new Sqlite(':memory:').prepare('SELECT 1'));
  const { run } = statement;
  statement.run = function (...given) { look(this.source); return run.apply(this, given); };
  const fs = require('node:fs');
  const { renameSync } = fs;
  fs.renameSync = function (...given) { look('rename to ' + given[1]); return renameSync.apply(this, given); };
  for (const [type, names] of [[require('pg').Client, ['query']], [require('better-sqlite3'), ['prepare', 'exec']]])
    for (const name of names) {
      const original = type.prototype[name];
      type.prototype[name] = function (...given) { look(given[0]); return original.apply(this, given); };
    }
`;

interface Build {
  readonly directory: string;
}

export interface ScriptRun {
  readonly code: number | null;
  readonly output: string;
  readonly stdout: string;
  readonly stderr: string;
}

/** The place in a script at which it is killed: before the `count`th statement, or `rename to FILE`, that matches. */
export interface Moment {
  readonly at: string;
  readonly count?: number;
}

/** Runs one of the compiled commands of `apps/api/src`, with `kill` only as far as there: its end is a SIGKILL then. */
export function runScript(
  build: Build,
  name: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  kill?: Moment,
): Promise<ScriptRun> {
  return run(build, join('apps/api/src', name), args, environment, kill);
}

/** {@link runScript} of a command of `npm run admin`. */
export function runAdmin(
  build: Build,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  kill?: Moment,
): Promise<ScriptRun> {
  return run(build, 'apps/admin/src/main.js', args, environment, kill);
}

function run(
  build: Build,
  path: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  kill: Moment | undefined,
): Promise<ScriptRun> {
  const hold = join(build.directory, 'hold.cjs');
  if (kill !== undefined) writeFileSync(hold, HOLD);
  const child = spawn(
    process.execPath,
    [...(kill ? ['--require', hold] : []), join(build.directory, path), ...args],
    {
      cwd: build.directory,
      env: {
        PATH: process.env['PATH'],
        NODE_PATH: join(ROOT, 'node_modules'),
        TEST_HOLD_AT: kill?.at,
        TEST_HOLD_COUNT: String(kill?.count ?? 1),
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const taken = { stdout: '', stderr: '', output: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      taken[name] += chunk.toString();
      taken.output += chunk.toString();
      if (kill !== undefined && taken.stderr.includes('HELD')) child.kill('SIGKILL');
    });
  }
  return new Promise((done) => child.on('close', (code) => done({ code, ...taken })));
}
