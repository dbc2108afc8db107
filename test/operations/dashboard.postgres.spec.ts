import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { useFleet } from '../support/fleet';
import { Life } from '../support/lives';
import { type DrawnPanel, picture } from '../support/panels';
import { hasPrometheus, Prometheus, type Series } from '../support/prometheus';
import { useReceiver } from '../support/receiver';
import { until } from '../support/until';

// The queries of the dashboard and the alerts, in a real Prometheus that reads an api and a worker on PostgreSQL and a
// service on SQLite under load. `WRITE_PICTURES=1` draws docs/pictures/dashboard.svg from the answers, after a longer load.

const ROOT = join(__dirname, '../..');
const RULES = join(ROOT, 'docs/operations/alerts.yaml');
const isDrawing = process.env['WRITE_PICTURES'] !== undefined;
const LOAD_SECONDS = isDrawing ? 60 : 15;
/** The load, and what the end of the load and the queries before may take. */
const SEEN_SECONDS = LOAD_SECONDS + 240;

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}
const { panels } = JSON.parse(readFileSync(join(ROOT, 'docs/operations/grafana-dashboard.json'), 'utf8')) as {
  panels: readonly Panel[];
};
const { groups } = parse(readFileSync(RULES, 'utf8')) as {
  groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
};

/** An expression as Grafana sends it. */
const sent = (expression: string): string =>
  expression.replaceAll('$job', 'lethe').replaceAll('$instance', '.*').replaceAll('$__rate_interval', '10s');

const QUERIES = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => [title, sent(expr)] as const),
);
const ALERTS = groups.flatMap(({ rules }) => rules);

/** The names of metrics in an expression that Prometheus has never read. */
const unknownIn = (expression: string, names: ReadonlySet<string>): string[] =>
  (expression.match(/\b(?:lethe|process|nodejs)_[a-z_]+/g) ?? []).filter((name) => !names.has(name));

/** The panels of the picture, by their titles. */
const DRAWN = [
  'Answers by status',
  'Time to the answer',
  'Answers by route',
  'Units of work per commit',
  'Time of a commit',
  'Events sealed',
  'Calls by outcome',
  'Processor',
  'Memory',
];

const METRICS_TOKEN = 'a-token-of-the-tests';
const build = useBuild();
const receiver = useReceiver();
const describeHere = hasPrometheus() ? describe : describe.skip;

/** Calls of ten users of a bot in turn, with webhook calls. */
async function live(service: ChildService, endMs: number): Promise<void> {
  const bot = await Bot.register(service.url, { webhook_url: receiver.url });
  await bot.hasCategory('profile', [{ key: 'turn', type: 'number', label_de: 'Zug', label_en: 'Turn' }]);
  const lives = Array.from({ length: 10 }, () => new Life(bot));
  await Promise.all(
    lives.map(async (life) => {
      while (performance.now() < endMs) await life.act();
    }),
  );
}

/** `npm run loadtest`, as an operator runs it. */
function loadTest({ url }: ChildService, directory: string): Promise<number | null> {
  const args = ['--url', url, '--bots', '10', '--users', '200', '--minutes', String(LOAD_SECONDS / 60)];
  const child = spawn(process.execPath, [join(ROOT, 'scripts/loadtest.mjs'), ...args], {
    cwd: directory,
    stdio: 'ignore',
  });
  return new Promise((resolve) => child.once('close', resolve));
}

describeHere('a Prometheus that reads Lethe under load, skipped where it is not installed', () => {
  const prometheus = new Prometheus();
  const fleet = useFleet(build);
  const directory = mkdtempSync(join(tmpdir(), 'lethe-dashboard-'));
  let sqlite: ChildService;
  /** In seconds of the clock. */
  let loadedUntil: number;
  const roles = new Map<string | undefined, string>();
  /** As Grafana names a series, with the role of a process in place of its address. */
  const nameOf = ({ metric }: Series, format: string): string =>
    format.replaceAll(
      /\{\{(\w+)\}\}/g,
      (_, label: string) => roles.get(metric[label]) ?? metric[label] ?? '',
    );

  beforeAll(async () => {
    const settings = { METRICS_TOKEN, WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };
    const environment = { ...settings, LETHE_MASTER_KEY: Buffer.alloc(32, 'test').toString('base64') };
    sqlite = await new ChildService(build.directory, join(directory, 'lethe.db'), environment).start();
    const [api, worker] = [await fleet.api(settings), await fleet.worker(settings)];
    const targets = [sqlite, api, worker].map(({ url }) => new URL(url).host);
    targets.forEach((host, at) => roles.set(host, ['SQLite', 'api', 'worker'][at] ?? ''));
    await prometheus.start(targets, METRICS_TOKEN, RULES);
    await until(async () => (await prometheus.query('lethe_up == 1')).length === 3);
    const endMs = performance.now() + LOAD_SECONDS * 1_000;
    const [code] = await Promise.all([loadTest(sqlite, directory), live(sqlite, endMs), live(api, endMs)]);
    expect(code).toBe(0);
    loadedUntil = endMs / 1_000 + performance.timeOrigin / 1_000;
  }, 300_000);

  afterAll(async () => {
    await prometheus.stop();
    await sqlite.end('SIGTERM');
    rmSync(directory, { recursive: true, force: true });
  });

  it.each(QUERIES)('has data for the panel "%s": %s', async (_, expression) => {
    expect(unknownIn(expression, await prometheus.names())).toEqual([]);
    // Some panels show only what happens now.
    expect((await prometheus.range(expression, { seconds: SEEN_SECONDS })).length).toBeGreaterThan(0);
  });

  it.each(ALERTS)('evaluates the expression of $alert, whose metrics it has read', async ({ expr }) => {
    expect(unknownIn(expr, await prometheus.names())).toEqual([]);
    expect(Array.isArray(await prometheus.query(expr))).toBe(true);
  });

  it('has loaded every alert, and none is without health', async () => {
    await until(async () => (await prometheus.rules()).faults.every((fault) => !fault.includes('unknown')));
    expect(await prometheus.rules()).toEqual({ count: ALERTS.length, faults: [] });
  });

  it('finds a mistyped metric and a mistyped expression', async () => {
    expect(unknownIn('sum(rate(lethe_http_request_total[5m]))', await prometheus.names())).toEqual([
      'lethe_http_request_total',
    ]);
    await expect(prometheus.query('sum(rate(lethe_up[5m])')).rejects.toThrow('Prometheus refuses');
  });

  (isDrawing ? it : it.skip)('draws the picture of docs/operate.md', async () => {
    const drawn: DrawnPanel[] = [];
    for (const wanted of DRAWN) {
      const panel = panels.find(({ title }) => title === wanted);
      if (panel === undefined) throw new Error(`There is no panel ${wanted}`);
      const series = [];
      for (const { expr, legendFormat } of panel.targets ?? []) {
        const found = await prometheus.range(sent(expr), {
          seconds: LOAD_SECONDS,
          until: loadedUntil,
          step: 2,
        });
        series.push(...found.map((one) => ({ ...one, name: nameOf(one, legendFormat) })));
      }
      drawn.push({ title: wanted, unit: panel.fieldConfig?.defaults.unit ?? 'none', series });
    }
    writeFileSync(join(ROOT, 'docs/pictures/dashboard.svg'), picture(drawn));
  });
});
