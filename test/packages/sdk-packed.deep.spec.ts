import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { Lethe } from '@lethe/sdk';
import { buildSync } from 'esbuild';
import { itAtFullDepth } from '../support/depth';
import { type TypedProject, usePacked } from '../support/packed';
import { useService } from '../support/shared-service';
import { snowflake } from '../support/snowflakes';

// The package as npm publishes it: packed, installed into empty projects, and used there.

const ROOT = join(__dirname, '../..');
const packed = usePacked('sdk');
const source = packed.source('sdk');
const run: typeof packed.run = (...given) => packed.run(...given);

/** Runtimes beside the Node.js of the tests, the variable that names the program of each, and its options. */
const RUNTIMES: readonly (readonly [name: string, variable: string, ...options: string[]])[] = [
  ['node-18', 'TEST_NODE_18'],
  ['bun', 'TEST_BUN', 'run'],
  [
    'deno',
    'TEST_DENO',
    'run',
    '--no-prompt',
    '--allow-net=127.0.0.1',
    '--allow-read=.',
    '--node-modules-dir=manual',
  ],
];

/** A life of a bot in one text, which runs as a script of each kind. */
const LIFE = `
const registered = await Lethe.register({ url }, { platform_bot_id: BOT, name: 'Packed' });
const lethe = new Lethe({ url, key: registered.api_key });
const labels = { label_de: 'Wert', label_en: 'Value' };
await lethe.categories.register({ key: 'profile', ...labels, fields: [{ key: 'value', type: 'string', ...labels }] });
const who = { user_id: 123456789012345678n, guild_id: '223456789012345678' };
const values = { ...who, category: 'profile', data: { value: 'x' } };
const refused = await lethe.data.submit(values).catch((error) => error);
if (!(refused instanceof ConsentRequiredError)) throw refused;
await lethe.consents.request({ ...who, consent_version: '1.0' });
await lethe.consents.accept({ ...who, consent_version: '1.0' });
await lethe.data.submit(values);
const events = [];
const secrets = registered.webhook_secret;
const receiver = createWebhookHandler({ secrets, on: { ping: (event) => void events.push(event.event) } });
const call = await signedCall({ secret: secrets, event: { event: 'ping', sent_at: '2026-01-01T00:00:00Z' } });
const answer = await receiver.fetch(new Request('http://bot.test/', { method: 'POST', body: call.rawBody, headers: call.headers }));
const types = (await lethe.audit.events(who).toArray()).map((event) => event.event_type);
const result = [types.length, events.join(), answer.status].join(' ');
`;
const RESULT = '3 ping 204';

