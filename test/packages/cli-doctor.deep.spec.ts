import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { createWebhookHandler, Lethe } from '@lethe/sdk';
import { builtCommandLine } from '../support/command-line';
import { CommandLineHere } from '../support/command-line-here';
import { freePort } from '../support/free-port';
import { PATIENT_SERVER } from '../support/patient';
import { useService } from '../support/shared-service';
import { snowflake } from '../support/snowflakes';

// lethe doctor on bots with one fault each: it finds the fault, and says how to mend it.

const service = useService();
const built = builtCommandLine();
let bot: Server;
/** What the bot does with a call; each test sets its own. */
let handle: (request: IncomingMessage, response: ServerResponse) => unknown;
let webhookUrl: string;
let cli: CommandLineHere;

beforeAll(async () => {
  bot = Object.assign(
    createServer((request, response) => void handle(request, response)),
    PATIENT_SERVER,
  );
  await new Promise<void>((listening) => bot.listen(0, '127.0.0.1', listening));
  webhookUrl = `http://127.0.0.1:${(bot.address() as AddressInfo).port}/gdpr`;
});
afterAll(() => {
  bot.closeAllConnections();
  bot.close();
});
beforeEach(() => (cli = new CommandLineHere(built.program)));
afterEach(() => cli.remove());

interface Check {
  readonly name: string;
  readonly ok: boolean | null;
  readonly mend: string;
}

const settings = () => parseEnv(readFileSync(join(cli.directory, '.env'), 'utf8')) as Record<string, string>;

/** A bot whose everything is right. */
async function healthy(...options: string[]): Promise<Lethe> {
  const args = ['--url', service.url, '--platform-bot-id', snowflake(), '--name', 'Greeter', ...options];
  await cli.done('init', ...args);
  const { LETHE_KEY: key = '', LETHE_WEBHOOK_SECRET: secrets = '' } = settings();
  handle = createWebhookHandler({ secrets, on: {} }).node;
  const lethe = new Lethe({ url: service.url, key });
  const labels = { label_de: 'Profil', label_en: 'Profile' };
  await lethe.categories.register({
    key: 'profile',
    ...labels,
    fields: [{ key: 'a', type: 'string', ...labels }],
  });
  const categories = [{ key: 'profile', label: 'Profile', text: 'Your nickname.' }];
  for (const language of ['de', 'en'])
    await lethe.consents.registerText({ consent_version: '1', language, title: '?', body: '.', categories });
  return lethe;
}

async function faults(environment: Record<string, string> = {}): Promise<Record<string, string>> {
  const ran = await cli.run(['doctor', '--json'], environment);
  const { ok, checks } = JSON.parse(ran.stdout) as { ok: boolean; checks: Check[] };
  const found = checks.filter((one) => one.ok === false);
  expect([ran.code === 0, ok]).toEqual([found.length === 0, found.length === 0]);
  return Object.fromEntries(found.map(({ name, mend }) => [name, mend]));
}

