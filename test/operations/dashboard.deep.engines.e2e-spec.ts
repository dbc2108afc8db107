import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { Client } from '../support/client';
import { engine } from '../support/database';
import { useOneInstallation } from '../support/installation';
import { canRun } from '../support/programs';
import { Prometheus, type Series } from '../support/prometheus';
import { useReceiver } from '../support/receiver';
import { subject } from '../support/snowflakes';

// Runs each query of the dashboard and of the alerts in a real Prometheus, which reads a Lethe that works.

const ROOT = join(__dirname, '../..');
const operations = (name: string): string => join(ROOT, 'docs/operations', name);

interface Panel {
  readonly title: string;
}
interface Query {
  readonly panel: Panel;
  readonly expr: string;
  readonly legend: string;
}
interface Queries {
  readonly queriesOf: (dashboard: object, chosen?: Readonly<Record<string, string>>) => Query[];
  readonly legendOf: (legend: string, labels: Series['metric']) => string | undefined;
  readonly asked: <T>(url: string, path: string, parameters?: Readonly<Record<string, string>>) => Promise<T>;
}
/** As text, since it has no types. */
const QUERIES: string = '../../scripts/dashboard.queries.mjs';

/** Panels without a series, each with its reason. */
const EMPTY: readonly string[] =
  engine === 'sqlite'
    ? // SQLite has no pool.
      ['Connections to PostgreSQL', 'Waiting for a connection']
    : // Only a SQLite file has a ballast and a disk of this machine.
      ['Room on the disk', 'Room on the disk of SQLite'];

/** What must be above 0 under the load of this suite: the panel and the legend of the series. */
const MOVED: readonly (readonly [panel: string, ...legends: string[]])[] = [
  ['Taking requests', ''],
  ['Requests', ''],
  ['Time to the answer, p99', ''],
  ['Answers by status', '200', '201', '401', '403'],
  ['Answers by route', 'POST /api/v1/data/submit'],
  ['Time to the answer', 'median', 'p90', 'p99'],
  ['Slowest routes, p99', 'POST /api/v1/data/submit'],
  ['Erasures by state', 'begun', 'completed'],
  ['Calls by outcome', 'confirmed', 'refused'],
  ['Deliveries that have ended', 'delivered'],
  ['Outbox', 'receiver failing'],
  ['Time of a commit', 'median'],
  ['Units of work per commit', 'median', 'p99'],
  ['Events sealed', 'INSTANCE'],
  ['Memory', 'INSTANCE resident', 'INSTANCE heap'],
  ['Running for', 'INSTANCE'],
];

const DASHBOARD = JSON.parse(readFileSync(operations('grafana-dashboard.json'), 'utf8')) as {
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
};
const ALERTS = parse(readFileSync(operations('alerts.yaml'), 'utf8')) as {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
};

const RULES = ALERTS.groups.flatMap(({ rules }) => rules);

/** What a panel shows: each legend with its number. */
type Shown = ReadonlyMap<string, readonly (readonly [legend: string | undefined, number: number])[]>;

