import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Build, type Program, PROCESS_ENVIRONMENT, startOf } from './build';
import { SQLITE_PACKAGE } from './database';
import { type ScriptRun, spawned } from './spawned';

export type { ScriptRun };

/**
 * Loaded before the program: the process kills itself before a given statement. The environment names the statement, or else
 * a later message does. A service that gets a message has prepared its statements already, so that `run`, `get` and `all` of
 * SQLite are looked at. Without a message `prepare` is looked at too, and `run` alone, so that a count stays the same.
 */
const HOLD = `
  const { writeSync } = require('node:fs');
  const { TEST_HOLD_AT, TEST_HOLD_COUNT } = process.env;
  const isLater = TEST_HOLD_AT === undefined;
  let at = isLater ? undefined : new RegExp(TEST_HOLD_AT);
  let left = Number(TEST_HOLD_COUNT ?? 1);
  if (isLater)
    process.on('message', (moment) => {
      at = new RegExp(moment);
      process.send('ready');
    });
  const look = (sql) => {
    if (!at?.test(typeof sql === 'string' ? sql : sql?.text) || --left > 0) return;
    writeSync(2, 'HELD');
    process.kill(process.pid, 'SIGKILL');
  };
  // Statements that are kept prepared are looked at each time they run.
  const Sqlite = require('${SQLITE_PACKAGE}');
  const statement = Object.getPrototypeOf(new Sqlite(':memory:').prepare('SELECT 1'));
  for (const name of isLater ? ['run', 'get', 'all'] : ['run']) {
    const original = statement[name];
    statement[name] = function (...given) { look(this.source); return original.apply(this, given); };
  }
  const fs = require('node:fs');
  const { renameSync } = fs;
  fs.renameSync = function (...given) { look('rename to ' + given[1]); return renameSync.apply(this, given); };
  for (const [type, names] of [[require('pg').Client, ['query']], [Sqlite, ['prepare', 'exec']]])
    for (const name of names) {
      const original = type.prototype[name];
      type.prototype[name] = function (...given) { look(given[0]); return original.apply(this, given); };
    }
`;

/** The place in a script at which it is killed: before the `count`th statement, or `rename to FILE`, that matches. */
export interface Moment {
  readonly at: string;
  readonly count?: number;
}

/** The environment of a process that kills itself at this moment, after it wrote HELD to its errors. */
export function killedAt({ at, count = 1 }: Moment, workingDirectory: string): Record<string, string> {
  return {
    ...preloading(HOLD, workingDirectory, 'hold'),
    TEST_HOLD_AT: at,
    TEST_HOLD_COUNT: String(count),
  };
}

/** The environment of a process that takes the statement before which it kills itself as a message. */
export function killable(workingDirectory: string): Record<string, string> {
  return preloading(HOLD, workingDirectory, 'hold');
}

/** The environment of a process that runs this code before its program. */
export function preloading(code: string, workingDirectory: string, name: string): { NODE_OPTIONS: string } {
  const file = join(workingDirectory, `${name}.cjs`);
  writeFileSync(file, code);
  return { NODE_OPTIONS: `--require ${JSON.stringify(file)}` };
}

/** Runs a command in a process of its own. With `kill` the process runs up to that moment and is ended by SIGKILL. */
export function runScript(
  { directory, workingDirectory }: Build,
  program: Program,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  kill?: Moment,
): Promise<ScriptRun> {
  return spawned(process.execPath, [...startOf(directory, program), ...args], {
    cwd: workingDirectory,
    env: { ...PROCESS_ENVIRONMENT, ...(kill && killedAt(kill, workingDirectory)), ...environment },
  }).ended;
}
