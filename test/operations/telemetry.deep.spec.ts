import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { JobRunner } from '@app/database';
import { type EndedSpan, type MetricDefinition, METRICS, readConfig, SETTINGS, Spans } from '@app/kernel';
import { Bot, field } from '../support/bot';
import { PROCESS_ENVIRONMENT, useBuild } from '../support/build';
import type { ChildService } from '../support/child-service';
import { Client } from '../support/client';
import { Collector, useCollector } from '../support/collector';
import { useInstallation, useOneInstallation } from '../support/installation';
import { useReceiver } from '../support/receiver';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

// OpenTelemetry: what a collector gets, what it never gets, and a service whose collector fails.

const build = useBuild();
const lethe = useInstallation({ build });
const collector = useCollector();
const receiver = useReceiver();

/** Of the SDK: no export ends by itself. */
const NEVER_LATE = { OTEL_BSP_EXPORT_TIMEOUT: '600000', OTEL_EXPORTER_OTLP_TIMEOUT: '600000' };
/** What a test expects is sent while the process runs, and awaited: at its end it has a short limit. */
const SOON = { OTEL_BSP_SCHEDULE_DELAY: '20', OTEL_METRIC_EXPORT_INTERVAL: '1000' };

const to = ({ url }: Collector) => ({
  ...{ ...NEVER_LATE, ...SOON, OTEL_EXPORTER_OTLP_ENDPOINT: url, SHUTDOWN_TIMEOUT_MS: '60000' },
});
const exporting = (more: Record<string, string> = {}, stdout?: 'pipe' | number): ChildService =>
  lethe.child({ ...to(collector.the), ...more }, stdout);

