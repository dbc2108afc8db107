import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteDatabase as Database } from '@app/database';
import { SQLITE_PACKAGE } from '../support/database';
import { Lethe } from '@lethe/sdk';
import { holders, runHolder } from '@lethe/sdk/holders';
import type { Bot } from '../support/bot';
import { PROCESS_ENVIRONMENT, useBuild } from '../support/build';
import { useService } from '../support/shared-service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { spawned } from '../support/spawned';

// A bot with a SQLite of its own and the service, each a process. The bot is killed at each of its steps. What begins anew after
// it, and is not killed, does its round in the process of the tests.

const service = useService();
const build = useBuild();
const directory = mkdtempSync(join(tmpdir(), 'lethe-holder-kill-'));
afterAll(() => rmSync(directory, { recursive: true }));
const script = (): string => join(build.workingDirectory, 'bot.cjs');
beforeAll(() => writeFileSync(script(), BOT));

/** Does one round, and kills itself at the given step: before a statement, around a call, and when its request is sent. */
const BOT = `
  const { appendFileSync } = require('node:fs');
  const { env } = process;
  let left = Number(env.TEST_FATAL);
  const step = (name) => {
    appendFileSync(env.TEST_STEPS, name + '\\n');
    if ((left -= 1) === 0) process.kill(process.pid, 'SIGKILL');
  };
  const Database = require('${SQLITE_PACKAGE}');
  const statement = Object.getPrototypeOf(new Database(':memory:').prepare('SELECT 1'));
  for (const name of ['run', 'all']) {
    const original = statement[name];
    statement[name] = function (...given) { step('before ' + this.source); return original.apply(this, given); };
  }
  require('node:diagnostics_channel').subscribe('undici:request:bodySent', ({ request: { method, path } }) => {
    if (method === 'POST') step('sent ' + method + ' ' + path);
  });
  const calling = async (address, init) => {
    const call = init.method + ' ' + new URL(address).pathname;
    step('before ' + call);
    const answer = await fetch(address, init);
    step('answered ' + call);
    return answer;
  };
  const { Lethe } = require(env.TEST_SDK + '/index.js');
  const { holders, runHolder } = require(env.TEST_SDK + '/holders/index.js');
  const stores = holders.sql(
    new Database(env.TEST_DATABASE),
    { table: 'messages', user: 'author_id', guild: 'guild_id' },
    { table: 'profiles', user: 'user_id' },
  );
  const timers = { set: () => undefined, clear: () => undefined };
  const onError = (error) => process.stderr.write(String(error) + '\\n');
  const lethe = new Lethe({ url: env.TEST_URL, key: env.TEST_KEY, fetch: calling });
  runHolder(lethe, { key: 'database', stores, timers, onError }).once().then(() => process.exit(0));
`;

interface Task {
  readonly task_id: string;
  readonly result: string | null;
  readonly counts: object | null;
  readonly answered_at: string | null;
  readonly user_id: string;
}

interface Found {
  readonly found: number;
}

const FOUND = { result: 'erased', counts: { messages: 2, profiles: 1 } };
/** So many lives are lived at once. */
const LANES = 4;
const ANSWER = /^sent POST .*\/acknowledge$/;

/** A bot with two users who are erased in Lethe, and one who is not. */
class Life {
  readonly users: readonly SubjectIds[] = Array.from({ length: 3 }, () => subject());
  private readonly path = join(directory, `${(Life.count += 1)}.db`);
  private static count = 0;

  private constructor(private readonly bot: Bot) {}

  static async begun(): Promise<Life> {
    const life = new Life(await service.registerBot());
    const database = new Database(life.path);
    database.exec(`CREATE TABLE messages (author_id TEXT, guild_id TEXT);
      CREATE TABLE profiles (user_id INTEGER PRIMARY KEY)`);
    const labels = { label_de: 'database', label_en: 'database' };
    const covers = ['messages', 'profiles'];
    await life.bot.post('/holders', { key: 'database', kind: 'pull', covers, ...labels });
    for (const { user_id, guild_id } of life.users) {
      for (let row = 0; row < 2; row++)
        database.prepare('INSERT INTO messages VALUES (?, ?)').run(user_id, guild_id);
      database.prepare('INSERT INTO profiles VALUES (?)').run(BigInt(user_id));
    }
    database.close();
    for (const who of life.users.slice(0, 2)) await life.bot.hasForgotten(who);
    return life;
  }