/** The declarations of the package are checked, and not those that TypeScript brings, which take most of the time. */
const COMPILER = {
  ...{ strict: true, skipDefaultLibCheck: true, target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'] },
};

describe('the built package', () => {
  it('depends on nothing, and is built before it is packed', () => {
    const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    const dependencies = ['dependencies', 'peerDependencies', 'optionalDependencies'];
    expect(dependencies.filter((name) => manifest[name] !== undefined)).toEqual([]);
    expect(manifest['scripts']).toEqual({ prepack: 'node ../../scripts/package.mjs sdk' });
  });

  it('names nothing of Node.js in the client, which bundlers for the edge would look for', () => {
    const named = ['index.mjs', 'index.js', 'testing.mjs'].filter((file) =>
      /['"`]node:|\brequire\(['"]/.test(readFileSync(join(source, 'dist', file), 'utf8')),
    );
    expect(named).toEqual([]);
  });
});

describe('the client where there is nothing but the globals of the web', () => {
  const service = useService();

  it('calls the service and receives webhooks', async () => {
    const web = {
      ...{
        AbortController,
        AbortSignal,
        atob,
        btoa,
        clearTimeout,
        crypto,
        fetch,
        Headers,
        performance,
        Request,
        Response,
      },
      ...{ ReadableStream, setTimeout, TextDecoder, TextEncoder, TransformStream, URL, URLSearchParams },
    };
    const code = ['index', 'testing'].map(
      (name) =>
        buildSync({
          ...{ entryPoints: [join(source, 'dist', `${name}.mjs`)], bundle: true, write: false },
          ...{ format: 'iife', globalName: name, platform: 'neutral' },
        }).outputFiles[0]?.text,
    );
    const context = createContext({ ...web, url: service.url });
    const names =
      'const { Lethe, ConsentRequiredError, createWebhookHandler } = index; const { signedCall } = testing;';
    const script = `${code.join('\n')};(async () => { ${names} const BOT = '${snowflake()}'; ${LIFE} return result; })()`;
    expect(await runInContext(script, context)).toBe(RESULT);
  });
});

describe('the packed package, installed into an empty project', () => {
  const service = useService();
  const project: typeof packed.project = (...given) => packed.project(...given);

  const imported = (names: string, from: string): string => `import { ${names} } from '${from}';`;
  const required = (names: string, from: string): string => `const { ${names} } = require('${from}');`;
  const heads = (load: typeof imported): string =>
    [
      load('ConsentRequiredError, createWebhookHandler, Lethe', '@lethe/sdk'),
      load('signedCall', '@lethe/sdk/testing'),
      load('verifyCertificate', '@lethe/sdk/evidence'),
    ].join('\n');
  const life = (): string =>
    `const url = '${service.url}'; const BOT = '${snowflake()}'; ${LIFE} console.log(result, typeof verifyCertificate);`;

  itAtFullDepth('is required by CommonJS, also in a Node.js without a global crypto', async () => {
    const directory = await project(
      'commonjs',
      {},
      {
        'bot.js': `${heads(required)}\n(async () => { ${life()} })();`,
      },
    );
    const [major = 0] = process.versions.node.split('.').map(Number);
    const flags = major < 23 ? ['--no-experimental-global-webcrypto'] : [];
    expect(await run(directory, process.execPath, ...flags, 'bot.js')).toBe(`${RESULT} function`);
    expect(await run(directory, 'npx', '--offline', 'lethe-verify').catch(String)).toContain(
      'lethe-verify proof',
    );
  });

  itAtFullDepth('is imported by ES modules', async () => {
    const directory = await project('esm', { type: 'module' }, { 'bot.js': `${heads(imported)}\n${life()}` });
    expect(await run(directory, process.execPath, 'bot.js')).toBe(`${RESULT} function`);
  });

  it.each(RUNTIMES)('is imported by %s', async (name, variable, ...options) => {
    const program = process.env[variable];
    if (program === undefined && process.env['CI'] === undefined)
      return void process.stderr.write(`${variable} names no program: the package was not run by ${name}.\n`);
    const directory = await project(name, { type: 'module' }, { 'bot.js': `${heads(imported)}\n${life()}` });
    expect(await run(directory, program ?? `${variable} names no program`, ...options, 'bot.js')).toBe(
      `${RESULT} function`,
    );
  });

  const KINDS = [
    ['node16', 'module'],
    ['node16', 'commonjs'],
    ['bundler', 'module'],
  ] as const;

  describe('with TypeScript', () => {
    let faults: ReadonlyMap<string, string[]>;
    beforeAll(async () => {
      const projects = await Promise.all([
        ...KINDS.map(([resolution, type]) => typed(resolution, type)),
        readme(),
      ]);
      faults = await packed.compiled(projects);
    });

    async function typed(resolution: string, type: 'module' | 'commonjs'): Promise<TypedProject> {
      const ids = `// @ts-expect-error an id that is a number
void (() => new Lethe({ url: '' }).consents.status({ user_id: 1, guild_id: '1' }));`;
      const code = life().replace('const events = []', 'const events: string[] = []');
      const body = type === 'module' ? code : `void (async () => { ${code} })();`;
      const directory = await project(
        `${resolution}-${type}`,
        { type },
        {
          'bot.ts': `${heads(imported)}\ndeclare const console: { log(...all: unknown[]): void };\n${ids}\n${body}`,
        },
      );
      const module = resolution === 'bundler' ? 'esnext' : 'node16';
      return { directory, options: { ...COMPILER, moduleResolution: resolution, module }, files: ['bot.ts'] };
    }

    async function readme(): Promise<TypedProject> {
      const text = readFileSync(join(ROOT, 'packages/sdk/README.md'), 'utf8');
      const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
      expect(blocks.length).toBeGreaterThan(4);
      const elsewhere = `declare module 'node:http' {
      export function createServer(listener: (request: any, response: any) => unknown): { listen(port: number): void };
    }`;
      const files = {
        ...Object.fromEntries(blocks.map((code, at) => [`block${at}.ts`, code])),
        'elsewhere.d.ts': elsewhere,
      };
      const options = { ...COMPILER, moduleResolution: 'node16', module: 'node16', noEmit: true };
      const directory = await project('readme', { type: 'module' }, files);
      return { directory, options, files: Object.keys(files) };
    }

    itAtFullDepth.each(KINDS)(
      'is compiled with moduleResolution %s into %s, which runs',
      async (resolution, type) => {
        const name = `${resolution}-${type}`;
        expect(faults.get(name)).toEqual([]);
        const directory = join(packed.place, name);
        expect(await run(directory, process.execPath, 'bot.js')).toBe(`${RESULT} function`);
      },
    );

    itAtFullDepth('begins in README.md with blocks that run on a new bot, in their order', async () => {
      const text = readFileSync(join(ROOT, 'packages/sdk/README.md'), 'utf8');
      const [first = '', second = ''] = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) =>
        code.replace('http://127.0.0.1:3000', service.url),
      );
      const files = { 'first.js': first.replace('987654321098765432', snowflake()) };
      const directory = await project('readme-run', { type: 'module' }, files);
      const said = await run(directory, process.execPath, 'first.js');
      const key = /sk_\w+/.exec(said)?.[0] ?? '';
      writeFileSync(join(directory, 'second.js'), second.replace('sk_live_…', key));
      await run(directory, process.execPath, 'second.js');
      const who = { user_id: '323456789012345678', guild_id: '223456789012345678' };
      const { data } = await new Lethe({ url: service.url, key }).data.export(who);
      expect(data).toEqual({ profile: { birthday: '2000-02-29' } });
    });

    itAtFullDepth('is used in README.md by code that compiles', () => {
      expect(faults.get('readme')).toEqual([]);
    });
  });
});
