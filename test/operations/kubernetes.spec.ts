import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { BlockList, isIPv6 } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { keysPath } from '@app/database';
import { readConfig, SETTINGS } from '@app/kernel';
import { parseAllDocuments } from 'yaml';

// Checks the manifests of docs/operations/kubernetes against the code.

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Container {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: readonly Variable[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext: object;
  readonly resources: { readonly requests: object; readonly limits: object };
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly volumeMounts?: readonly { readonly mountPath: string }[];
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
}
interface Pod {
  readonly securityContext: object;
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks?: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
}
interface IpBlock {
  readonly cidr: string;
  readonly except?: readonly string[];
}
interface Manifest {
  readonly kind: string;
  readonly spec: {
    readonly replicas?: number;
    readonly template?: { readonly spec: Pod };
    readonly ingress?: readonly { readonly ports: readonly { readonly port: number }[] }[];
    readonly egress?: readonly {
      readonly to?: readonly { readonly ipBlock?: IpBlock }[];
      readonly ports?: readonly { readonly port: number }[];
    }[];
  };
}

const manifestsOf = (name: string): Manifest[] => {
  const text = readFileSync(join(__dirname, '../../docs/operations/kubernetes', name), 'utf8');
  return parseAllDocuments(text).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Manifest;
  });
};

/** In place of a value of the Secret. */
const SECRETS: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://lethe:x@db:5432/lethe',
  LETHE_MASTER_KEY: Buffer.alloc(32, 'test').toString('base64'),
  METRICS_TOKEN: 'a'.repeat(64),
  OPERATOR_TOKEN: 'o'.repeat(64),
};

