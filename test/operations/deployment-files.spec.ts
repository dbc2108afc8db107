import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SETTINGS } from '@app/kernel';
import { type MetricDefinition, METRICS } from '@app/metrics';

import { parse } from 'yaml';

// Checks the files of docs/operations against the code.

const ROOT = join(__dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const operations = (name: string): string => read(join('docs/operations', name));

const DEFINITIONS = Object.values<MetricDefinition>(METRICS);
const NAMES = DEFINITIONS.map(({ name }) => name);

/** The metrics that an expression reads; a histogram's series by the name of the histogram. */
function metricsIn(text: string): string[] {
  const found = text.match(/\b(?:lethe|process|nodejs)_[a-z_]+/g) ?? [];
  const histograms = new Set(DEFINITIONS.filter(({ type }) => type === 'histogram').map(({ name }) => name));
  return found.map((name) => {
    const base = name.replace(/_(bucket|sum|count)$/, '');
    return histograms.has(base) ? base : name;
  });
}

/** Every `metric{label="value"}` with a plain value or alternatives, as [metric, label, value]. */
function selected(expression: string): [string, string, string][] {
  const selectors = expression.matchAll(/\b((?:lethe|process|nodejs)_[a-z_]+)\{([^}]*)\}/g);
  return [...selectors].flatMap(([, metric = '', matchers = '']) =>
    [...matchers.matchAll(/([a-z_]+)(?:=~|!~|!=|=)"([^"]*)"/g)].flatMap(([, label = '', values = '']) =>
      values.split('|').map((value): [string, string, string] => [metric, label, value]),
    ),
  );
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}
const RULES = (parse(operations('alerts.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
}
interface Dashboard {
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  readonly panels: readonly (Panel & { readonly id: number })[];
}
const DASHBOARD = JSON.parse(operations('grafana-dashboard.json')) as Dashboard;
const TARGETS = DASHBOARD.panels.flatMap(({ targets = [] }) => targets);

const EXPRESSIONS = [...RULES.map(({ expr }) => expr), ...TARGETS.map(({ expr }) => expr)];

describe('the expressions of dashboard and alerts', () => {
  it('read no metric that the code does not have', () => {
    expect(EXPRESSIONS.flatMap(metricsIn).filter((name) => !NAMES.includes(name))).toEqual([]);
    for (const expression of EXPRESSIONS) expect(metricsIn(expression)).not.toEqual([]);
  });

  it('ask for no label, and no value of a closed label, that a metric does not have', () => {
    const wrong = EXPRESSIONS.flatMap(selected).filter(([metric, label, value]) => {
      if (label === 'job' || label === 'instance') return false;
      const definition = DEFINITIONS.find(({ name }) => metricsIn(metric).includes(name));
      if (definition?.labels?.includes(label)) return false;
      return definition?.label?.name !== label || !definition.label.values.includes(value);
    });
    expect(wrong).toEqual([]);
  });

  it('have as many closing brackets as opening ones', () => {
    for (const expression of EXPRESSIONS)
      for (const [open, close] of ['()', '{}', '[]'])
        expect(expression.split(open ?? '').length).toBe(expression.split(close ?? '').length);
  });
});

describe('the dashboard', () => {
  it('shows every metric', () => {
    const shown = new Set(TARGETS.flatMap(({ expr }) => metricsIn(expr)));
    expect(NAMES.filter((name) => !shown.has(name))).toEqual([]);
  });

  it('takes the data source that is chosen, everywhere', () => {
    expect(DASHBOARD.templating.list).toContainEqual(
      expect.objectContaining({ name: 'datasource', type: 'datasource' }),
    );
    const sources = [...TARGETS, ...DASHBOARD.panels].flatMap(({ datasource }) => datasource?.uid ?? []);
    expect(new Set(sources)).toEqual(new Set(['${datasource}']));
  });

  it('has panels of different ids that do not lie on each other', () => {
    const { panels } = DASHBOARD;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)}/${y + Math.floor(n / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});

describe('the alerts', () => {
  it('have different names', () => {
    expect(new Set(RULES.map(({ alert }) => alert)).size).toBe(RULES.length);
  });

  it.each(RULES.map((rule) => [rule.alert, rule] as const))(
    '%s say how bad it is, what it means and what to do',
    (_, { labels, annotations }) => {
      expect(['critical', 'warning', 'info']).toContain(labels.severity);
      for (const part of ['summary', 'description', 'action']) expect(annotations[part]).toMatch(/^.{20,}$/s);
    },
  );

  it('name no setting that is not there', () => {
    const settings = Object.values(SETTINGS).map(({ name }): string => name);
    const named = operations('alerts.yaml').match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? [];
    expect(named.filter((name) => !settings.includes(name))).toEqual([]);
  });
});

describe('docs/operate.md', () => {
  it('lists every metric', () => {
    const text = read('docs/operate.md');
    expect(NAMES.filter((name) => !text.includes(`| \`${name}\` |`))).toEqual([]);
  });
});

describe('the metrics', () => {
  it('are named as Prometheus names them', () => {
    for (const { name, type } of DEFINITIONS) {
      expect(name).toMatch(/^(lethe|process|nodejs)_[a-z]+(_[a-z]+)*$/);
      expect(name.endsWith('_total')).toBe(type === 'counter');
    }
    expect(new Set(NAMES).size).toBe(NAMES.length);
  });
});

/** The options of Node.js that bound the memory, as `npm start` sets them. */
const flags = /exec node (.+) dist\//.exec(read('package.json'))?.[1]?.split(' ') ?? [];

describe('every start of the api and the worker', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const given = flags.join(' ');

  it.each(['start', 'start:worker', 'start:prod'])('has the options that bound its memory: %s', (name) => {
    expect(flags).toHaveLength(2);
    const program = `node ${given} dist/apps/server/src/main.js ${name === 'start:worker' ? 'worker' : 'start'}`;
    expect(scripts[name]?.split('exec ')[1]).toBe(program);
  });

  it('has them in the launcher and in the package of it, which containers and systemd start', () => {
    expect(read('apps/server/src/main.ts').split('\n')[0]).toBe(`#!/usr/bin/env -S node ${given}`);
    expect(read('apps/server/src/systemd-unit.ts')).toContain(`'${given}'`);
    expect(read('scripts/package.server.mjs')).toContain(`'${given}'`);
    const { services } = parse(operations('compose.yaml')) as {
      services: Readonly<Record<string, { readonly command?: readonly string[] }>>;
    };
    expect(['migrate', 'worker'].map((name) => services[name]?.command)).toEqual([
      ['lethe-server', 'migrate'],
      ['lethe-server', 'worker'],
    ]);
  });
});