const has = (name: string, { spans } = collector.the): boolean => spans.some((span) => span.name === name);

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('a collector', () => {
  const one = new Collector();
  const oneHas = (name: string): boolean => has(name, one);
  const metricsHave = (text: string): boolean => JSON.stringify(one.metrics).includes(text);
  /** What the collector never gets, at the end of the service either. */
  const secrets: string[] = [];
  let service: ChildService;
  // Before the installation ends its processes by force.
  afterAll(async () => {
    expect((await service.end('SIGTERM')).code).toBe(0);
    for (const text of secrets) expect(one.bytes).not.toContain(text);
    await one.stop();
  });
  const shared = useOneInstallation({ build });
  beforeAll(async () => {
    const more = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20planted' };
    const settings = { ...to(await one.start()), ...more, WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };
    service = await shared.child(settings).start();
  });

  it('gets a span for each request, named by method and route, and all metrics', async () => {
    const bot = await Bot.register(service.url);
    const id = '49cda07c-badb-4473-af2e-4ab23000885f';
    await bot.get(`/bots/${bot.id}`, { traceparent: PARENT, 'x-request-id': id });
    await bot.get('/nothing');
    await new Client(service.url, bot.key).send('PROPFIND', '/x').catch(() => undefined);
    const names = ['GET /api/v1/bots/:bot_id', 'POST /api/v1/bots/register', 'GET', 'HTTP'];
    await service.untilOf(async () => names.every(oneHas) && metricsHave('/api/v1/bots/register'));
    const { spans, resource, metrics, credential } = one;
    expect(credential).toBe('Bearer planted');
    expect(resource).toMatchObject({ 'service.name': 'lethe', 'service.instance.id': expect.any(String) });
    expect(spans.find(({ attributes }) => attributes['lethe.request_id'] === id)).toMatchObject({
      name: 'GET /api/v1/bots/:bot_id',
      kind: 2,
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/api/v1/bots/:bot_id',
        'http.response.status_code': 200,
        'lethe.request_id': id,
      },
    });
    const registered = spans.find(({ name }) => name === 'POST /api/v1/bots/register');
    expect(registered?.attributes).toMatchObject({ 'http.response.status_code': 201 });
    expect(registered?.attributes['lethe.request_id']).toMatch(/^[\da-f-]{36}$/);
    expect(spans.filter(({ name }) => name === 'GET').map(({ attributes }) => attributes)).toContainEqual(
      expect.objectContaining({ 'http.response.status_code': 404 }),
    );
    expect(spans.map(({ name }) => name).join()).not.toMatch(/PROPFIND|nothing/);
    const requests = metrics.find(({ name }) => name === 'lethe_http_requests_total')?.sum;
    expect(requests?.isMonotonic).toBe(true);
    expect(JSON.stringify(requests?.dataPoints)).toContain('/api/v1/bots/register');
    const known = new Set(Object.values<MetricDefinition>(METRICS).map(({ name }) => name));
    expect(metrics.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
    expect(metrics.length).toBeGreaterThan(20);
  });

  it('gets what is under way while the service runs, and again after it was away', async () => {
    const own = await exporting({ LOG_LEVEL: 'warn' }, lethe.log).start();
    const bot = await Bot.register(own.url);
    await own.untilOf(async () => has('POST /api/v1/bots/register'));
    await own.untilOf(async () => collector.the.metrics.length > 0);
    collector.the.answers = 500;
    expect((await bot.get('/servers')).status).toBe(200);
    await own.untilOf(async () => /takes no traces: they are dropped/.test(lethe.logged));
    collector.the.answers = 200;
    await own.untilOf(async () => {
      expect((await bot.get('/webhooks/deliveries')).status).toBe(200);
      return has('GET /api/v1/webhooks/deliveries') && lethe.logged.includes('takes traces again');
    });
    expect(lethe.logged.match(/takes no traces/g)).toHaveLength(1);
    expect((await own.end('SIGTERM')).code).toBe(0);
  });

  it('gets no id, name, value, address, header or secret of a whole life', async () => {
    const who = subject();
    const bot = await Bot.register(service.url, {
      name: 'marker-name',
      webhook_url: `${receiver.url}?secret=marker-secret`,
    });
    await bot.post('/servers/register', { guild_id: who.guild_id, name: 'marker-server' });
    await bot.hasCategory('marker_category', [field('value')]);
    await bot.hasConsent(who);
    await bot.hasData(who, 'marker_category', { value: 'marker-value' });
    await bot.export(who);
    await bot.get(`/audit/events?user_id=${who.user_id}`);
    await bot.get(`/nothing/${who.user_id}?user=${who.user_id}`);
    await bot.send('GET', `/${who.user_id}`, {
      headers: {
        'user-agent': 'marker-agent',
        'x-request-id': who.user_id,
        traceparent: PARENT,
        tracestate: `user=${who.user_id}`,
        baggage: `user=${who.user_id}`,
      },
    });
    await bot.post('/data/submit', { ...who, category: 'marker_category', data: { wrong: 'marker-value' } });
    await bot.hasForgotten(who);
    await receiver.received(1);
    await until(async () => {
      const { deliveries } = (await bot.get<{ deliveries: { status: string }[] }>('/webhooks/deliveries'))
        .data;
      return deliveries.every(({ status }) => status === 'delivered');
    });
    const last = ['webhook user_forgotten', 'GET /api/v1/webhooks/deliveries'];
    await service.untilOf(
      async () =>
        last.every(oneHas) && metricsHave('/api/v1/gdpr/forget-user') && metricsHave('/webhooks/del'),
    );
    expect(oneHas('POST /api/v1/gdpr/forget-user')).toBe(true);
    secrets.push(who.user_id, who.guild_id, bot.key.slice(8, 30), bot.id, bot.platformBotId);
    secrets.push('marker', new URL(receiver.url).host);
    for (const text of secrets) expect(one.bytes).not.toContain(text);
  });

  it('gets no parent that a caller without an API key names', async () => {
    // No other test of this service names this trace, or asks for these paths.
    const trace = '1bf7651916cd43dd8448eb211c80319d';
    const headers = { traceparent: PARENT.replace(/(?<=-)\w{32}/, trace) };
    await new Client(service.url).get('/servers', headers);
    await new Client(service.url, 'sk_live_wrong').get('/servers', headers);
    await new Client(service.url).send('GET', '/health/live', { headers });
    const answered = () => one.spans.filter(({ name }) => /^GET .*\/(servers|live)$/.test(name));
    await service.untilOf(async () => answered().length >= 3);
    expect(one.bytes).not.toContain(trace);
    secrets.push(trace);
  });
});

describe('a service whose collector', () => {
  it('never answers answers as before, keeps a bounded number of spans, and ends in order', async () => {
    const bounds = {
      OTEL_BSP_SCHEDULE_DELAY: '600000',
      OTEL_METRIC_EXPORT_INTERVAL: '3600000',
      OTEL_BSP_MAX_QUEUE_SIZE: '8',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '4',
    };
    collector.the.answers = 'silent';
    const service = await exporting(bounds).start();
    const bot = await Bot.register(service.url);
    for (let at = 0; at < 100; at++) expect((await bot.get('/servers')).status).toBe(200);
    await service.untilOf(async () => collector.the.taken.length > 0);
    expect((await service.end('SIGTERM')).code).toBe(0);
    // A batch under way, and a full queue.
    expect(collector.the.spans.length).toBeLessThanOrEqual(12);
  });

  it('is not there answers as before, and ends in order', async () => {
    await collector.the.stop();
    const service = await exporting().start();
    const bot = await Bot.register(service.url);
    expect((await bot.get('/servers')).status).toBe(200);
    expect((await service.end('SIGTERM')).code).toBe(0);
  });
});