describe.each(['sqlite.yaml', 'postgres.yaml'])('docs/operations/kubernetes/%s', (name) => {
  const manifests = manifestsOf(name);
  const pods = manifests.flatMap(({ spec }) => spec.template?.spec ?? []);
  const containers = pods.flatMap((pod) => [...(pod.initContainers ?? []), ...pod.containers]);

  it('sets variables that are settings, to values that a start accepts', () => {
    const settings = Object.values(SETTINGS).map((setting): string => setting.name);
    for (const { env } of containers) {
      expect(env.map((variable) => variable.name).filter((one) => !settings.includes(one))).toEqual([]);
      const values = env.map(({ name: key, value, valueFrom }) => {
        // A Secret of an earlier release has no token of the operator, and its pods start all the same.
        const more = key === 'OPERATOR_TOKEN' ? { optional: true } : {};
        expect(valueFrom?.secretKeyRef ?? { name: 'lethe', key, ...more }).toEqual({
          ...{ name: 'lethe', key },
          ...more,
        });
        return [key, value ?? SECRETS[key] ?? ''] as const;
      });
      expect(() => readConfig(Object.fromEntries(values))).not.toThrow();
    }
  });

  it('gets no variables of its Service, which a start refuses as misspelt settings', () => {
    expect(() => readConfig({ LETHE_PORT: 'tcp://10.0.0.1:80' })).toThrow('LETHE_PORT is not a setting');
    for (const pod of pods) expect(pod.enableServiceLinks).toBe(false);
  });

  it('holds no secret', () => {
    for (const { env } of containers)
      for (const { name: key, value } of env)
        if (/KEY|TOKEN|PASSWORD/.test(key)) expect(value).toBeUndefined();
  });

  it('listens and probes where the settings say', () => {
    for (const { env, ports, command, ...probes } of pods.flatMap((pod) => pod.containers)) {
      const port = command[1] === 'worker' ? 'WORKER_PORT' : 'PORT';
      expect(env).toContainEqual({ name: port, value: String(ports?.[0]?.containerPort) });
      expect(env).toContainEqual({ name: 'HOST', value: '0.0.0.0' });
      expect(probes.livenessProbe?.httpGet).toEqual({ path: '/health/live', port: ports?.[0]?.name });
      expect(probes.startupProbe?.httpGet).toEqual({ path: '/health/live', port: ports?.[0]?.name });
      expect(probes.readinessProbe?.httpGet).toEqual({ path: '/health/ready', port: ports?.[0]?.name });
      const open = manifests.flatMap(({ spec }) => spec.ingress ?? []).flatMap((rule) => rule.ports);
      expect(open.map((one) => one.port)).toContain(ports?.[0]?.containerPort);
    }
  });

  it('runs commands of the launcher, without root, on a root that is only read', () => {
    expect(pods.length).toBeGreaterThan(0);
    for (const pod of pods) {
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
      expect(pod.automountServiceAccountToken).toBe(false);
    }
    for (const { command, securityContext, resources } of containers) {
      expect(command).toEqual(['lethe-server', expect.stringMatching(/^(start|worker|migrate)$/)]);
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(resources).toMatchObject({ limits: { memory: expect.any(String) } });
    }
  });

  it('migrates before each process, without a limit, and not in it', () => {
    for (const {
      initContainers = [],
      containers: [main],
    } of pods) {
      const databaseOf = (one?: Container) => one?.env.find(({ name: key }) => key === 'DATABASE_URL');
      expect(initContainers.map(({ name: own, command }) => [own, command[1]])).toEqual([
        ['migrate', 'migrate'],
      ]);
      expect(databaseOf(main)).toBeDefined();
      expect(databaseOf(initContainers[0])).toEqual(databaseOf(main));
      expect(initContainers[0]?.volumeMounts).toEqual(
        name === 'sqlite.yaml' ? main?.volumeMounts : undefined,
      );
      expect(main?.env).toContainEqual({ name: 'MIGRATE_ON_START', value: 'false' });
    }
  });

  it('has the socket of the operator in a folder that the process makes: that of a volume is of root', () => {
    const paths = containers.flatMap(({ env, volumeMounts = [] }) => {
      const value = env.find(({ name: key }) => key === 'DATABASE_URL')?.value;
      return value === undefined ? [] : [{ value, mounts: volumeMounts.map(({ mountPath }) => mountPath) }];
    });
    expect(paths.length > 0).toBe(name === 'sqlite.yaml');
    for (const { value, mounts } of paths) {
      const folder = dirname(value.replace(/^sqlite:/, ''));
      expect(mounts).not.toContain(folder);
      expect(mounts).toContain(dirname(folder));
    }
  });

  it('leaves a process the time for its requests, and ends an api once no more calls are sent to it', () => {
    const { shutdownTimeoutMs } = readConfig({});
    for (const {
      containers: [main],
      terminationGracePeriodSeconds,
    } of pods) {
      const [program, seconds] = main?.lifecycle?.preStop.exec.command ?? [];
      expect(program).toBe(main?.name === 'api' ? 'sleep' : undefined);
      // Closing the modules and the collector are beyond the time for requests: libs/runtime/src/start-process.ts.
      const needed = shutdownTimeoutMs + 13_000 + Number(seconds ?? 0) * 1_000;
      expect(terminationGracePeriodSeconds * 1_000).toBeGreaterThan(needed);
    }
  });

  it('has one process on a SQLite file, and a policy for the network', () => {
    if (name === 'sqlite.yaml')
      expect(manifests.filter(({ kind }) => kind === 'StatefulSet').map(({ spec }) => spec.replicas)).toEqual(
        [1],
      );
    expect(manifests.map(({ kind }) => kind)).toContain('NetworkPolicy');
  });

  it('lets a pod reach the DNS of the cluster, receivers and the database, and nothing else', () => {
    const rules = manifests.flatMap(({ spec }) => spec.egress ?? []);
    const reached = rules.map(({ to, ports }) => [ports?.map(({ port }) => port), to?.map(Object.keys)]);
    expect(reached).toEqual([
      [[53, 53], [['namespaceSelector', 'podSelector']]],
      [
        [443, 80],
        [['ipBlock'], ['ipBlock']],
      ],
      ...(name === 'postgres.yaml' ? [[[5432], [['podSelector']]]] : []),
    ]);
  });

  it.each([
    ['203.0.114.7', true],
    ['2606:4700::1111', true],
    ['10.0.0.1', false],
    ['169.254.169.254', false],
    ['::1', false],
    ['fd00:ec2::254', false],
    ['fe80::1', false],
    ['64:ff9b::a00:1', false],
    ['64:ff9b:1::a00:1', false],
  ])('reaches receivers at public addresses alone, of both versions: %s %s', (address, isReached) => {
    const blocks = manifests
      .flatMap(({ spec }) => spec.egress ?? [])
      .flatMap(({ to }) => to?.flatMap(({ ipBlock }) => ipBlock ?? []) ?? []);
    const reaching = blocks.filter(
      ({ cidr, except = [] }) => contains([cidr], address) && !contains(except, address),
    );
    expect(reaching.length > 0).toBe(isReached);
  });
});

describe('docs/operate.md', () => {
  it('moves every file of a volume of an older sqlite.yaml', () => {
    const text = readFileSync(join(__dirname, '../../docs/operate.md'), 'utf8');
    const [, command = ''] = /-- sh -c '(mkdir .* \/data\/lethe && mv .*)'$/m.exec(text) ?? [];
    const root = mkdtempSync(join(tmpdir(), 'volume-'));
    try {
      const data = join(root, 'lethe.db');
      for (const file of [data, keysPath(data)])
        for (const end of ['', '-wal', '-shm', '.lock']) writeFileSync(file + end, '');
      execFileSync('sh', ['-c', command.replaceAll('/data', root)]);
      expect(readdirSync(root)).toEqual(['lethe']);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});

function contains(subnets: readonly string[], address: string): boolean {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [net = '', prefix] = subnet.split('/');
    list.addSubnet(net, Number(prefix), isIPv6(net) ? 'ipv6' : 'ipv4');
  }
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