  /** One process of the bot, and the steps that it did. */
  async run(fatal = 0): Promise<{ readonly isKilled: boolean; readonly steps: readonly string[] }> {
    const steps = `${this.path}.steps`;
    rmSync(steps, { force: true });
    const env = {
      ...PROCESS_ENVIRONMENT,
      ...{ TEST_FATAL: String(fatal), TEST_STEPS: steps, TEST_DATABASE: this.path },
      ...{ TEST_SDK: join(build.directory, 'packages/sdk/src') },
      ...{ TEST_URL: service.url, TEST_KEY: this.bot.key },
    };
    const { code, output } = await spawned(process.execPath, [script()], { env }).ended;
    expect({ code: code ?? 0, output }).toEqual({ code: 0, output: '' });
    const done = existsSync(steps) ? readFileSync(steps, 'utf8').trimEnd().split('\n') : [];
    return { isKilled: code === null, steps: done };
  }

  /** One round of the bot that begins anew, and its answers. */
  async again(): Promise<readonly string[]> {
    const answers: string[] = [];
    const errors: unknown[] = [];
    const calling: typeof fetch = (address, init) => {
      const { pathname } = new URL(address);
      if (init?.method === 'POST' && pathname.endsWith('/acknowledge')) answers.push(pathname);
      return fetch(address, init);
    };
    const database = new Database(this.path);
    const stores = holders.sql(
      database,
      { table: 'messages', user: 'author_id', guild: 'guild_id' },
      { table: 'profiles', user: 'user_id' },
    );
    const timers = { set: () => undefined, clear: () => undefined };
    const onError = (error: unknown): void => void errors.push(error);
    const lethe = new Lethe({ url: service.url, key: this.bot.key, fetch: calling });
    await runHolder(lethe, { key: 'database', stores, timers, onError }).once();
    database.close();
    expect(errors).toEqual([]);
    return answers;
  }

  /** The tasks with the counts of their answers, which only the final certificate tells. */
  async tasks(): Promise<readonly Task[]> {
    const path = '/holders/database/tasks?since=2020-01-01T00:00:00Z';
    // Before the counts: an answer that was sent may still arrive.
    const { tasks } = (await this.bot.get<{ tasks: Task[] }>(path)).data;
    const stored = await service.database.rows<{ request_id: string; counts: string | null }>(
      'SELECT request_id, counts FROM holder_tasks WHERE bot_id = ?',
      this.bot.id,
    );
    const counts = new Map(stored.map((row) => [row.request_id, row.counts]));
    return tasks.map((task) => ({
      ...task,
      counts: JSON.parse(counts.get(task.task_id) ?? 'null') as object | null,
    }));
  }

  /** How many rows there are of each user. */
  rows(): number[] {
    const database = new Database(this.path);
    const count = (table: string, column: string, id: string): number => {
      const text = `SELECT count(*) AS found FROM ${table} WHERE CAST(${column} AS TEXT) = ?`;
      return (database.prepare(text).get(id) as Found).found;
    };
    const found = this.users.map(
      ({ user_id: id }) => count('messages', 'author_id', id) + count('profiles', 'user_id', id),
    );
    database.close();
    return found;
  }

  rowsOf = (id: string): number => this.rows()[this.users.findIndex(({ user_id }) => user_id === id)] ?? 0;
}

/** A life whose first process is killed at a step. */
async function killedAt(fatal: number): Promise<void> {
  const life = await Life.begun();
  const first = await life.run(fatal);
  const at = `${fatal}: ${first.steps.at(-1)}`;
  expect({ at, isKilled: first.isKilled }).toEqual({ at, isKilled: true });
  const answered = (await life.tasks()).filter(({ result }) => result !== null);
  for (const { result, counts, user_id } of answered)
    expect({ at, result, counts, rows: life.rowsOf(user_id) }).toEqual({ at, ...FOUND, rows: 0 });
  expect((await life.again()).length).toBeLessThanOrEqual(2 - answered.length);
  const after = await life.tasks();
  expect({ at, tasks: after, rows: life.rows() }).toMatchObject({
    ...{ at, tasks: [FOUND, FOUND], rows: [0, 0, 3] },
  });
  if (answered.length < 2) return;
  expect(await life.again()).toEqual([]);
  expect(await life.tasks()).toEqual(after);
}

describe('a process of a bot that is killed', () => {
  it('at any step has answered nothing that is not true, and the next one answers each task once with what was found first', async () => {
    const { steps } = await (await Life.begun()).run();
    const left = steps.map((_, at) => at + 1);
    const lane = async (): Promise<void> => {
      for (let fatal = left.shift(); fatal !== undefined; fatal = left.shift()) await killedAt(fatal);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    // The moments that differ: before and after a note, an erasure, the second look, and an answer.
    const about = (pattern: RegExp): number => steps.filter((step) => pattern.test(step)).length;
    expect([/SELECT count/, /INSERT INTO lethe_holder/, /DELETE FROM `/, ANSWER].map(about)).toEqual([
      ...[8, 10, 4, 2],
    ]);
    expect(about(/^answered POST .*acknowledge$/)).toBe(2);
  });
});