describe('lethe doctor', () => {
  it('finds nothing wrong with a bot that is right, and checks all of it', async () => {
    await healthy('--webhook-url', webhookUrl);
    const ran = await cli.done('doctor');
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect([...ran.stdout.matchAll(/^✓ (\w+)/gm)].map(([, name]) => name)).toEqual([
      ...['settings', 'service', 'clock', 'key', 'scopes', 'webhook', 'signature', 'purposes', 'texts'],
    ]);
    expect(cli.written).not.toMatch(/sk_live_|whsec_/);
  });

  it('finds a receiver that takes forged calls', async () => {
    await healthy('--webhook-url', webhookUrl);
    handle = (_: unknown, response: { end(): void }) => response.end();
    expect(await faults()).toEqual({ signature: expect.stringContaining('createWebhookHandler') });
  });

  it('warns of a receiver that takes the calls of the service alone, as one with public keys', async () => {
    const lethe = await healthy('--webhook-url', webhookUrl);
    const { id } = await lethe.bots.me();
    const publicKeys = await lethe.webhookKeys(id);
    handle = createWebhookHandler({ publicKeys, on: {} }).node;
    expect(await faults()).toEqual({});
    const { stdout } = await cli.run(['doctor']);
    expect(stdout).toMatch(
      /^! signature +the receiver refuses .+\(400\), and confirms those of the service/m,
    );
    expect(stdout).toMatch(/→ With public keys that is right/);
  });

  it('checks everything else without the webhook secret, and with one that is none', async () => {
    await healthy('--webhook-url', webhookUrl);
    const env = join(cli.directory, '.env');
    writeFileSync(env, readFileSync(env, 'utf8').replace(/^LETHE_WEBHOOK_SECRET=.*$/m, ''));
    const { code, stdout } = await cli.run(['doctor']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\? signature +could not be checked: LETHE_WEBHOOK_SECRET is missing$/m);
    expect(stdout).toMatch(/^✓ texts/m);
    expect(await faults({ LETHE_WEBHOOK_SECRET: 'no secret' })).toEqual({
      signature: expect.stringContaining('whsec_…'),
    });
  });

  it('finds a receiver with another secret, and one that is not there', async () => {
    const lethe = await healthy('--webhook-url', webhookUrl);
    const other = { LETHE_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 'x').toString('base64')}` };
    handle = createWebhookHandler({ secrets: other.LETHE_WEBHOOK_SECRET, on: {} }).node;
    expect(await faults()).toEqual({
      webhook: expect.stringContaining('webhook secret of this bot'),
      signature: expect.stringContaining('the same secret'),
    });
    await lethe.bots.change({ webhook_url: `http://127.0.0.1:${await freePort()}/` });
    expect(await faults()).toEqual({ webhook: expect.stringContaining('port of webhook_url') });
    await lethe.bots.change({ webhook_url: null });
    expect(await faults()).toEqual({ webhook: expect.stringContaining('lethe listen') });
  });

  it('warns only, of no webhook URL, where a holder asks for its tasks', async () => {
    const lethe = await healthy('--webhook-url', webhookUrl);
    const holder = { key: 'database', covers: ['profiles'], label_de: 'Datenbank', label_en: 'Database' };
    await lethe.holders.register({ ...holder, kind: 'webhook' });
    await lethe.bots.change({ webhook_url: null });
    expect(Object.keys(await faults())).toEqual(['webhook']);
    await lethe.holders.change({ key: 'database', kind: 'pull' });
    expect(await faults()).toEqual({});
    expect((await cli.run(['doctor'])).stdout).toMatch(
      /^! webhook +the bot has no webhook_url: it learns of no withdrawal; its holders \(database\) learn of erasures while they run\n +→ On a laptop/m,
    );
  });

  it('finds a file that others can read, a wrong key, a key with too few scopes and incomplete texts', async () => {
    const lethe = await healthy('--webhook-url', webhookUrl);
    chmodSync(join(cli.directory, '.env'), 0o644);
    expect(await faults()).toEqual({ settings: expect.stringContaining('chmod 600') });
    chmodSync(join(cli.directory, '.env'), 0o600);
    execFileSync('git', ['init', '-q'], { cwd: cli.directory });
    writeFileSync(join(cli.directory, '.gitignore'), 'node_modules\n');
    expect(await faults()).toEqual({ settings: expect.stringContaining('.gitignore') });
    writeFileSync(join(cli.directory, '.gitignore'), '.env*\n');
    expect(await faults({ LETHE_KEY: 'sk_live_x', LETHE_URL: service.url })).toEqual({
      key: expect.stringContaining('LETHE_KEY'),
    });
    const { api_key: key } = await lethe.keys.create({ scopes: ['read', 'admin'] });
    expect(await faults({ LETHE_KEY: key, LETHE_URL: service.url })).toEqual({
      scopes: expect.stringContaining('read,write,erase'),
    });
    await lethe.consents.registerText({ consent_version: '2', language: 'en', title: '?', body: '.' });
    const ran = await cli.run(['doctor']);
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('1 of 9 checks failed: texts') });
    expect(ran.stdout).toMatch(
      /version 2: no text in de; the text in en does not explain profile\n +→ Complete .* a new consent_version/,
    );
  });

  it('says that a missing language is added to the version that is there', async () => {
    const lethe = await healthy('--webhook-url', webhookUrl);
    const text = {
      ...{ consent_version: '2', title: '?', body: '.' },
      categories: [{ key: 'profile', label: 'Profile', text: 'Your nickname.' }],
    };
    await lethe.consents.registerText({ ...text, language: 'en' });
    expect(await faults()).toEqual({ texts: expect.stringContaining('the same consent_version') });
    await lethe.consents.registerText({ ...text, language: 'de' });
    expect(await faults()).toEqual({});
  });

  it('warns of texts that are made from the declarations, and says that there is no webhook URL', async () => {
    const args = ['--url', service.url, '--platform-bot-id', snowflake(), '--name', 'Greeter'];
    await cli.done('init', ...args);
    const lethe = new Lethe({ url: service.url, key: settings()['LETHE_KEY'] ?? '' });
    const labels = { label_de: 'Profil', label_en: 'Profile' };
    const purpose = { description_de: 'Zum Gruß', description_en: 'To greet' };
    const greeting = { ...labels, ...purpose };
    const german = { key: 'b', type: 'string' as const, ...labels, description_de: 'Nur so' };
    await lethe.categories.register({
      key: 'profile',
      ...greeting,
      fields: [{ key: 'a', type: 'string', ...greeting }, german],
    });
    const one = {
      ...labels,
      description: 'To greet',
      fields: [{ key: 'a', type: 'string' as const, ...labels }],
    };
    await lethe.categories.register({ key: 'one', ...one });
    expect(await faults()).toEqual({ webhook: expect.stringContaining('lethe bot set --webhook-url') });
    const { stdout } = await cli.run(['doctor']);
    expect(stdout).toMatch(/^! purposes +not in both German and English: profile\.b, one\n +→ Write/m);
    expect(stdout).toMatch(/^! texts +no text is registered[^]*→ For words of your own/m);
    expect(stdout).toMatch(/^\? signature +could not be checked: the bot has no webhook URL$/m);
  });

  it('finds a clock that differs, and a service that is not there', async () => {
    await healthy();
    const late = createServer((_, response) =>
      response.setHeader('date', new Date(0).toUTCString()).end('{"keys":[]}'),
    );
    const port = await freePort();
    await new Promise<void>((listening) => late.listen(port, '127.0.0.1', listening));
    const url = `http://127.0.0.1:${port}`;
    expect(await faults({ LETHE_URL: url })).toMatchObject({ clock: expect.stringContaining('NTP') });
    late.closeAllConnections();
    late.close();
    const ran = await cli.run(['doctor'], { LETHE_URL: url });
    expect(ran).toMatchObject({ code: 3, stdout: expect.stringContaining('Is the service started') });
    expect(ran.stdout).not.toMatch(/^. key/m);
  });
});
