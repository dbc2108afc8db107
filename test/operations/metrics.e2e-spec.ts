import { randomUUID } from 'node:crypto';
import { ConsentService } from '@app/consent';
import { UnitOfWork } from '@app/database';
import { ErasureService, ErasureWatch } from '@app/gdpr';
import { Clock, type MetricDefinition, Metrics, METRICS } from '@app/kernel';
import { BatchSealer } from '@app/sealing';
import { SubjectDataHolders } from '@app/crypto';
import { DeliveryRetention, Dispatcher } from '@app/webhooks';
import { Client, PREFIX } from '../support/client';
import { engine } from '../support/database';
import { expectOfModules } from '../support/further-modules';
import { periodicJobs, runNow, withoutJobs } from '../support/jobs';
import { rawRequest, requestText } from '../support/raw-socket';
import { useReceiver } from '../support/receiver';
import { seal, withoutSealing } from '../support/sealing';
import { Service, useServiceInProcess } from '../support/service';
import { snowflake, subject } from '../support/snowflakes';
import { until } from '../support/until';
import { ago, passes } from '../support/time';

const receiver = useReceiver();
const service = useServiceInProcess();

async function scrape(of: Service = service, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(`${of.url}/metrics`, { headers });
  if (answer.status !== 200) throw new Error(`/metrics answered ${answer.status}`);
  return answer.text();
}

/** The value of one series; undefined without it. */
function valueOf(text: string, series: string): number | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

const series = (text: string): string[] =>
  text.split('\n').flatMap((line) => (/^[a-z]/.test(line) ? [line.slice(0, line.lastIndexOf(' '))] : []));

