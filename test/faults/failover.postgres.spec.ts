import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { adminHere } from '../support/here';
import { Replicated } from '../support/replicated';
import { subject, type SubjectIds } from '../support/snowflakes';
import { unlessCut } from '../support/unless-cut';
import { until } from '../support/until';

// The primary is lost under load, and its standby is promoted. The processes know both servers.

const build = useBuild();
const LETHE_MASTER_KEY = Buffer.alloc(32, 'failover').toString('base64');
/** How soon the processes serve again behind a promotion, in milliseconds. */
const SERVES_MS = 5_000;

const directory = mkdtempSync(join(tmpdir(), 'lethe-failover-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Acknowledged {
  readonly events: string[];
  readonly erased: SubjectIds[];
}

/** Clients that act on all processes until they are stopped. */
class Load {
  readonly acknowledged: Acknowledged = { events: [], erased: [] };
  readonly answers = new Map<number, number>();
  /** When each process has last answered an act with success. */
  readonly servedMs = new Map<string, number>();
  private isRunning = true;
  private readonly clients: Promise<void>[];

  constructor(bots: readonly Bot[]) {
    this.clients = bots.flatMap((bot) => [1, 2, 3, 4].map((client) => this.run(bot, client === 1)));
  }

  async stop(): Promise<void> {
    this.isRunning = false;
    await Promise.all(this.clients);
  }

  /** Resolves when as many further acts were answered with success. */
  more(count: number): Promise<void> {
    const wanted = this.done + count;
    return until(() => this.done >= wanted);
  }

  private get done(): number {
    return this.acknowledged.events.length + this.acknowledged.erased.length;
  }

  private async run(bot: Bot, erases: boolean): Promise<void> {
    while (this.isRunning) await (erases ? this.erase(bot) : this.note(bot));
  }

  private async note(bot: Bot): Promise<void> {
    const answer = await bot.post<{ id: string }>('/audit/event', {
      ...subject(),
      event_type: 'data_exported',
    });
    if (this.count(bot, answer.status, 201)) this.acknowledged.events.push(answer.data.id);
  }

  private async erase(bot: Bot): Promise<void> {
    const who = subject();
    for (const [path, more] of [
      ['/consents/request', { consent_version: '1' }],
      ['/consents/accept', { consent_version: '1' }],
      ['/data/submit', { category: 'profile', data: { value: 'x' } }],
    ] as const) {
      const { status } = await bot.post(path, { ...who, ...more });
      if (!this.count(bot, status, 200, 201)) return;
    }
    const { status } = await bot.post('/gdpr/forget-user', who);
    if (this.count(bot, status, 200)) this.acknowledged.erased.push(who);
  }

  private count(bot: Bot, status: number, ...successes: readonly number[]): boolean {
    this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
    const isSuccess = successes.includes(status);
    if (isSuccess) this.servedMs.set(bot.baseUrl, performance.now());
    return isSuccess;
  }
}

let replicated: Replicated;
let apis: ChildService[];
let bots: Bot[];
let settings: Record<string, string>;

async function begin(isSynchronous: boolean, more: Record<string, string> = {}): Promise<void> {
  replicated = await Replicated.create({ isSynchronous });
  settings = {
    ...(await replicated.database('lethe')),
    LETHE_MASTER_KEY,
    DATABASE_STATEMENT_TIMEOUT_MS: '2000',
    LOG_LEVEL: 'fatal',
    ...more,
  };
  apis = [1, 2].map((at) => new ChildService(build.directory, join(directory, `${at}.db`), settings));
  for (const api of apis) await api.start();
  const bot = await Bot.register((apis[0] as ChildService).url);
  await bot.hasCategory('profile');
  bots = apis.map((api) => bot.at(api));
}

async function end(): Promise<void> {
  await Promise.all(apis.map((api) => api.end('SIGKILL')));
  await replicated.remove();
}

const first = (): Bot => bots[0] as Bot;

/** Both processes have answered an act with success after `sinceMs`. */
const serveSince = (load: Load, sinceMs: number): Promise<void> =>
  until(() => bots.every((bot) => (load.servedMs.get(bot.baseUrl) ?? 0) > sinceMs), 5);

describe('with a synchronous standby', () => {
  beforeEach(() => begin(true));
  afterEach(end);

  /** Loses the primary, promotes the standby, and answers how long after it both processes serve. */
  async function fail(load: Load, lose: () => Promise<void> | void): Promise<number> {
    await load.more(100);
    await lose();
    await replicated.standby.promote();
    const promotedMs = performance.now();
    await serveSince(load, promotedMs);
    const tookMs = performance.now() - promotedMs;
    await load.more(100);
    await load.stop();
    return tookMs;
  }

  async function expectNothingLost({ acknowledged, answers }: Load): Promise<void> {
    expect([...answers.keys()].filter((status) => ![200, 201, 503].includes(status))).toEqual([]);
    const rows = await replicated.standby.sql<{ id: string }>('lethe', 'SELECT id FROM audit_events');
    const stored = new Set(rows.map(({ id }) => id));
    expect(acknowledged.events.filter((id) => !stored.has(id))).toEqual([]);
    for (const who of acknowledged.erased) expect((await first().export(who)).status).toBe(404);
  }

  it('a killed primary loses nothing that was answered, and both processes serve within five seconds', async () => {
    const load = new Load(bots);
    const tookMs = await fail(load, () => replicated.primary.kill());
    expect(tookMs).toBeLessThan(SERVES_MS);
    await expectNothingLost(load);
    // A primary that comes back as one is left alone by processes that start now, although it is named first.
    await replicated.primary.start();
    const late = await new ChildService(build.directory, join(directory, 'late.db'), settings).start();
    const { id } = (
      await first()
        .at(late)
        .post<{ id: string }>('/audit/event', { ...subject(), event_type: 'data_exported' })
    ).data;
    await late.end('SIGKILL');
    const where = `SELECT 1 FROM audit_events WHERE id = '${id}'`;
    expect(await replicated.standby.sql('lethe', where)).toHaveLength(1);
  });

  it('a primary that falls silent loses nothing either, and is left within fifteen seconds', async () => {
    const load = new Load(bots);
    const tookMs = await fail(load, () => replicated.primary.freeze());
    expect(tookMs).toBeLessThan(15_000);
    await expectNothingLost(load);
  });

  it('an act is not answered as done while the standby is away, even where the server reports its commit', async () => {
    await replicated.standby.kill();
    const note = () => first().post('/audit/event', { ...subject(), event_type: 'data_exported' });
    const answers = [note(), note()];
    const waiting = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'COMMIT'`;
    const commits = async () => (await replicated.primary.sql('lethe', waiting)).length;
    await until(async () => (await commits()) > 0);
    // An operator ends the wait of one: the server answers COMMIT with a warning, and a failover would lose it.
    await replicated.primary.sql('lethe', `SELECT pg_cancel_backend(pid) FROM (${waiting} LIMIT 1) AS one`);
    for (const answer of await Promise.all(answers))
      expect({ status: answer.status, ...answer.error }).toMatchObject({
        status: 503,
        message: expect.stringMatching(/failed during the commit: look whether it took effect/) as string,
      });
    expect(await replicated.primary.sql('lethe', 'SELECT 1 FROM audit_events')).not.toEqual([]);
    await replicated.standby.start();
    await until(async () => (await note()).status === 201);
  });
});

describe('with a synchronous standby that is away for long', () => {
  const POOL_SIZE = 3;
  const limits = { DATABASE_STATEMENT_TIMEOUT_MS: '500', DATABASE_LOCK_TIMEOUT_MS: '500' };
  /** When a COMMIT is given up, in milliseconds. */
  const LIMIT_MS = 5_500;
  beforeEach(() => begin(true, { ...limits, DATABASE_POOL_SIZE: String(POOL_SIZE) }));
  afterEach(end);

  const waits = async (): Promise<number> =>
    (await replicated.primary.sql('lethe', `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'`))
      .length;

  it('commits without an answer take no more of the server than the pools have, and no stop waits for them', async () => {
    await replicated.standby.kill();
    const load = new Load(bots);
    const most = POOL_SIZE * apis.length;
    let seen = 0;
    const untilMs = performance.now() + 3.5 * LIMIT_MS;
    await until(async () => {
      seen = Math.max(seen, await waits());
      return performance.now() > untilMs;
    }, 200);
    await load.stop();
    expect(seen).toBe(most);
    expect([...load.answers.keys()]).toEqual([503]);
    // The whole pool waits, and the reads go on.
    for (const bot of bots)
      for (const path of ['/bots/me', '/data/categories', '/audit/events'])
        expect((await bot.get(path)).status).toBe(200);
    await replicated.standby.start();
    const note = () => first().post('/audit/event', { ...subject(), event_type: 'data_exported' });
    await until(async () => (await note()).status === 201);
    await until(async () => (await waits()) === 0);
    await replicated.standby.kill();
    expect((await note()).status).toBe(503);
    // Further writes are refused at once, from the first that waits too long.
    const refusedMs = performance.now();
    expect((await note()).error).toMatchObject({
      message: expect.stringMatching(/nothing was changed/) as string,
    });
    expect(performance.now() - refusedMs).toBeLessThan(LIMIT_MS / 2);
    expect((await first().get('/bots/me')).status).toBe(200);
    const stoppedMs = performance.now();
    for (const ending of await Promise.all(apis.map((api) => api.end('SIGTERM'))))
      expect(ending).toMatchObject({ code: 0 });
    // At most one commit of a job, begun just before, is waited for.
    expect(performance.now() - stoppedMs).toBeLessThan(LIMIT_MS + 2_000);
  });
});

describe('with an asynchronous standby that was late', () => {
  beforeEach(() => begin(false));
  afterEach(end);

  it('a process that has used the new primary never goes back to the former one', async () => {
    const { primary, standby } = replicated;
    const who = subject();
    await first().hasConsent(who);
    const status = async () => (await unlessCut(first().status(who)))?.status;
    await primary.kill();
    await standby.promote();
    await until(async () => (await status()) === 200);
    // The new primary is away for a while, and the former one, which was not stopped, accepts writes.
    await standby.kill();
    await primary.start();
    for (let times = 0; times < 10; times++) {
      expect(await status()).toBe(503);
      const note = { ...subject(), event_type: 'data_exported' };
      expect((await first().post('/audit/event', note)).status).toBe(503);
    }
    await standby.start();
    await until(async () => (await status()) === 200);
  });

  it('an erasure that was answered is lost, and the exported ledger repeats it', async () => {
    const who = subject();
    await first().hasConsent(who);
    await first().hasData(who, 'profile', { value: 'x' });
    await replicated.following();
    await replicated.part();
    await first().hasForgotten(who);
    const ledger = join(directory, 'ledger.ndjson');
    expect((await adminHere(['ledger:export', '--out', ledger], settings)).code).toBe(0);
    await replicated.primary.kill();
    await replicated.standby.promote();
    await until(async () => (await unlessCut(first().status(who)))?.status === 200);
    // The answer was `completed`, and the data is back.
    expect((await first().export(who)).status).toBe(200);
    await Promise.all(apis.map((api) => api.end('SIGTERM')));
    expect(await adminHere(['ledger:import', '--in', ledger], settings)).toMatchObject({ code: 0 });
    for (const api of apis) await api.start();
    expect((await first().export(who)).status).toBe(404);
  });
});
