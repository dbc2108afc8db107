import { request } from 'node:http';
import { Client } from 'pg';
import { Bot } from '../support/bot';
import type { ChildService } from '../support/child-service';
import { useBuild } from '../support/build';
import { atDepth } from '../support/depth';
import { useFleet } from '../support/fleet';
import { RecordingReceiver } from '../support/recording-receiver';
import { subject } from '../support/snowflakes';
import { unlessCut } from '../support/unless-cut';
import { until } from '../support/until';

const build = useBuild();
const receiver = new RecordingReceiver();
beforeAll(() => receiver.start());
afterAll(() => receiver.stop());
beforeEach(() => {
  receiver.forget();
  receiver.fails = () => false;
});

/** Bots that use any api, each with its own receiver address. */
async function registered(through: ChildService, count: number, name: string): Promise<Bot[]> {
  const made: Bot[] = [];
  for (let at = 0; at < count; at++)
    made.push(await Bot.register(through.url, { webhook_url: receiver.at(`${name}-${at}`) }));
  return made;
}

const of = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

/** Of calls that no slow machine ends. */
const UNHURRIED = { WEBHOOK_TIMEOUT_MS: '120000', SHUTDOWN_TIMEOUT_MS: '600000' };
/** A call that is cut at a shutdown has had eight seconds, with the inaccuracy of a timer. */
const DRAINED_MS = 7_900;

interface Acknowledged {
  /** How many acts each api has answered with 200. */
  readonly byApi: Map<ChildService, number>;
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
  const acknowledged: Acknowledged = { byApi: new Map(), erasures: [], revoked: [] };
  let next = 0;
  const one = async (index: number): Promise<void> => {
    const api = of(apis, index);
    const bot = of(bots, index).at(api);
    const note = (made: string[], what: string): void => {
      made.push(what);
      acknowledged.byApi.set(api, (acknowledged.byApi.get(api) ?? 0) + 1);
    };
    const who = subject();
    if (index % 10 < 3) {
      await bot.post('/consents/request', { ...who, consent_version: '1' });
      await bot.post('/consents/accept', { ...who, consent_version: '1' });
      const { status } = await bot.post('/consents/revoke', who);
      if (status === 200) note(acknowledged.revoked, who.user_id);
    } else {
      const answer = await bot.post<{ request_id: string }>('/gdpr/forget-user', who);
      if (answer.status === 200) note(acknowledged.erasures, answer.data.request_id);
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
  });

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

  it('deliver each event exactly once while nothing fails', async () => {
    const count = atDepth(30, 300);
    const acknowledged = await makeEvents(apis, bots, count);
    await until(async () => (await fleet.pending()) === 0);
    expect(acknowledged.erasures.length + acknowledged.revoked.length).toBe(count);
    await expectNothingLost(acknowledged);
    expect(receiver.deliveries.size).toBe(count);
    expect(receiver.attempts).toBeLessThanOrEqual(count + (await late()).length);
  });

  it('lose no event when an api and a worker are killed and the receiver fails, and finish its erasures', async () => {
    // Every seventh delivery fails at first, and every fiftieth three times.
    receiver.fails = (attempt, nth) => attempt <= (nth % 50 === 0 ? 3 : nth % 7 === 0 ? 1 : 0);
    const count = atDepth(60, 1_000);
    const doomed = await fleet.api();
    let held: Awaited<ReturnType<typeof erasureHeld>> | undefined;
    const acknowledged = await makeEvents([of(apis, 0), doomed], bots, count, async () => {
      held = await erasureHeld(doomed, of(bots, 0));
      await Promise.all([doomed, of(workers, 1)].map((child) => child.end('SIGKILL')));
      await held.letGo();
      await fleet.database.run('DELETE FROM job_leases');
    });
    const left = () =>
      fleet.database.rows(`SELECT id FROM deletion_requests WHERE status = 'processing' LIMIT 1`);
    await until(async () => {
      await erasuresAge();
      return (await left()).length === 0;
    }, 100);
    await until(async () => (await fleet.pending()) === 0, 100);
    // Acts that the killed api did not acknowledge are committed or not. The other one has acknowledged all of its acts.
    expect(acknowledged.byApi.get(of(apis, 0))).toBe(count / 2);
    await expectNothingLost(acknowledged);
    const repeated = new Set(await late());
    expect([...receiver.overlapping].filter((id) => !repeated.has(id))).toEqual([]);
    expect(await held?.status()).toBe('completed');
  });

  it('answer probes and metrics by their workers, and nothing else', async () => {
    const [worker] = workers as [ChildService];
    const status = async (path: string, method = 'GET') =>
      (await fetch(worker.url + path, { method })).status;
    expect(await status('/health/live')).toBe(200);
    // A ping of the database that takes long is answered 503.
    await until(async () => (await status('/health/ready')) === 200);
    expect(await (await fetch(`${worker.url}/metrics`)).text()).toContain('\nlethe_up 1\n');
    for (const path of ['/', '/docs', '/docs-json', '/api/v1/audit/events', '/health', '/health/ready/'])
      expect(await status(path)).toBe(404);
    expect(await status('/api/v1/bots/register', 'POST')).toBe(404);
    expect((await worker.end('SIGTERM')).code).toBe(0);
  });

  /** The calls that a machine which is stopped for seconds has not answered in time, each as often as that: they are made again. */
  async function late(): Promise<string[]> {
    const calls = await fleet.database.rows<{ id: string }>(
      `SELECT delivery_id AS id FROM webhook_attempts WHERE outcome IN ('timed_out', 'not_connected_in_time')`,
    );
    return calls.map(({ id }) => id);
  }

