import { request } from 'node:http';
import { Client } from 'pg';
import { Bot } from '../support/bot';
import type { ChildService } from '../support/child-service';
import { useBuild } from '../support/build';
import { atDepth, isFull } from '../support/depth';
import { useFleet } from '../support/fleet';
import { RecordingReceiver } from '../support/recording-receiver';
import { subject, type SubjectIds } from '../support/snowflakes';
import { unlessCut } from '../support/unless-cut';
import { until } from '../support/until';

const build = useBuild();
const receiver = new RecordingReceiver();
beforeAll(() => receiver.start());
afterAll(() => receiver.stop());
beforeEach(() => {
  receiver.forget();
  receiver.delayMs = 10;
  receiver.fails = () => false;
});

/** Bots that use any api, each with its own receiver address. */
async function registered(through: ChildService, count: number, name: string): Promise<Bot[]> {
  const made: Bot[] = [];
  for (let at = 0; at < count; at++)
    made.push(await Bot.register(through.url, { webhook_url: receiver.at(`${name}-${at}`) }));
  return made;
}

/** The same bot through another api. */
function through(bot: Bot, { url }: ChildService): Bot {
  return new Bot(url, {
    id: bot.id,
    platform_bot_id: bot.platformBotId,
    name: bot.name,
    api_key: bot.key,
    api_key_prefix: '',
    webhook_secret: bot.webhookSecret,
  });
}

const of = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

interface Acknowledged {
  /** Erasure requests that were answered with 200. */
  readonly erasures: string[];
  /** Users whose revocations were answered with 200. */
  readonly revoked: string[];
}

/** Makes `count` events through the apis in turn, three of ten a revocation; calls `midway` after half of them. */
async function makeEvents(
  apis: readonly ChildService[],
  bots: readonly Bot[],
  count: number,
  midway: () => Promise<void> = async () => undefined,
): Promise<Acknowledged> {
  const acknowledged: Acknowledged = { erasures: [], revoked: [] };
  let next = 0;
  const one = async (index: number): Promise<void> => {
    const bot = through(of(bots, index), of(apis, index));
    const who = subject();
    if (index % 10 < 3) {
      await bot.post('/consents/request', { ...who, consent_version: '1' });
      await bot.post('/consents/accept', { ...who, consent_version: '1' });
      const { status } = await bot.post('/consents/revoke', who);
      if (status === 200) acknowledged.revoked.push(who.user_id);
    } else {
      const answer = await bot.post<{ request_id: string }>('/gdpr/forget-user', who);
      if (answer.status === 200) acknowledged.erasures.push(answer.data.request_id);
    }
  };
  const client = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      if (index === count / 2) await midway();
      await unlessCut(one(index));
    }
  };
  await Promise.all(Array.from({ length: 16 }, client));
  return acknowledged;
}