describe('without an endpoint', () => {
  /** The modules of OpenTelemetry that the process of a service has loaded. Each is a file here, not a part of a bundle. */
  async function loaded(): Promise<string[]> {
    const script = join(lethe.root, 'loaded.cjs');
    const packages = `Object.keys(require.cache).flatMap((path) => /@opentelemetry.([a-z-]+)/.exec(path)?.[1] ?? [])`;
    writeFileSync(
      script,
      `process.on('message', () => process.send([...new Set(${packages})]));
       require(${JSON.stringify(join(build.directory, 'apps/api/src/main.js'))});`,
    );
    const env = { ...PROCESS_ENVIRONMENT, ...lethe.environment, PORT: '0' };
    const child = fork(script, { cwd: lethe.directory, env, silent: true, execArgv: [] });
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const ended = once(child, 'close');
    try {
      await until(() => said.includes('Lethe listens') || child.exitCode !== null);
      const answer = once(child, 'message');
      child.send('');
      const [found] = (await answer) as [string[]];
      return found;
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
  }

  it('no module of the SDK is loaded, but the interface that prom-client requires', async () => {
    expect(await loaded()).toEqual(['api']);
  });
});

describe('the settings of OpenTelemetry', () => {
  const read = (environment: Record<string, string>) => () => readConfig(environment);

  it.each(['collector', 'localhost:4318', 'grpc://c:4317', 'http://', 'http://c?a=b', 'http://u:secret@c'])(
    'refuse the endpoint %s with a sentence that says what is wanted',
    (endpoint) => {
      expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })).toThrow(
        /^(?!.*secret)[^]*OTEL_EXPORTER_OTLP_ENDPOINT must be a URL with http: or https:/,
      );
    },
  );

  it('stop the start of the process', async () => {
    const { code, stderr } = await exporting({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }).refused();
    expect([code, stderr]).toEqual([1, expect.stringContaining('OTEL_EXPORTER_OTLP_ENDPOINT must be a URL')]);
  });

  it('refuse headers that are no pairs, and say none of them', () => {
    const faults = ['secret', 'a=b,secret', 'a b=secret', 'a=%zzsecret', 'a=secret\nb: c'];
    // The SDK would cut the first one, and Node.js would send none of the others.
    const unsendable = ['a=x;secret', 'a=secret%0a', 'a=secret%E2%82%AC', 'a%20b=secret'];
    for (const headers of [...faults, ...unsendable])
      expect(read({ OTEL_EXPORTER_OTLP_HEADERS: headers })).toThrow(
        /^(?!.*secret)[^]*OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs/,
      );
    expect(read({ OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b%3B%C3%A9, x=y==' })).not.toThrow();
  });

  it('refuse another protocol where there is an endpoint, and only there', () => {
    const protocol = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    expect(read(protocol)).not.toThrow();
    expect(read({ ...protocol, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4317' })).toThrow(
      'OTEL_EXPORTER_OTLP_PROTOCOL must be http/json',
    );
  });

  it('send nothing by default', () => {
    expect(SETTINGS.otlpEndpoint.default).toBe('');
    expect(readConfig({}).otlpEndpoint).toBeUndefined();
  });
});

describe('a job', () => {
  const service = useServiceInProcess();

  it('is a span with its name, and the kind of its fault', async () => {
    const seen: EndedSpan[] = [];
    service.app.get(Spans).receive = (span) => void seen.push(span);
    const jobs = service.app.get(JobRunner);
    await jobs.run({ name: 'good', everyMs: 60_000, run: () => Promise.resolve() });
    const run = (): Promise<void> => Promise.reject(new TypeError('secret words'));
    await jobs.run({ name: 'bad', everyMs: 60_000, run });
    const [good, bad] = seen.filter(({ name }) => /^job (good|bad)$/.test(name));
    expect(good).toMatchObject({ kind: 'internal', attributes: { 'lethe.job': 'good' } });
    expect(bad?.attributes).toEqual({ 'lethe.job': 'bad', 'error.type': 'TypeError' });
  });
});