  /** Makes the erasures that are under way old enough to be taken over. */
  async function erasuresAge(): Promise<void> {
    await fleet.database.run(
      `UPDATE deletion_requests SET created_at = '2026-01-01T00:00:00.000Z' WHERE status = 'processing'`,
    );
  }

  /**
   * An erasure that the api has begun and cannot end before `letGo`, since its data is locked. It is one of all guilds, which
   * begins in a unit of its own: several that begin together would be on record once they are completed.
   */
  async function erasureHeld(api: ChildService, bot: Bot) {
    const who = subject();
    await bot.hasCategory('held');
    await bot.hasConsent(who);
    await bot.hasData(who, 'held', { value: 'x' });
    const holder = new Client({ connectionString: fleet.database.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM user_data WHERE bot_id = $1 FOR UPDATE', [bot.id]);
    const { user_id } = who;
    void unlessCut(bot.at(api).post('/gdpr/forget-user', { user_id, scope: 'all_guilds' }));
    const user = (await fleet.digests()).user(bot.id, user_id);
    const status = async (): Promise<string | undefined> => {
      const sql = 'SELECT status FROM deletion_requests WHERE user_id = ?';
      const [request] = await fleet.database.rows<{ status: string }>(sql, user);
      return request?.status;
    };
    await until(async () => (await status()) === 'processing');
    return { letGo: () => holder.end(), status };
  }
});

describe('a worker', () => {
  const fleet = useFleet(build);

  it('that is killed amid its calls leaves them to another one, not before their leases have ended', async () => {
    receiver.hold();
    const [api, doomed] = await Promise.all([fleet.api(), fleet.worker(UNHURRIED)]);
    const bots = await registered(api, 10, 'doomed');
    for (const bot of bots) await bot.hasForgotten(subject());
    await until(() => receiver.openCalls === 10);
    await doomed.end('SIGKILL');
    receiver.letGo();
    const left = [...receiver.deliveries.values()];
    const heir = await fleet.worker();
    // The heir looks for calls of each bot, and makes a newer one.
    for (const bot of bots) await bot.hasForgotten(subject());
    await until(async () => receiver.deliveries.size === 20 && (await fleet.pending()) === 10, 50);
    expect(left.map(({ attempts }) => attempts)).toEqual(left.map(() => 1));
    const past = new Date(0).toISOString();
    await fleet.database.run(
      `UPDATE webhook_deliveries SET locked_until = ?, next_attempt_at = ? WHERE status = 'pending'`,
      ...[past, past],
    );
    await until(async () => (await fleet.pending()) === 0, 50);
    expect(left.map(({ attempts }) => attempts)).toEqual(left.map(() => 2));
    // The call without a result is counted too.
    const counted = await fleet.database.rows<{ lost: number }>(
      `SELECT attempts - (SELECT COUNT(*) FROM webhook_attempts made
         WHERE made.bot_id = delivery.bot_id AND delivery_id = delivery.id) AS lost
       FROM webhook_deliveries delivery ORDER BY lost`,
    );
    expect(counted.map(({ lost }) => Number(lost))).toEqual(
      [0, 1].flatMap((lost) => Array.from({ length: 10 }, () => lost)),
    );
    await Promise.all([api, heir].map((child) => child.end('SIGTERM')));
  });
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
    const [api, worker] = await Promise.all([fleet.api(UNHURRIED), fleet.worker(UNHURRIED)]);
    receiver.hold();
    const bots = await registered(api, 10, 'term');
    await Promise.all(bots.map((bot) => bot.hasForgotten(subject())));
    await until(() => receiver.openCalls === 10);
    const requests = await Promise.all(Array.from({ length: 50 }, (_, index) => underWay(of(bots, index))));
    receiver.letGo();
    await until(async () => (await fleet.pending()) === 0);
    receiver.hold();
    await Promise.all(bots.map((bot) => bot.hasForgotten(subject())));
    await until(() => receiver.openCalls === 10);
    const ended = Promise.all([api.end('SIGTERM'), worker.end('SIGTERM')]);
    /** Undefined once no process listens there. */
    const readiness = ({ url }: ChildService) =>
      fetch(`${url}/health/ready`).then(
        ({ status }) => status,
        () => undefined,
      );
    await until(async () => (await readiness(api)) !== 200);
    // The worker answers probes while it waits for its calls.
    let probed: number | undefined = 200;
    await until(async () => (probed = await readiness(worker)) !== 200);
    const statuses = await Promise.all(requests.map((finish) => finish()));
    receiver.letGo();
    expect((await ended).map(({ code }) => code)).toEqual([0, 0]);
    expect(new Set(statuses)).toEqual(new Set([200]));
    // Only a machine that is stopped for seconds makes the worker cut a call, which is then made again.
    const cut = await fleet.database.rows<{ ms: number }>(
      `SELECT duration_ms AS ms FROM webhook_attempts WHERE outcome = 'interrupted' AND duration_ms > 0`,
    );
    expect(cut.filter(({ ms }) => ms < DRAINED_MS)).toEqual([]);
    expect(cut.length === 0 ? [503] : [503, undefined]).toContain(probed);
    const [told] = await fleet.database.rows<{ told: number; all: number }>(
      'SELECT SUM(webhook_sent) AS told, COUNT(*) AS all FROM deletion_requests',
    );
    expect(told).toEqual({ told: 20 - cut.length, all: 70 });
    await fleet.worker();
    await until(async () => (await fleet.pending()) === 0);
    expect([receiver.deliveries.size, receiver.attempts]).toEqual([70, 70 + cut.length]);
  });
});
