import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { parse as parseDotenv } from 'dotenv';
import { buildSync } from 'esbuild';
import { itAtFullDepth } from '../support/depth';
import { PUBLIC_KEY, signedDelivery, signedRequest } from '../support/discord-seats';
import { playBirthdays } from '../support/discord-birthdays';
import { useFakeDiscord } from '../support/fake-discord';
import { FakeGateway } from '../support/fake-gateway';
import { freePort } from '../support/free-port';
import { SQLITE_PACKAGE } from '../support/database';
import { type TypedProject, usePacked } from '../support/packed';
import { useService } from '../support/shared-service';
import { snowflake } from '../support/snowflakes';
import { until } from '../support/until';

// @lethe/discord as npm publishes it, in empty projects, and the examples with it.

const ROOT = join(__dirname, '../..');
const packed = usePacked('sdk', 'discord');

const imported = (names: string, from: string): string => `import { ${names} } from '${from}';`;
const required = (names: string, from: string): string => `const { ${names} } = require('${from}');`;
const heads = (load: typeof imported): string =>
  [
    load('Lethe', '@lethe/sdk'),
    load('Privacy, DiscordRest', '@lethe/discord'),
    load('DiscordJsPrivacy', '@lethe/discord/discord-js'),
    load('HttpInteractions', '@lethe/discord/http'),
  ].join('\n');
const LIFE = `
const lethe = new Lethe({ url: 'http://127.0.0.1:1', key: 'sk_live_x', retries: 0 });
const privacy = new Privacy({ lethe });
const act = { kind: 'command' as const, name: 'privacy', subcommand: 'forget', options: {} };
const asked = { id: '1', userId: '123456789012345678', guildId: null, locale: 'de', act };
const kinds = [DiscordRest, DiscordJsPrivacy, HttpInteractions].map((one) => typeof one).join();
void privacy.reply(asked).then(({ content }) => console.log(kinds, content.slice(0, 13)));
`;
const RESULT = 'function,function,function Alles löschen';
const PLAIN = LIFE.replace(' as const', '');

