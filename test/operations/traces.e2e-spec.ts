import { UnitOfWork } from '@app/database';
import { JobRunner } from '@app/jobs';
import { Tracing } from '@app/tracing';
import { WebhookSender } from '@app/webhooks';
import { Collector, type SpanSeen } from '../support/collector';
import { engine } from '../support/database';
import { Life } from '../support/lives';
import { markedLife, secretsOf } from '../support/marked-life';
import { useReceiver } from '../support/receiver';
import { Service } from '../support/service';
import { snowflake, subject } from '../support/snowflakes';

const receiver = useReceiver();
const collector = new Collector();
let service: Service;

/** What other programs of the machine may need, and the packages of OpenTelemetry would obey. */
const OF_OTHERS = {
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-other=of%20others',
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'gzip',
  OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: '1',
  OTEL_SPAN_LINK_COUNT_LIMIT: '0',
};

beforeAll(async () => {
  await collector.start();
  Object.assign(process.env, OF_OTHERS);
  service = await new Service({
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-collector=of%20ours',
    OTEL_SERVICE_NAME: 'lethe-of-tests',
  }).start();
});
afterAll(async () => {
  for (const name of Object.keys(OF_OTHERS)) delete process.env[name];
  await service.stop();
  await collector.stop();
});

/** The span of the request with this id. */
const ofRequest = (id: string | undefined): Promise<SpanSeen> =>
  collector.span(({ facts }) => facts['lethe.request.id'] === id);

const below = (span: SpanSeen): SpanSeen[] =>
  collector.inside(span).flatMap((child) => [child, ...below(child)]);

