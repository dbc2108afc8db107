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
  for (const [type, names] of [[require('pg').Client, ['query']], [require('better-sqlite3'), ['prepare', 'exec']]])
    for (const name of names) {
      const original = type.prototype[name];
      type.prototype[name] = function (...given) { look(given[0]); return original.apply(this, given); };
    }
`;

export interface ScriptRun {
  readonly code: number | null;
  readonly output: string;
}

/** The place in a script at which it is killed: before the `count`th statement that matches. */
export interface Moment {
  readonly at: string;
  readonly count?: number;
}

/** Runs one of the compiled commands of `apps/api/src`, with `kill` only as far as there: its end is a SIGKILL then. */
export function runScript(
  build: { readonly directory: string },
  name: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  kill?: Moment,
): Promise<ScriptRun> {
  const hold = join(build.directory, 'hold.cjs');
  if (kill !== undefined) writeFileSync(hold, HOLD);
  const child = spawn(
    process.execPath,
    [...(kill ? ['--require', hold] : []), join(build.directory, 'apps/api/src', name), ...args],
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
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (kill !== undefined && output.includes('HELD')) child.kill('SIGKILL');
    });
  }
  return new Promise((done) => child.on('close', (code) => done({ code, output })));
}