(canRun('prometheus') ? describe : describe.skip)('in a Prometheus that reads a Lethe at work', () => {
  // Before the files below the installation are removed.
  afterAll(() => prometheus?.stop());
  const lethe = useOneInstallation({ build: useBuild() });
  const [receiver, failing] = [useReceiver(), useReceiver()];
  let prometheus: Prometheus;
  let instance: string;
  let queries: Queries;
  /** The time of the last sample: a read of /metrics that takes too long leaves a gap behind it. */
  let at: number;
  let shown: Shown;

  const instant = async (query: string, given = {}): Promise<readonly Series[]> =>
    (await queries.asked<{ result: readonly Series[] }>(prometheus.url, 'query', { query, ...given })).result;

  /** Resolves when Prometheus has read once more. */
  async function scraped(): Promise<void> {
    const since = Date.now() / 1_000;
    await prometheus.untilOf(async () => {
      const [sample] = await instant('timestamp(up) and up == 1');
      at = Number(sample?.value?.[1] ?? 0);
      return at > since;
    });
  }

  /** Each act once, a refused key, a consent that is missing, and receivers of which one fails. */
  async function live(url: string): Promise<void> {
    const bot = await Bot.register(url, { webhook_url: receiver.url });
    const other = await Bot.register(url, { webhook_url: failing.url });
    await bot.hasCategory('profile');
    const who = await bot.hasUser();
    await bot.export(who);
    await bot.post('/data/submit', { ...subject(), category: 'profile', data: { value: 'x' } });
    await bot.hasRevoked(who);
    await bot.hasForgotten(who);
    const before = failing.calls.length;
    await other.hasForgotten(subject());
    await failing.received(before + 1);
    await new Client(url, `${bot.key}x`).get('/servers');
  }

  const chosen = { __rate_interval: '5m' };

  async function read(more = {}): Promise<Shown> {
    const panels = new Map<string, (readonly [string | undefined, number])[]>();
    const asked = queries.queriesOf(DASHBOARD, { ...chosen, ...more });
    const answers = await Promise.all(asked.map(({ expr }) => instant(expr, { time: String(at) })));
    for (const [n, { panel, legend }] of asked.entries()) {
      const named = (answers[n] ?? []).map(
        ({ metric, value }) => [queries.legendOf(legend, metric), Number(value?.[1])] as const,
      );
      panels.set(panel.title, [...(panels.get(panel.title) ?? []), ...named]);
    }
    return panels;
  }

  const empty = (panels: Shown): string[] =>
    [...panels]
      .filter(([, series]) => !series.some(([, value]) => Number.isFinite(value)))
      .map(([title]) => title);

  /** Each of MOVED that is not above 0. */
  const still = (panels: Shown): string[] =>
    MOVED.flatMap(([title, ...legends]) =>
      legends
        .map((legend) => legend.replace('INSTANCE', instance))
        .filter((legend) => !panels.get(title)?.some(([name, value]) => name === legend && value > 0))
        .map((legend) => `${title}: ${legend}`),
    );

  beforeAll(async () => {
    queries = (await import(QUERIES)) as Queries;
    failing.status = 500;
    const token = randomBytes(32).toString('hex');
    const { url } = await lethe.child({ METRICS_TOKEN: token }).start();
    instance = new URL(url).host;
    const file = join(lethe.root, 'token');
    writeFileSync(file, token);
    prometheus = await new Prometheus(join(lethe.root, 'prometheus')).start({
      global: { evaluation_interval: '5s' },
      scrape_configs: [
        {
          ...guided(),
          ...{ scrape_interval: '1s', scrape_timeout: '1s' },
          authorization: { credentials_file: file },
          static_configs: [{ targets: [instance] }],
        },
      ],
      rule_files: [operations('alerts.yaml')],
    });
    // Again and again: the first sample of a series is no rise, and a busy machine leaves gaps between samples.
    await prometheus.untilOf(async () => {
      await live(url);
      await scraped();
      shown = await read();
      return still(shown).length === 0 && empty(shown).every((title) => EMPTY.includes(title));
    });
  });

  it('each panel has a finite number, but for those of the other engine', () => {
    expect(empty(shown)).toEqual(EMPTY);
  });

  it('what has happened is seen', () => {
    expect(still(shown)).toEqual([]);
  });

  it('each legend names labels that its series have', () => {
    const nameless = [...shown].filter(([, series]) => series.some(([legend]) => legend === undefined));
    expect(nameless.map(([title]) => title)).toEqual([]);
  });

  it('each panel has a row of numbers over time, too', async () => {
    const span = { start: String(at - 60), end: String(at), step: '5' };
    const rows = queries.queriesOf(DASHBOARD, chosen).map(async ({ panel, expr }) => {
      const { result } = await queries.asked<{ result: readonly Series[] }>(prometheus.url, 'query_range', {
        query: expr,
        ...span,
      });
      return result.length === 0 ? [panel.title] : [];
    });
    const without = (await Promise.all(rows)).flat();
    expect([...new Set(without)]).toEqual(EMPTY);
  });

  it('the processes to choose from are there, and one of them has what all have', async () => {
    for (const { name, definition } of DASHBOARD.templating.list) {
      if (definition === undefined) continue;
      const [, match = '', label = ''] =
        /^label_values\((.*), (\w+)\)$/.exec(definition.replace('$job', '.*')) ?? [];
      expect(label).toBe(name);
      expect(await queries.asked(prometheus.url, `label/${label}/values`, { 'match[]': match })).toEqual([
        label === 'job' ? 'lethe' : instance,
      ]);
    }
    // Grafana escapes a chosen value, since it is read as a regular expression in a text.
    const one = await read({ job: 'lethe', instance: instance.replaceAll('.', '\\\\.') });
    expect(empty(one)).toEqual(EMPTY);
    const none = await read({ instance: 'another' });
    expect(none.get('Taking requests')).toEqual([['', 0]]);
  });

  it('each alert is evaluated without a fault', async () => {
    interface Evaluated {
      readonly name: string;
      readonly health: string;
      readonly lastError?: string;
    }
    const evaluated = async () =>
      (
        await queries.asked<{ groups: readonly { readonly rules: readonly Evaluated[] }[] }>(
          prometheus.url,
          'rules',
        )
      ).groups.flatMap(({ rules }) => rules);
    await prometheus.untilOf(async () => (await evaluated()).every(({ health }) => health !== 'unknown'));
    const rules = await evaluated();
    expect(rules.map(({ name }) => name).sort()).toEqual(RULES.map(({ alert }) => alert).sort());
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
  });

  it('each alert asks for series that are there', async () => {
    const selectors = RULES.flatMap(({ alert, expr }) =>
      [...expr.matchAll(/\b(?:up|(?:lethe|process)_\w+)\b(?:\{[^}]*\})?/g)].map(
        ([selector]) => [alert, selector] as const,
      ),
    );
    expect(new Set(selectors.map(([alert]) => alert)).size).toBe(RULES.length);
    const found = await Promise.all(selectors.map(([, selector]) => instant(selector, { time: String(at) })));
    const missing = selectors.flatMap(([alert], n) => (found[n]?.length === 0 ? [alert] : []));
    // Nothing was answered 5xx. A pool is of PostgreSQL, and a disk that the process sees of SQLite.
    const ofOther = engine === 'sqlite' ? 'LethePoolExhausted' : 'LetheDiskFilling';
    expect([...new Set(missing)]).toEqual(['LetheErrors', ofOther]);
  });
});

/** The configuration of the guide for the operator. */
function guided(): object {
  const text = readFileSync(join(ROOT, 'docs/operate.md'), 'utf8');
  const [, block = ''] = /```yaml\n(scrape_configs:[^]*?)```/.exec(text) ?? [];
  const { scrape_configs: configs } = parse(block) as { scrape_configs: readonly object[] };
  if (configs[0] === undefined) throw new Error('docs/operate.md has no scrape_configs');
  return configs[0];
}