/** Every value that any label has. */
function labelValues(text: string): Set<string> {
  return new Set([...text.matchAll(/[{,][a-z_]+="((?:[^"\\]|\\.)*)"/g)].map(([, value = '']) => value));
}

async function rise(name: string, act: () => Promise<unknown>, of: Service = service): Promise<number> {
  const before = valueOf(await scrape(of), name) ?? 0;
  await act();
  return (valueOf(await scrape(of), name) ?? 0) - before;
}

describe('GET /metrics', () => {
  it('answers in the text format of Prometheus, uncounted, uncached and with a request id', async () => {
    const { status, headers } = await fetch(`${service.url}/metrics`, {
      headers: { 'x-request-id': 'mine' },
    });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-request-id')).toBe('mine');
    expect(headers.get('x-ratelimit-limit')).toBeNull();
  });

  it('answers a HEAD without a body, and a query as if it were not there', async () => {
    const head = await fetch(`${service.url}/metrics`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await fetch(`${service.url}/metrics?name=x`)).status).toBe(200);
  });

  it.each([
    ['POST', '/metrics'],
    ['GET', '/metrics/'],
    ['GET', '/metricsx'],
    ['GET', '/%6detrics'],
    ['GET', `${PREFIX}/metrics`],
  ])('answers 404 for %s %s', async (method, path) => {
    expect((await service.anonymous.send(method, path)).error.code).toBe('not_found');
  });

  it('has a help text and a type for every metric, and samples of none that the table does not hold', async () => {
    const text = await scrape();
    const names = Object.values<MetricDefinition>(METRICS).map(({ name }) => name);
    const known = new Set(names);
    for (const [, name = ''] of text.matchAll(/^# HELP (\S+) ./gm)) expect(known).toContain(name);
    const own = series(text).map((each) => each.replace(/\{.*/, '').replace(/_(bucket|sum|count)$/, ''));
    expect(own.filter((name) => !known.has(name))).toEqual([]);
    // Only PostgreSQL has metrics of a pool, and only SQLite those of its disk.
    const always = names.filter((name) => !/_pool_|_disk_/.test(name));
    expect(always.filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([]);
  });

  it('counts the commits of the database, and shows its pool where there is one', async () => {
    const units = async () =>
      Number(/^lethe_database_commit_units_sum(?:\{[^}]*\})? (\d+)/m.exec(await scrape())?.[1] ?? 0);
    const before = await units();
    await service.registerBot();
    expect(await units()).toBeGreaterThan(before);
    const pool = [...(await scrape()).matchAll(/^lethe_database_pool_(\w+)(?:\{[^}]*\})? \d+$/gm)];
    const sizes = ['connections', 'connections_idle', 'connections_max', 'waiting'];
    expect(pool.map(([, size]) => size).sort()).toEqual(engine === 'postgres' ? sizes : []);
  });

  it('shows no versions', async () => {
    const text = await scrape();
    expect(text).not.toContain(process.version);
    expect(text).not.toMatch(/version/i);
  });
});

describe('who may read /metrics', () => {
  const TOKEN = 'correct-horse-battery-staple';
  const guarded = useServiceInProcess({ METRICS_TOKEN: TOKEN });

  /** An answer without its varying parts. */
  async function refusal(of: Service, path: string, headers: Record<string, string>) {
    const { status, headers: given, text } = await new Client(of.url).send('GET', path, { headers });
    const kept = [...given.entries()].filter(([name]) => !/^(x-request-id|date)$|remaining|reset/.test(name));
    return { status, headers: kept, text };
  }

  it('is a caller with the token, where one is set', async () => {
    for (const scheme of ['Bearer', 'bearer'])
      expect(await scrape(guarded, { authorization: `${scheme} ${TOKEN}` })).toContain('lethe_up');
    const passedOn = { authorization: `Bearer ${TOKEN}`, 'x-forwarded-for': '203.0.113.7' };
    expect(await scrape(guarded, passedOn)).toContain('lethe_up');
  });

  it.each<Record<string, string>>([
    {},
    { authorization: 'Bearer ' },
    { authorization: `Bearer ${TOKEN}x` },
    { authorization: `Bearer ${TOKEN.slice(0, -1)}` },
    { authorization: `Bearer ${TOKEN.toUpperCase()}` },
    { authorization: `Basic ${TOKEN}` },
    { authorization: TOKEN },
  ])('is nobody else then: %j is answered like an unknown path', async (headers) => {
    expect(await refusal(guarded, '/metrics', headers)).toEqual(await refusal(guarded, '/metricz', headers));
  });

  it.each<Record<string, string>>([
    { 'x-forwarded-for': '127.0.0.1' },
    { 'x-forwarded-for': '' },
    { forwarded: 'for=127.0.0.1' },
    { 'x-real-ip': '127.0.0.1' },
  ])('is nobody whom a proxy has passed on, where there is no token: %j', async (headers) => {
    const refused = await refusal(service, '/metrics', headers);
    expect(refused.status).toBe(404);
    expect(refused).toEqual(await refusal(service, '/metricz', headers));
  });

  it('counts a refused caller like any other', async () => {
    const { headers } = await fetch(`${guarded.url}/metrics`);
    expect(headers.get('x-ratelimit-limit')).toBe('1000000');
  });

  it('believes no header of a trusted proxy', async () => {
    await withService({ TRUST_PROXY: '1' }, async ({ url }) => {
      const { status } = await fetch(`${url}/metrics`, { headers: { 'x-forwarded-for': '127.0.0.1' } });
      expect(status).toBe(404);
    });
  });
});

describe('the labels', () => {
  it('are bounded: a thousand unknown paths add no series', async () => {
    await service.anonymous.send('GET', '/unknown');
    await service.anonymous.get('/unknown');
    const before = series(await scrape());
    for (let at = 0; at < 1000; at += 50) {
      const paths = Array.from(
        { length: 50 },
        (_, n) => (n % 2 ? '' : PREFIX) + `/x${at + n}/${snowflake()}`,
      );
      await Promise.all(paths.map((path) => service.anonymous.send('GET', path)));
    }
    expect(series(await scrape())).toEqual(before);
  });

  it('are bounded: unknown methods share one series', async () => {
    const before = labelValues(await scrape());
    for (const method of ['PROPFIND', 'MKCOL', 'REPORT', 'PURGE'])
      await rawRequest(service.port, requestText(`${method} /x`));
    const text = await scrape();
    expect(valueOf(text, 'lethe_http_requests_total{method="OTHER",route="unknown",status="404"}')).toBe(4);
    expect([...labelValues(text)].filter((value) => !before.has(value))).toEqual(['OTHER']);
  });

  it('and everything else never hold a key, a secret, an id of a user, or a value of a whole life', async () => {
    const bot = await service.registerBot({ webhook_url: receiver.url, name: 'marker-bot' });
    const who = subject();
    const at = receiver.calls.length;
    await bot.post('/servers/register', { guild_id: who.guild_id, name: 'marker-server' });
    await bot.hasCategory('marker_category');
    await bot.hasConsent(who, 'marker-version');
    await bot.hasData(who, 'marker_category', { value: 'marker-value' });
    await bot.export(who);
    await bot.get(`/data/export/${who.user_id}`);
    await bot.get(`/data/categories/marker_category`);
    await bot.get(`/nothing/${who.user_id}?user=${who.user_id}`);
    await bot.get(`/servers?api_key=${bot.key}`);
    await bot.get('/servers', { 'x-request-id': 'marker-request', 'user-agent': 'marker-agent' });
    await bot.hasRevoked(who);
    await bot.hasForgotten(who);
    await receiver.received(at + 2);
    // None is counted in a later test.
    await delivered(bot);
    const text = await scrape();
    const ids = [bot.id, bot.platformBotId, who.user_id, who.guild_id, `:${service.port}`, receiver.url];
    const secrets = [bot.key, bot.key.slice(8, 24), bot.webhookSecret, 'marker', 'sk_live', 'whsec'];
    for (const planted of [...ids, ...secrets]) expect(text).not.toContain(planted);
  });

  it('have no other value than the table names, or declared routes, methods, statuses and bounds', async () => {
    const listed = Object.values<MetricDefinition>(METRICS).flatMap(({ label }) => label?.values ?? []);
    const free = [...labelValues(await scrape())].filter((value) => !listed.includes(value));
    const form = /^(\+Inf|[0-9.]+|unknown|OTHER|[A-Z]{3,7}|\/(api\/v1|health)[a-z/:_-]*)$/;
    expect(free.filter((value) => !form.test(value))).toEqual([]);
  });
});

describe('the numbers', () => {
  it('count every answer once, by declared route and status, with its time', async () => {
    const bot = await service.registerBot();
    const route = '/api/v1/bots/:bot_id';
    const found = `lethe_http_requests_total{method="GET",route="${route}",status="200"}`;
    const refused = `lethe_http_requests_total{method="GET",route="${route}",status="404"}`;
    const timed = `lethe_http_request_duration_seconds_count{method="GET",route="${route}"}`;
    expect(await rise(found, () => bot.get(`/bots/${bot.id}`))).toBe(1);
    expect(await rise(refused, () => bot.get(`/bots/${snowflake()}`))).toBe(0);
    const other = await service.registerBot();
    expect(await rise(refused, () => bot.get(`/bots/${other.id}`))).toBe(1);
    expect(await rise(timed, () => Promise.all([1, 2, 3].map(() => bot.get(`/bots/${bot.id}`))))).toBe(3);
  });

  it('make a histogram whose last bound holds every request and whose sum is their time', async () => {
    await service.registerBot();
    const text = await scrape();
    const name = 'lethe_http_request_duration_seconds';
    const labels = 'method="POST",route="/api/v1/bots/register"';
    const bounds = [
      ...text.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)",${labels}\\} (\\d+)$`, 'gm')),
    ];
    expect(bounds.map(([, bound]) => bound)).toEqual([...METRICS.httpDuration.buckets.map(String), '+Inf']);
    const counts = bounds.map(([, , count]) => Number(count));
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    expect(counts.at(-1)).toBe(valueOf(text, `${name}_count{${labels}}`));
    expect(valueOf(text, `${name}_sum{${labels}}`)).toBeGreaterThan(0);
  });

  it('tell how erasures end', async () => {
    const bot = await service.registerBot();
    const state = (name: string) => `lethe_erasures_total{state="${name}"}`;
    expect(await rise(state('begun'), () => bot.hasForgotten(subject()))).toBe(1);
    expect(await rise(state('completed'), () => bot.hasForgotten(subject()))).toBe(1);
    const [holder] = service.app.get(SubjectDataHolders).all();
    if (holder === undefined) throw new Error('there is no holder');
    const broken = jest.spyOn(holder, 'erase').mockRejectedValueOnce(new Error('planted'));
    const completed = valueOf(await scrape(), state('completed'));
    expect(await rise(state('failed'), () => bot.post('/gdpr/forget-user', subject()))).toBe(1);
    broken.mockRestore();
    expect(valueOf(await scrape(), state('completed'))).toBe(completed);
  });

  it('tell how many events are sealed, and how long a log waits for it', async () => {
    await withService({}, async (of) => {
      await withoutSealing(of);
      const wait = async () => valueOf(await scrape(of), 'lethe_audit_sealing_oldest_wait_seconds') ?? NaN;
      expect(await wait()).toBe(0);
      const bot = await of.registerBot();
      await bot.hasConsent(subject());
      await until(async () => (await wait()) > 0.2);
      const before = (await bot.get<{ pagination: { total_count: number } }>('/audit/events')).data;
      const sealed = await rise('lethe_audit_events_sealed_total', () => seal(of, bot), of);
      expect(sealed).toBe(before.pagination.total_count);
    });
    const bot = await service.registerBot();
    await bot.hasConsent(subject());
    await until(async () => valueOf(await scrape(), 'lethe_audit_sealing_oldest_wait_seconds') === 0);
  });

  it('take no log for waiting that is written to all the time, since it is sealed all the time', async () => {
    const bot = await service.registerBot();
    let sealed = 0;
    const sealer = service.app.get(BatchSealer, { strict: false });
    const seal_ = sealer.seal.bind(sealer);
    const spy = jest.spyOn(sealer, 'seal').mockImplementation(async (...given) => {
      sealed++;
      return seal_(...given);
    });
    // The writing never pauses, and the log is sealed again and again.
    await until(async () => {
      await bot.post('/audit/event', { ...subject(), event_type: 'data_exported' });
      return sealed >= 3;
    });
    spy.mockRestore();
  });

  it('tell of a job that fails, each by its name', async () => {
    const names = periodicJobs(service).map((job) => service.app.get(job, { strict: false }).name);
    const known: readonly string[] = METRICS.jobFailures.label.values;
    expect([...names, 'other']).toEqual(expect.arrayContaining([...known]));
    expectOfModules(names.filter((name) => !known.includes(name)));
  });

  it('tell of a log that cannot be sealed', async () => {
    const bot = await service.registerBot();
    const broken = jest
      .spyOn(service.app.get(BatchSealer, { strict: false }), 'seal')
      .mockRejectedValue(new Error('planted'));
    const failures = async () => valueOf(await scrape(), 'lethe_audit_sealing_failures_total') ?? NaN;
    const before = await failures();
    await bot.hasConsent(subject());
    await until(async () => (await failures()) > before);
    broken.mockRestore();
  });

  it('tell how webhook calls end', async () => {
    const bot = await service.registerBot({ webhook_url: receiver.url });
    const before = await scrape();
    const at = receiver.calls.length;
    await bot.hasForgotten(subject());
    await receiver.received(at + 1);
    await delivered(bot);
    const after = await scrape();
    for (const name of [
      'lethe_webhook_attempts_total{outcome="confirmed"}',
      'lethe_webhook_deliveries_total{status="delivered"}',
    ])
      expect((valueOf(after, name) ?? NaN) - (valueOf(before, name) ?? NaN)).toBe(1);
  });

  it('begin with 0 for everything that can be counted, so that the first one is seen as a rise', async () => {
    const text = await withService({}, scrape);
    for (const { name, type, label } of Object.values<MetricDefinition>(METRICS)) {
      if (type !== 'counter') continue;
      for (const value of label?.values ?? [])
        expect(valueOf(text, `${name}{${label?.name}="${value}"}`)).toBe(0);
    }
  });

  describe('that the database is asked for', () => {
    const stopped = useServiceInProcess();
    const secondsAgo = (seconds: number): string => ago(seconds * 1000);
    // A look of theirs would send the calls that a test plants, or be the answer to a reader of the next seconds.
    beforeAll(async () => {
      await stopped.app.get(Dispatcher).beforeApplicationShutdown();
      await stopped.app.get(ErasureWatch, { strict: false }).beforeApplicationShutdown();
    });

    /** A bot with a due call and a running erasure, both since the given time; its receiver may have confirmed a call since. */
    async function behind(
      receiver: 'healthy' | 'failing',
      seconds: number,
      { confirmed = seconds, event = 'consent_revoked' } = {},
    ): Promise<void> {
      const { id } = await stopped.registerBot();
      const { user_id: userId, guild_id: guildId } = subject();
      await stopped.database.run(
        `INSERT INTO webhook_deliveries (bot_id, id, event, payload, status, attempts, retries, next_attempt_at,
           give_up_at, created_at) VALUES (?, ?, ?, '{}', 'pending', 0, 0, ?, ?, ?)`,
        ...[id, randomUUID(), event, secondsAgo(seconds), secondsAgo(seconds - 5000), secondsAgo(seconds)],
      );
      await stopped.database.run(
        `INSERT INTO webhook_health (bot_id, failures, last_outcome, last_failed_at, last_delivered_at)
         VALUES (?, ?, 'refused', ?, ?)`,
        ...[id, receiver === 'failing' ? 5 : 0, secondsAgo(0), secondsAgo(confirmed)],
      );
      await stopped.database.run(
        `INSERT INTO deletion_requests (bot_id, id, guild_id, user_id, status, webhook_sent, created_at)
         VALUES (?, ?, ?, ?, 'processing', 0, ?)`,
        ...[id, randomUUID(), guildId, userId, secondsAgo(seconds)],
      );
    }

    /** A suspended bot with 5,000 calls, before all others in the order of their ids. */
    async function fillsTheBeginning(): Promise<void> {
      const id = '00000000-0000-4000-8000-000000000000';
      const { database } = stopped;
      await database.run(
        `INSERT INTO bots (id, platform_bot_id, name, webhook_secret, created_at, updated_at, suspended_at)
         VALUES (?, ?, 'x', 'x', ?, ?, ?)`,
        ...[id, snowflake(), ...Array.from({ length: 3 }, () => secondsAgo(9000))],
      );
      await database.run(
        `INSERT INTO webhook_deliveries (bot_id, id, event, payload, status, attempts, retries, next_attempt_at,
           give_up_at, created_at)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5010)
         SELECT '${id}', '00000000-0000-4000-8000-' || (100000000000 + i), 'ping', '{}', 'pending', 0, 0, ?, ?, ? FROM n`,
        ...[secondsAgo(8000), secondsAgo(0), secondsAgo(8000)],
      );
    }

    it('tell how much waits, and for how long, by whether the receiver fails, however much a suspended bot has', async () => {
      await fillsTheBeginning();
      for (const seconds of [100, 2000]) await behind('healthy', seconds);
      // Its calls take long: it is called, and has a queue.
      await behind('healthy', 4500, { confirmed: 10 });
      for (const seconds of [5000, 4000, 3000]) await behind('failing', seconds, { confirmed: 10 });
      // Confirmed by a clock that was ahead.
      await behind('healthy', 6000, { confirmed: -86_400 });
      // By a clock that is a little ahead, as among several machines.
      await behind('healthy', 7000, { confirmed: -2 });
      // What was read before the rows were there is out of date.
      const later = passes(stopped, 60_000, 'monotonicMs');
      const text = await scrape(stopped);
      later.mockRestore();
      const depth = (receiver: string) =>
        valueOf(text, `lethe_webhook_outbox_deliveries{receiver="${receiver}"}`);
      const age = (receiver: string) =>
        Math.floor(
          (valueOf(text, `lethe_webhook_outbox_oldest_due_age_seconds{receiver="${receiver}"}`) ?? NaN) / 100,
        );
      const kinds = ['healthy', 'failing', 'suspended'];
      expect(kinds.map(depth)).toEqual([5, 3, 5000]);
      expect(kinds.map(age)).toEqual([60, 50, 80]);
      expect(valueOf(text, 'lethe_erasures_processing')).toBe(8);
      expect(Math.floor((valueOf(text, 'lethe_erasure_oldest_processing_age_seconds') ?? NaN) / 100)).toBe(
        70,
      );
    });

    it('count what a crash has left and recovery takes up, and what runs out of its time', async () => {
      const recover = () => stopped.app.get(ErasureService).finishLeft();
      const sweep = () => runNow(stopped, DeliveryRetention);
      await recover();
      await behind('healthy', 5000);
      const resumed = 'lethe_erasures_total{state="resumed"}';
      expect(await rise(resumed, recover, stopped)).toBe(1);
      await behind('healthy', 5000);
      const consents = stopped.app.get(ConsentService, { strict: false });
      // Another process is faster.
      const lock = jest.spyOn(consents, 'lock').mockImplementation(async (tx) => {
        await tx.run(`UPDATE deletion_requests SET status = 'completed'`);
      });
      expect(await rise(resumed, recover, stopped)).toBe(0);
      lock.mockRestore();
      const exhausted = 'lethe_webhook_deliveries_total{status="exhausted"}';
      expect(await rise(exhausted, sweep, stopped)).toBeGreaterThan(0);
      await behind('failing', 5001, { event: 'ping' });
      const pings = () =>
        stopped.database.rows(
          `SELECT id FROM webhook_deliveries WHERE event = 'ping' AND status = 'exhausted'`,
        );
      const before = (await pings()).length;
      expect(await rise(exhausted, sweep, stopped)).toBe(0);
      expect((await pings()).length).toBe(before + 1);
    });

    it('are not asked for again at once, by however many readers', async () => {
      await withoutJobs(stopped);
      const clock = stopped.app.get(Clock);
      jest.spyOn(clock, 'monotonicMs').mockReturnValue(clock.monotonicMs());
      await scrape(stopped);
      const asked = [
        jest.spyOn(stopped.app.get(UnitOfWork), 'read'),
        jest.spyOn(stopped.app.get(UnitOfWork), 'get'),
      ];
      await Promise.all([1, 2, 3].map(() => scrape(stopped)));
      expect(asked.map((spy) => spy.mock.calls.length)).toEqual([0, 0]);
      jest.restoreAllMocks();
    });
  });

  it('leave out what cannot be read, and tell the rest', async () => {
    await withService({}, async (fresh) => {
      fresh.app.get(Metrics).gauge('webhookCalls', () => Promise.reject(new Error('planted')));
      const text = await scrape(fresh);
      expect(valueOf(text, 'lethe_webhook_calls_under_way')).toBeUndefined();
      expect(valueOf(text, 'lethe_http_connections')).toBeGreaterThan(0);
      expect(valueOf(await scrape(fresh), 'lethe_metrics_failures_total')).toBeGreaterThan(0);
    });
  });

  it('are those of one application: two in one process share none', async () => {
    const text = await withService({}, scrape);
    expect(series(text).filter((each) => each.startsWith('lethe_http_req'))).toEqual([]);
  });
});

/** A service for one test, which ends with it. */
async function withService<T>(
  environment: Record<string, string>,
  use: (fresh: Service) => Promise<T>,
): Promise<T> {
  const fresh = await new Service(environment).start();
  try {
    return await use(fresh);
  } finally {
    await fresh.stop();
  }
}

/** Resolves when the result of every call to the bot is stored. */
async function delivered(bot: Client): Promise<void> {
  await until(async () => {
    const { deliveries } = (await bot.get<{ deliveries: { status: string }[] }>('/webhooks/deliveries')).data;
    return deliveries.every(({ status }) => status === 'delivered');
  });
}