describe('the packed package', () => {
  it('has peers and no dependencies, and loads nothing but the client', () => {
    const manifest = JSON.parse(
      readFileSync(join(packed.source('discord'), 'package.json'), 'utf8'),
    ) as object;
    expect(manifest).not.toHaveProperty('dependencies');
    expect(manifest).toMatchObject({ peerDependenciesMeta: { 'discord.js': { optional: true } } });
    const dist = join(packed.source('discord'), 'dist');
    const loaded = readdirSync(dist)
      .filter((file) => /\.m?js$/.test(file))
      .flatMap((file) => [
        ...readFileSync(join(dist, file), 'utf8').matchAll(/(?:from |require\()"([^"]+)"/g),
      ]);
    expect(new Set(loaded.map(([, name]) => name))).toEqual(new Set(['@lethe/sdk']));
  });

  it('receives interactions where there is nothing but the globals of the web', async () => {
    const dist = (name: string) => join(packed.source(name), 'dist');
    const { text = '' } =
      buildSync({
        stdin: {
          contents: `export * from './http.mjs'; export * from '@lethe/sdk';`,
          resolveDir: dist('discord'),
        },
        ...{ bundle: true, write: false, format: 'iife', globalName: 'kit', platform: 'neutral' },
        alias: { '@lethe/sdk': join(dist('sdk'), 'index.mjs') },
      }).outputFiles[0] ?? {};
    const web = {
      ...{ AbortController, Blob, crypto, fetch, FormData, Headers, ReadableStream, Request, Response },
      ...{ clearTimeout, setTimeout, TextDecoder, TextEncoder, URL, URLSearchParams, Uint8Array },
    };
    const request = new Request('https://bot.example/', signedRequest(JSON.stringify({ id: '1', type: 1 })));
    const context = createContext({ ...web, request, publicKey: PUBLIC_KEY });
    const script = `${text};
      const lethe = new kit.Lethe({ url: 'http://lethe.test', key: 'x' });
      new kit.HttpInteractions({ lethe, publicKey }).fetch(request).then((answer) => answer.text());`;
    expect(await runInContext(script, context)).toBe('{"type":1}');
  });

  itAtFullDepth('is required by CommonJS and imported by ES modules, without discord.js', async () => {
    const files = { 'a.cjs': heads(required) + PLAIN, 'b.mjs': heads(imported) + PLAIN };
    const directory = await packed.project('plain', {}, files);
    for (const file of Object.keys(files)) expect(await packed.run(directory, 'node', file)).toBe(RESULT);
  });

  const KINDS = [
    ['node16', 'module'],
    ['node16', 'commonjs'],
    ['bundler', 'module'],
  ] as const;

  describe('with TypeScript', () => {
    let faults: ReadonlyMap<string, string[]>;
    beforeAll(async () => {
      const bot = { 'bot.ts': `${heads(imported)}\n${LIFE}` };
      const projects = KINDS.map(([resolution, type]) =>
        typed(`${resolution}-${type}`, type, resolution, bot),
      );
      const readme = typed('readme', 'module', 'node16', blocks(), { noEmit: true });
      faults = await packed.compiled(await Promise.all([...projects, readme]));
    });

    async function typed(
      name: string,
      type: string,
      moduleResolution: string,
      files: Readonly<Record<string, string>>,
      further: object = {},
    ): Promise<TypedProject> {
      const directory = await packed.project(name, { type }, files);
      for (const library of ['discord.js', '@types']) linkTo(directory, library);
      const module = moduleResolution === 'bundler' ? 'esnext' : 'node16';
      const options = {
        ...{ strict: true, skipLibCheck: true, types: ['node'] },
        ...{ target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'], moduleResolution, module, ...further },
      };
      return { directory, options, files: Object.keys(files) };
    }

    function blocks(): Record<string, string> {
      const text = readFileSync(join(ROOT, 'packages/discord/README.md'), 'utf8');
      const found = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
      expect(found.length).toBeGreaterThan(2);
      return Object.fromEntries(found.map((code, at) => [`block${at}.ts`, code]));
    }

    itAtFullDepth.each(KINDS)('is compiled with moduleResolution %s into %s', async (resolution, type) => {
      const name = `${resolution}-${type}`;
      expect(faults.get(name)).toEqual([]);
      expect(await packed.run(join(packed.place, name), 'node', 'bot.js')).toBe(RESULT);
    });

    itAtFullDepth('is used in README.md by code that compiles', () => {
      expect(faults.get('readme')).toEqual([]);
    });
  });
});

/** A library as it is installed here: no registry is asked. */
const linkTo = (directory: string, name: string, installed = name): void =>
  symlinkSync(join(ROOT, 'node_modules', installed), join(directory, 'node_modules', name));

describe('the examples', () => {
  const service = useService();
  const discord = useFakeDiscord();
  let child: ChildProcess | undefined;
  afterEach(() => child?.kill());

  it.each(['discord-js', 'discord-http'])('%s has at most 180 lines of its own', (name) => {
    const directory = join(ROOT, 'examples', name);
    const files = readdirSync(directory).filter((file) => file.endsWith('.js'));
    const lines = files.flatMap((file) => readFileSync(join(directory, file), 'utf8').trimEnd().split('\n'));
    expect(files).toEqual(['bot.js', 'database.js', 'setup.js']);
    expect(lines.length).toBeLessThanOrEqual(180);
    const page = readFileSync(join(ROOT, 'docs/discord.md'), 'utf8');
    expect(page).toMatch(new RegExp(`^\\| \\[${name}\\].* \\| ${lines.length} +\\|`, 'm'));
  });

  it.each(['setup.js', 'database.js'])('have the same %s', (file) => {
    const [one, other] = ['discord-js', 'discord-http'].map((name) =>
      readFileSync(join(ROOT, 'examples', name, file), 'utf8'),
    );
    expect(one).toBe(other);
  });

  /** The example as a newcomer has it after `npm install` and `npm run setup`, with the addresses of this test. */
  async function setUp(name: string) {
    const directory = await packed.project(`example-${name}`, {}, {});
    cpSync(join(ROOT, 'examples', name), directory, {
      recursive: true,
      filter: (path) => !path.endsWith('package.json') && !path.endsWith('node_modules'),
    });
    const manifest = JSON.parse(readFileSync(join(ROOT, 'examples', name, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
    linkTo(directory, 'better-sqlite3', SQLITE_PACKAGE);
    if (manifest.dependencies['discord.js'] !== undefined) linkTo(directory, 'discord.js');
    const port = await freePort();
    const env = {
      ...parseDotenv(readFileSync(join(directory, '.env.example'))),
      ...{
        DISCORD_TOKEN: `${Buffer.from(discord.applicationId).toString('base64')}.x.y`,
        DISCORD_PUBLIC_KEY: PUBLIC_KEY,
      },
      ...{ DISCORD_API: discord.url, LETHE_URL: service.url, PORT: String(port) },
      WEBHOOK_URL: `http://127.0.0.1:${port}/gdpr`,
    };
    const lines = Object.entries(env).map(([key, value]) => `${key}=${value}`);
    appendFileSync(join(directory, '.env'), lines.join('\n'));
    expect(await packed.run(directory, 'node', '--env-file=.env', 'setup.js')).toContain('is registered');
    let output = '';
    child = spawn(process.execPath, ['--env-file=.env', 'bot.js'], { cwd: directory });
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => void (output += chunk.toString()));
    await until(() => /is ready|Error/.test(output));
    return { port, output: () => output, database: join(directory, 'bot.db') };
  }

  itAtFullDepth('discord-js runs with a gateway', async () => {
    discord.applicationId = snowflake();
    const gateway = await new FakeGateway(discord).start();
    try {
      const { output, database } = await setUp('discord-js');
      await until(() => discord.commands.length > 0);
      const deliver = (payload: object) => gateway.dispatch('INTERACTION_CREATE', payload);
      await playBirthdays(discord, deliver, output, database);
    } finally {
      child?.kill();
      await gateway.stop();
    }
  });

  itAtFullDepth('discord-http runs behind a URL', async () => {
    discord.applicationId = snowflake();
    // As of 2016 and before: commands are declared for the application.
    discord.userId = snowflake();
    // So many that their first comparison waits for the next minute, which the end of the bot does not.
    discord.guilds = Array.from({ length: 13 }, snowflake);
    const { port, output, database } = await setUp('discord-http');
    await playBirthdays(discord, signedDelivery(discord, `http://127.0.0.1:${port}/`), output, database);
    const ended = new Promise((exited) => child?.once('exit', exited));
    child?.kill('SIGTERM');
    expect(await ended).toBe(0);
  });
});