describe('two apis and two workers on one database', () => {
  const fleet = useFleet(build);
  let apis: ChildService[];
  let workers: ChildService[];
  let bots: Bot[];

  beforeAll(async () => {
    [apis, workers] = await Promise.all([
      Promise.all([fleet.api(), fleet.api()]),
      Promise.all([fleet.worker(), fleet.worker()]),
    ]);
    bots = await registered(of(apis, 0), 20, 'fleet');
  }, 120_000);

  /** Every acknowledged event arrived under one id, no delivery waits, and every erasure has `webhook_sent`. */
  async function expectNothingLost({ erasures, revoked }: Acknowledged): Promise<void> {
    const idsOf = new Map<unknown, Set<string>>();
    for (const { body, webhookId } of receiver.deliveries.values()) {
      const event = body['request_id'] ?? body['user_id'];
      idsOf.set(event, (idsOf.get(event) ?? new Set()).add(webhookId));
    }
    for (const event of [...erasures, ...revoked]) expect(idsOf.get(event)?.size).toBe(1);
    const [requests] = await fleet.database.rows<{ completed: number; told: number; all: number }>(
      `SELECT COUNT(*) FILTER (WHERE status = 'completed') AS completed, SUM(webhook_sent) AS told, COUNT(*) AS all
       FROM deletion_requests`,
    );
    expect(requests?.completed).toBe(requests?.all);
    expect(requests?.told).toBe(requests?.all);
    expect(await fleet.pending()).toBe(0);
  }

  it('send the first attempt of what an api has committed within 50 ms in the median', async () => {
    const [took, count]: [number[], number] = [[], atDepth(11, 51)];
    for (let times = 0; times < count; times++) {
      const id = await through(of(bots, times), of(apis, times)).hasForgotten(subject());
      const answeredMs = performance.now();
      const arrived = () => [...receiver.deliveries.values()].find(({ body }) => body['request_id'] === id);
      await until(() => arrived() !== undefined, 1);
      took.push((arrived()?.begunMs[0] ?? Infinity) - answeredMs);
    }
    expect(took.sort((a, b) => a - b)[(count - 1) / 2]).toBeLessThan(50);
  });

  it('deliver each of hundreds of events exactly once while nothing fails', async () => {
    const count = atDepth(40, 300);
    const acknowledged = await makeEvents(apis, bots, count);
    await until(async () => (await fleet.pending()) === 0);
    expect(acknowledged.erasures.length + acknowledged.revoked.length).toBe(count);
    await expectNothingLost(acknowledged);
    expect(receiver.deliveries.size).toBe(count);
    expect(receiver.attempts).toBe(count);
  }, 120_000);

  it('lose no event when an api and a worker are killed and the receiver fails, and finish its erasures', async () => {
    // Every seventh delivery fails at first, and every fiftieth three times.
    receiver.fails = (attempt, nth) => attempt <= (nth % 50 === 0 ? 3 : nth % 7 === 0 ? 1 : 0);
    const count = atDepth(80, 1_000);
    let held: Awaited<ReturnType<typeof erasuresHeld>> | undefined;
    const acknowledged = await makeEvents(apis, bots, count, async () => {
      held = await erasuresHeld(of(apis, 1), of(bots, 0));
      await Promise.all([of(apis, 1), of(workers, 1)].map((child) => child.end('SIGKILL')));
      await held.letGo();
      if (!isFull) await timePasses();
    });
    const left = () =>
      fleet.database.rows(`SELECT id FROM deletion_requests WHERE status = 'processing' LIMIT 1`);
    await until(async () => (await left()).length === 0, 100);
    await until(async () => (await fleet.pending()) === 0, 100);
    // Acts that the killed api did not acknowledge are committed or not.
    expect(acknowledged.erasures.length + acknowledged.revoked.length).toBeGreaterThan(count / 2);
    await expectNothingLost(acknowledged);
    expect([...receiver.overlapping]).toEqual([]);
    expect(await held?.statuses()).toEqual(['completed', 'completed', 'completed']);
  }, 120_000);

  /** Ends the leases of jobs, and makes the erasures that are under way old enough to be taken over. */
  async function timePasses(): Promise<void> {
    await fleet.database.run('DELETE FROM job_leases');
    await fleet.database.run(
      `UPDATE deletion_requests SET created_at = '2026-01-01T00:00:00.000Z' WHERE status = 'processing'`,
    );
  }

  /** Erasures that the api has begun and cannot end before `letGo`, since their data is locked. */
  async function erasuresHeld(api: ChildService, bot: Bot) {
    const whom = through(bot, api);
    await whom.hasCategory('held');
    const subjects: SubjectIds[] = [subject(), subject(), subject()];
    for (const who of subjects) {
      await whom.hasConsent(who);
      await whom.hasData(who, 'held', { value: 'x' });
    }
    const holder = new Client({ connectionString: fleet.database.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM user_data WHERE bot_id = $1 FOR UPDATE', [bot.id]);
    for (const who of subjects) void unlessCut(whom.post('/gdpr/forget-user', who));
    const digests = await fleet.digests();
    const users = subjects.map(({ user_id }) => digests.user(bot.id, user_id));
    const begun = () =>
      fleet.database.rows<{ id: string }>(
        'SELECT id FROM deletion_requests WHERE user_id IN (?, ?, ?)',
        ...users,
      );
    await until(async () => (await begun()).length === subjects.length);
    const ids = (await begun()).map(({ id }) => id);
    const statuses = async (): Promise<string[]> => {
      const sql = 'SELECT status FROM deletion_requests WHERE id IN (?, ?, ?)';
      return (await fleet.database.rows<{ status: string }>(sql, ...ids)).map(({ status }) => status);
    };
    return { letGo: () => holder.end(), statuses };
  }
});

describe('a worker', () => {
  const fleet = useFleet(build);

  it('answers probes and metrics, and nothing else', async () => {
    const worker = await fleet.worker();
    const status = async (path: string, method = 'GET') =>
      (await fetch(worker.url + path, { method })).status;
    expect(await status('/health/live')).toBe(200);
    expect(await status('/health/ready')).toBe(200);
    expect(await (await fetch(`${worker.url}/metrics`)).text()).toContain('\nlethe_up 1\n');
    for (const path of ['/', '/docs', '/docs-json', '/api/v1/audit/events', '/health', '/health/ready/'])
      expect(await status(path)).toBe(404);
    expect(await status('/api/v1/bots/register', 'POST')).toBe(404);
    expect((await worker.end('SIGTERM')).code).toBe(0);
  });

  it('that is killed amid its calls leaves them to another one, not before their leases have ended', async () => {
    receiver.delayMs = 2_500;
    const [api, doomed] = await Promise.all([fleet.api(), fleet.worker()]);
    const bots = await registered(api, 10, 'doomed');
    for (const bot of bots) await bot.hasForgotten(subject());
    await until(() => receiver.openCalls === 10);
    await doomed.end('SIGKILL');
    const leases = await fleet.database.rows<{ id: string; until: string }>(
      'SELECT id, locked_until AS until FROM webhook_deliveries',
    );
    const offsetMs = performance.now() - Date.now();
    const endsMs = new Map(leases.map(({ id, until }) => [id, Date.parse(until) + offsetMs]));
    receiver.delayMs = 10;
    const heir = await fleet.worker();
    await until(async () => (await fleet.pending()) === 0, 50);
    for (const { webhookId, begunMs } of receiver.deliveries.values()) {
      expect(begunMs).toHaveLength(2);
      expect(begunMs[1]).toBeGreaterThan(endsMs.get(webhookId) ?? Infinity);
    }
    const counted = await fleet.database.rows<{ attempts: number }>(
      'SELECT attempts FROM webhook_deliveries',
    );
    expect(counted.map(({ attempts }) => attempts)).toEqual(Array.from({ length: 10 }, () => 2));
    await Promise.all([api, heir].map((child) => child.end('SIGTERM')));
  }, 120_000);
});

describe('SIGTERM', () => {
  const fleet = useFleet(build);

  /** A request whose headers are sent, and whose body follows on demand. */
  async function underWay(bot: Bot): Promise<() => Promise<number>> {
    const body = JSON.stringify(subject());
    const asked = request(`${bot.baseUrl}/api/v1/gdpr/forget-user`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${bot.key}`,
        'content-type': 'application/json',
        'content-length': body.length,
        expect: '100-continue',
      },
      agent: false,
    });
    asked.flushHeaders();
    await new Promise((resolve) => asked.once('continue', resolve));
    return () =>
      new Promise((resolve, reject) => {
        asked.once('response', (answer) => resolve(answer.resume().statusCode ?? 0)).once('error', reject);
        asked.end(body);
      });
  }

  it('ends api and worker in order during 50 requests and 10 calls, and loses none', async () => {
    // Long enough for ten calls at one time on any machine, and far from the time limit of a call.
    receiver.delayMs = 2_000;
    const [api, worker] = await Promise.all([fleet.api(), fleet.worker({ WEBHOOK_TIMEOUT_MS: '20000' })]);
    const bots = await registered(api, 10, 'term');
    await Promise.all(bots.map((bot) => bot.hasForgotten(subject())));
    await until(() => receiver.openCalls === 10);
    const requests = await Promise.all(Array.from({ length: 50 }, (_, index) => underWay(of(bots, index))));
    await until(() => receiver.openCalls === 0);
    await Promise.all(bots.map((bot) => bot.hasForgotten(subject())));
    await until(() => receiver.openCalls === 10);
    const sinceMs = performance.now();
    const ended = Promise.all([api.end('SIGTERM'), worker.end('SIGTERM')]);
    const isReady = () =>
      fetch(`${api.url}/health/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until(async () => !(await isReady()));
    // The worker answers probes while it waits for its calls.
    await until(async () => (await fetch(`${worker.url}/health/ready`)).status === 503);
    const statuses = await Promise.all(requests.map((finish) => finish()));
    expect((await ended).map(({ code }) => code)).toEqual([0, 0]);
    expect(performance.now() - sinceMs).toBeLessThan(20_000);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const [told] = await fleet.database.rows<{ told: number; all: number }>(
      'SELECT SUM(webhook_sent) AS told, COUNT(*) AS all FROM deletion_requests',
    );
    expect(told).toEqual({ told: 20, all: 70 });
    receiver.delayMs = 10;
    await fleet.worker();
    await until(async () => (await fleet.pending()) === 0);
    expect([receiver.deliveries.size, receiver.attempts]).toEqual([70, 70]);
  }, 120_000);
});
