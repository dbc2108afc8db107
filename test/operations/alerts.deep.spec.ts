import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { canRun } from '../support/programs';

// Runs the rules of docs/operations/alerts.yaml with promtool, of the Debian package prometheus.

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
}
interface Rules {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

const FILE = join(__dirname, '../../docs/operations/alerts.yaml');

const promtool = (...args: string[]): string => {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
};

/** A series, the alert that it concerns, its time in minutes, and whether the alert fires. */
interface Case {
  readonly series: string;
  readonly values: string;
  /** The same series of a further process. */
  readonly further?: { readonly series: string; readonly values: string };
  readonly alert: string;
  readonly at: string;
  readonly labels?: Readonly<Record<string, string>>;
}

const LABELS = { instance: 'a:3000', job: 'lethe' };
const NAMED = '{instance="a:3000",job="lethe"}';
const further = { series: 'up{instance="b:3000",job="lethe"}', values: '1x30' };
const FIRES: readonly Case[] = [
  {
    series: `up${NAMED}`,
    values: '1x9 0x200',
    further,
    alert: 'LetheProcessGone',
    at: '25m',
    labels: LABELS,
  },
  { series: `up${NAMED}`, values: '1x9 0x200', further, alert: 'LetheProcessGone', at: '3h', labels: LABELS },
  {
    series: `up${NAMED}`,
    values: '1x59 _x40',
    further: { ...further, values: '1x99' },
    alert: 'LetheProcessGone',
    at: '80m',
  },
  { series: `lethe_up${NAMED}`, values: '0x20', alert: 'LetheNotReady', at: '6m', labels: LABELS },
  {
    series: `process_resident_memory_bytes${NAMED}`,
    values: '900000000x20',
    alert: 'LetheMemoryHigh',
    at: '12m',
    labels: LABELS,
  },
  {
    series: 'lethe_job_failures_total{instance="a:3000",job="lethe",job_name="category-retention"}',
    values: '0x60 1x60 2x60 3x60 4x60 5x60',
    alert: 'LetheJobFails',
    at: '5h30m',
    labels: { job_name: 'category-retention' },
  },
  {
    series: 'lethe_job_failures_total{instance="a:3000",job="lethe",job_name="orphan-keys"}',
    values: '0x60 1x60',
    alert: 'LetheJobFails',
    at: '90m',
    labels: { job_name: 'orphan-keys' },
  },
  {
    series: `lethe_database_disk_free_bytes${NAMED}`,
    values: '200000000x20',
    alert: 'LetheDiskFilling',
    at: '12m',
  },
];
const STAYS: readonly Case[] = [
  { series: `up${NAMED}`, values: '1x30', further, alert: 'LetheProcessGone', at: '25m' },
  {
    series: `up${NAMED}`,
    values: '_x20 1x2 _x60',
    further: { ...further, values: '1x90' },
    alert: 'LetheProcessGone',
    at: '40m',
  },
  { series: `up${NAMED}`, values: '1x9 0x3 1x20', further, alert: 'LetheProcessGone', at: '25m' },
  { series: `lethe_up${NAMED}`, values: '1x20', alert: 'LetheNotReady', at: '6m' },
  { series: `lethe_up${NAMED}`, values: '0 0 1x20', alert: 'LetheNotReady', at: '6m' },
  {
    series: `process_resident_memory_bytes${NAMED}`,
    values: '200000000x20',
    alert: 'LetheMemoryHigh',
    at: '12m',
  },
  {
    series: 'lethe_job_failures_total{instance="a:3000",job="lethe",job_name="category-retention"}',
    values: '0x60 2x300',
    alert: 'LetheJobFails',
    at: '5h',
  },
  {
    series: `lethe_database_disk_free_bytes${NAMED}`,
    values: '300000000x20',
    alert: 'LetheDiskFilling',
    at: '12m',
  },
];

(canRun('promtool') ? describe : describe.skip)('the alerts in promtool', () => {
  let directory: string;
  beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'lethe-test-'))));
  afterAll(() => rmSync(directory, { recursive: true }));
  const { groups } = parse(readFileSync(FILE, 'utf8')) as Rules;

  it('are rules that Prometheus accepts', () => {
    expect(promtool('check', 'rules', FILE)).toBe('');
  });

  const cases = [
    ...FIRES.map((one) => ['fires', one] as const),
    ...STAYS.map((one) => ['stays', one] as const),
  ];
  it.each(cases)('%s as expected: %j', (what, { series, values, further: other, alert, at, labels = {} }) => {
    // Without annotations: promtool would compare their words.
    const bare = groups.map(({ name, rules }) => ({
      name,
      rules: rules.map(({ alert: own, expr, for: after, labels: given }) => ({
        alert: own,
        expr,
        ...(after === undefined ? {} : { for: after }),
        labels: given,
      })),
    }));
    const rule = groups.flatMap(({ rules }) => rules).find((one) => one.alert === alert);
    const expected = what === 'fires' ? [{ exp_labels: { ...rule?.labels, ...labels } }] : [];
    writeFileSync(join(directory, 'rules.yaml'), stringify({ groups: bare }));
    const test = {
      rule_files: ['rules.yaml'],
      tests: [
        {
          interval: '1m',
          input_series: [{ series, values }, ...(other === undefined ? [] : [other])],
          alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: expected }],
        },
      ],
    };
    writeFileSync(join(directory, 'test.yaml'), stringify(test));
    expect(promtool('test', 'rules', join(directory, 'test.yaml'))).toBe('');
  });
});