describe('the trace of a request', () => {
  it('has its route and status, its units of work inside it, and their statements with placeholders inside them', async () => {
    const bot = await service.registerBot();
    await bot.hasCategory('profile');
    const who = subject();
    await bot.hasConsent(who);
    const answer = await bot.post('/data/submit', { ...who, category: 'profile', data: { value: 'x' } });
    const request = await ofRequest(answer.header('x-request-id'));
    expect(request).toMatchObject({
      name: 'POST /api/v1/data/submit',
      kind: 2,
      parentSpanId: undefined,
      isFailed: false,
      links: [],
      facts: {
        'http.request.method': 'POST',
        'http.route': '/api/v1/data/submit',
        'http.response.status_code': 200,
        'lethe.bot.id': bot.id,
        'lethe.answer.is_whole': true,
      },
    });
    const units = collector.inside(request).filter(({ name }) => name === 'unit write');
    expect(units).toHaveLength(1);
    const [unit] = units as [SpanSeen];
    expect(unit.facts).toMatchObject({
      'lethe.unit.engine': engine,
      'lethe.unit.wait_ms': expect.any(Number),
    });
    const statements = below(unit).filter(({ facts }) => facts['db.query.text'] !== undefined);
    const insertion = statements.find(({ name }) => name === 'INSERT user_data');
    expect(insertion?.facts).toMatchObject({
      'db.system.name': engine === 'sqlite' ? 'sqlite' : 'postgresql',
      'db.operation.name': 'INSERT',
      'db.collection.name': 'user_data',
      'db.query.text': expect.stringContaining('?'),
    });
    const commits = below(unit).filter(({ name }) => name === 'COMMIT');
    expect(commits).toMatchObject([{ facts: { 'lethe.commit.units': 1 } }]);
    for (const span of below(request)) {
      expect(span.traceId).toBe(request.traceId);
      expect(span.startNanos).toBeLessThanOrEqual(span.endNanos);
    }
  });

  it('has the statements that TypeORM makes too', async () => {
    const bot = await service.registerBot();
    const answer = await bot.get(`/bots/${bot.id}`);
    const request = await ofRequest(answer.header('x-request-id'));
    const tables = below(request).map(({ facts }) => facts['db.collection.name']);
    expect(tables).toContain('bots');
  });

  it('says of an unknown path, a refusal and a fault its status, and no more', async () => {
    const bot = await service.registerBot();
    const unknown = await bot.get(`/nothing/${snowflake()}`);
    const span = await ofRequest(unknown.header('x-request-id'));
    expect(span.name).toBe('GET');
    expect(span.facts).toMatchObject({ 'http.response.status_code': 404 });
    expect(span.facts['http.route']).toBeUndefined();
    const odd = await service.anonymous.send('PROPFIND', '/x');
    expect((await ofRequest(odd.header('x-request-id'))).name).toBe('OTHER');
  });

  it('is not that which a caller names, who has it linked and cannot have anything recorded or left out', async () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`;
    const bot = await service.registerBot();
    const answer = await bot.get('/bots/me', { traceparent });
    const span = await ofRequest(answer.header('x-request-id'));
    expect(span.traceId).not.toBe('a'.repeat(32));
    expect(span.links).toMatchObject([{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }]);
    for (const wrong of ['x', `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`, `00-${'A'.repeat(32)}-b-01`]) {
      const other = await bot.get('/bots/me', { traceparent: wrong });
      expect((await ofRequest(other.header('x-request-id'))).links).toEqual([]);
    }
  });

  it('keeps no request id that a caller has chosen, unless it is a UUID', async () => {
    const bot = await service.registerBot();
    const chosen = snowflake();
    await bot.get('/bots/me', { 'x-request-id': chosen });
    const last = await bot.get('/bots/me');
    await ofRequest(last.header('x-request-id'));
    expect(collector.bytes.join('')).not.toContain(chosen);
  });

  it('does not begin for probes and metrics', async () => {
    const bot = await service.registerBot();
    for (const path of ['/health/live', '/health/ready', '/metrics']) await fetch(`${service.url}${path}`);
    const last = await bot.get('/bots/me');
    await ofRequest(last.header('x-request-id'));
    expect(collector.spans.filter(({ facts }) => /health|metrics/.test(String(facts['http.route'])))).toEqual(
      [],
    );
  });
});

describe('without a collector', () => {
  it('the service has the same objects as ever', async () => {
    const other = await new Service().start();
    const names = [UnitOfWork, WebhookSender].map((token) => other.app.get<object>(token).constructor.name);
    expect(names).toEqual([expect.not.stringContaining('Traced'), 'HttpWebhookSender']);
    expect(service.app.get(UnitOfWork).constructor.name).toBe('TracedUnitOfWork');
    await other.stop();
  });
});

describe('units that share something', () => {
  it('are each linked to the one commit that they share, which is inside the first of them', async () => {
    if (engine === 'postgres') return;
    const bot = await service.registerBot();
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => bot.post('/servers/register', { guild_id: snowflake(), name: 'x' })),
    );
    const requests = await Promise.all(answers.map((answer) => ofRequest(answer.header('x-request-id'))));
    const shared = collector.spans.filter(
      ({ name, facts }) => name === 'COMMIT' && Number(facts['lethe.commit.units']) > 1,
    );
    expect(shared.length).toBeGreaterThan(0);
    const units = requests.flatMap((request) => below(request)).filter(({ name }) => name === 'unit write');
    expect(units.length).toBeGreaterThanOrEqual(12);
    const commits = new Map(collector.spans.map((span) => [span.spanId, span.name]));
    const withCommit = units.filter(
      (unit) =>
        unit.links.some(({ spanId }) => commits.get(spanId) === 'COMMIT') ||
        collector.inside(unit).some(({ name }) => name === 'COMMIT'),
    );
    expect(withCommit).toHaveLength(units.length);
  });

  it('are each linked to the statements that they share on PostgreSQL', async () => {
    if (engine === 'sqlite') return;
    const bot = await service.registerBot();
    await bot.hasCategory('profile');
    const people = Array.from({ length: 12 }, () => subject());
    for (const who of people) await bot.hasConsent(who);
    const answers = await Promise.all(
      people.map((who) => bot.post('/data/submit', { ...who, category: 'profile', data: { value: 'x' } })),
    );
    const requests = await Promise.all(answers.map((answer) => ofRequest(answer.header('x-request-id'))));
    const shared = collector.spans.filter(({ facts }) => Number(facts['lethe.unit.callers']) > 1);
    expect(shared.length).toBeGreaterThan(0);
    const [one] = shared as [SpanSeen];
    expect(collector.inside(one).map(({ name }) => name)).toContain('COMMIT');
    const linked = requests
      .flatMap((request) => collector.inside(request))
      .filter(({ links }) => links.some(({ spanId }) => spanId === one.spanId));
    expect(linked).toHaveLength(Number(one.facts['lethe.unit.callers']) - 1);
    expect(one.links).toHaveLength(linked.length);
  });
});

describe('work that no request waits for', () => {
  it('has a trace of its own: webhook calls, jobs, the sealing of the log', async () => {
    const bot = await service.registerBot({ webhook_url: receiver.url });
    const who = subject();
    await bot.hasConsent(who);
    const at = receiver.calls.length;
    await bot.hasForgotten(who);
    const [call] = (await receiver.received(at + 1)).slice(at);
    const webhook = await collector.span(
      ({ facts }) => facts['lethe.webhook.id'] === call?.headers['webhook-id'],
    );
    expect(webhook).toMatchObject({
      name: 'webhook POST',
      kind: 3,
      parentSpanId: undefined,
      isFailed: false,
      facts: {
        'server.address': '127.0.0.1',
        'server.port': Number(new URL(receiver.url).port),
        'lethe.webhook.event': 'user_forgotten',
        'lethe.webhook.outcome': 'confirmed',
        'http.response.status_code': 200,
      },
    });
    // The receiver is not ours.
    expect(Object.keys(call?.headers ?? {})).not.toContain('traceparent');
    const run = async (): Promise<void> => {
      await service.app.get(UnitOfWork).read((tx) => tx.all('SELECT name FROM job_leases'));
    };
    await service.app.get(JobRunner).run({ name: 'of-tests', everyMs: 60_000, run });
    const job = await collector.span(({ name }) => name === 'job of-tests');
    expect(job.parentSpanId).toBeUndefined();
    expect(below(job).map(({ name }) => name)).toEqual(['unit read', 'SELECT job_leases']);
    expect((await collector.span(({ name }) => name === 'seal the audit logs')).parentSpanId).toBeUndefined();
  });

  it('is failed in its trace by the kind of its error alone', async () => {
    const error = Object.assign(new TypeError('secret words'), { detail: 'secret words' });
    const run = (): Promise<void> => Promise.reject(error);
    await service.app.get(JobRunner).run({ name: 'failing-of-tests', everyMs: 60_000, run });
    const job = await collector.span(({ name }) => name === 'job failing-of-tests');
    expect(job).toMatchObject({ isFailed: true, facts: { 'error.type': 'TypeError' } });
    expect(collector.bytes.join('')).not.toContain('secret words');
  });
});

describe('a unit without a trace', () => {
  it('is not inside the trace of a unit with whose turn it runs', async () => {
    const [tracing, unitOfWork] = [service.app.get(Tracing), service.app.get(UnitOfWork)];
    const span = tracing.begin({ name: 'of-tests' });
    const seen: unknown[] = [];
    const write = () => unitOfWork.write(async () => void seen.push(tracing.current));
    await Promise.all([
      tracing.within(span, write),
      ...[1, 2, 3].map(() => tracing.within(undefined, write)),
    ]);
    span?.end();
    expect(span).toBeDefined();
    expect(seen.filter((each) => each !== undefined)).toHaveLength(1);
  });
});

describe('what the collector gets', () => {
  it('is sent to its path with its headers, under the name of the service', async () => {
    const bot = await service.registerBot();
    await ofRequest((await bot.get('/bots/me')).header('x-request-id'));
    expect(collector.bytes.every((call) => call.startsWith('POST /v1/traces\n'))).toBe(true);
    expect(collector.headers.every((headers) => headers['x-collector'] === 'of ours')).toBe(true);
    expect(collector.resources[0]).toMatchObject({ 'service.name': 'lethe-of-tests' });
    expect(Object.keys(collector.resources[0] ?? {}).sort()).toEqual([
      'service.instance.id',
      'service.name',
      'service.version',
    ]);
  });

  it('has nothing of other variables of OpenTelemetry, which stay for other programs', async () => {
    const bot = await service.registerBot();
    const traceparent = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`;
    const span = await ofRequest((await bot.get('/bots/me', { traceparent })).header('x-request-id'));
    expect(Object.keys(span.facts).length).toBeGreaterThan(3);
    expect(span.links).toHaveLength(1);
    const names = collector.headers.flatMap((headers) => Object.keys(headers));
    expect(names).toContain('x-collector');
    expect(names).not.toContain('x-other');
    expect(names).not.toContain('content-encoding');
    expect(process.env).toMatchObject(OF_OTHERS);
  });

  it('has no key, secret, id of a user or guild, digest, or value of many lives, in any of its bytes', async () => {
    const bot = await service.registerBot({
      webhook_url: `${receiver.url}?marker-query`,
      privacy_contact: 'marker@example.org',
      name: 'marker-bot',
    });
    await bot.hasCategory('profile', [{ key: 'turn', type: 'number', label_de: 'T', label_en: 'T' }]);
    const lives = Array.from({ length: 6 }, () => new Life(bot));
    for (let turn = 0; turn < 8; turn++) await Promise.all(lives.map((life) => life.act()));
    const other = await service.registerBot({ webhook_url: receiver.url });
    const markers = await markedLife(service, other);
    const people = lives.map(({ who }) => who);
    const stored = people.flatMap((who) => Object.values<string>({ ...service.stored(bot, who) }));
    await bot.get('/bots/me', {
      'user-agent': 'marker-agent',
      tracestate: 'a=marker-state',
      baggage: 'marker',
    });
    const last = await bot.get('/bots/me');
    await ofRequest(last.header('x-request-id'));
    const bytes = collector.bytes.join('');
    const ids = people.flatMap(({ user_id, guild_id }) => [user_id, guild_id]);
    const planted = [
      ...ids,
      ...stored,
      ...markers,
      ...secretsOf(bot),
      ...secretsOf(other),
      bot.platformBotId,
      'marker',
    ];
    expect(planted.length).toBeGreaterThan(30);
    expect(planted.filter((text) => bytes.includes(String(text)))).toEqual([]);
  });
});
