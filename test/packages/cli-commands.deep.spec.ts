import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { createWebhookHandler, Lethe } from '@lethe/sdk';
import { builtCommandLine, type Ran } from '../support/command-line';
import { CommandLineHere } from '../support/command-line-here';
import { canRun } from '../support/programs';
import { useReceiver } from '../support/receiver';
import { useService } from '../support/shared-service';
import { HAS_FULL_DISK, ontoClosedPipe, ontoFullDisk } from '../support/spawned';
import { freePort } from '../support/free-port';
import { someOf } from '../support/depth';
import { snowflake, subject } from '../support/snowflakes';
import { until } from '../support/until';

// Each command as a developer of a bot runs it, in an empty folder, on the service; its first run in a process of its own.

const service = useService();
const receiver = useReceiver();
const built = builtCommandLine();
let cli: CommandLineHere;
beforeEach(() => {
  receiver.reset();
  cli = new CommandLineHere(built.program);
});
afterEach(() => cli.remove());

const inFolder = (file: string): string => join(cli.directory, file);
const read = (file: string): string => readFileSync(inFolder(file), 'utf8');
const env = () => parseEnv(read('.env')) as Record<string, string>;
const client = () => new Lethe({ url: service.url, key: env()['LETHE_KEY'] ?? '' });
const json = <T = Record<string, unknown>>({ stdout }: Ran): T => JSON.parse(stdout) as T;

const done = (...args: string[]): Promise<Ran> => cli.done(...args);

async function registered(...options: string[]): Promise<void> {
  await done(
    ...['init', '--url', service.url, '--platform-bot-id', snowflake(), '--name', 'Greeter', ...options],
  );
}

const PROFILE = {
  ...{ key: 'profile', label_de: 'Profil', label_en: 'Profile' },
  fields: [{ key: 'nickname', type: 'string', label_de: 'Spitzname', label_en: 'Nickname' }],
} as const;

async function consenting() {
  const [who, lethe] = [subject(), client()];
  await lethe.categories.register(PROFILE);
  await lethe.consents.request({ ...who, consent_version: '1.0' });
  const { receipt } = await lethe.consents.accept({ ...who, consent_version: '1.0' });
  await lethe.data.submit({ ...who, category: 'profile', data: { nickname: 'Robin' } });
  return { who, receipt };
}

describe('lethe init', () => {
  it('registers the bot, and adds to .env and .gitignore without losing a line', async () => {
    const before = '# my bot\nTOKEN="a b"\nexport LETHE_URL=http://old # old\n\nLAST=1';
    writeFileSync(inFolder('.env'), before);
    chmodSync(inFolder('.env'), 0o644);
    writeFileSync(inFolder('.gitignore'), 'node_modules');
    await registered();
    expect(read('.env')).toMatch(/^# my bot\nTOKEN="a b"\nLETHE_URL=\S+\n\nLAST=1\nLETHE_BOT_ID=/);
    expect(statSync(inFolder('.env')).mode & 0o777).toBe(0o600);
    expect(read('.gitignore')).toBe('node_modules\n.env\n');
    expect(await client().bots.me()).toMatchObject({ id: env()['LETHE_BOT_ID'], name: 'Greeter' });
  });

  it('registers nothing, and replaces no file, where it cannot read one that is there', async () => {
    const args = ['init', '--url', service.url, '--platform-bot-id', snowflake(), '--name', 'Greeter'];
    for (const name of ['.env', '.gitignore']) {
      // A link to itself: what cannot be read is no absence.
      symlinkSync(name, inFolder(name));
      expect(await cli.run(args)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('cannot be read'),
      });
      expect(lstatSync(inFolder(name)).isSymbolicLink()).toBe(true);
      rmSync(inFolder(name));
      const given = Buffer.from('node_modules\r\n', 'utf16le');
      writeFileSync(inFolder(name), given);
      expect(await cli.run(args)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('save as UTF-8'),
      });
      expect(readFileSync(inFolder(name))).toEqual(given);
      rmSync(inFolder(name));
    }
    expect(read('.env')).toBe(`LETHE_URL=${service.url}\n`);
    symlinkSync('lethe.yaml', inFolder('lethe.yaml'));
    await registered();
    for (const act of ['pull', 'push'])
      expect(await cli.run(['categories', act])).toMatchObject({
        ...{ code: 2, stderr: expect.stringContaining('lethe.yaml cannot be read') },
      });
  });

  it('registers nothing where the bot has a key already, or .env cannot be written', async () => {
    writeFileSync(inFolder('.env'), 'LETHE_KEY=sk_live_x\n');
    const args = ['init', '--url', service.url, '--platform-bot-id', snowflake(), '--name', 'Greeter'];
    expect(await cli.run(args)).toMatchObject({ code: 1, stderr: expect.stringContaining('--dotenv') });
    mkdirSync(inFolder('folder'));
    const broken = [...args, '--dotenv', 'missing/.env'];
    expect(await cli.run(broken)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Nothing was changed'),
    });
    writeFileSync(inFolder('.env'), 'NOTE="two\nLETHE_URL=lines"\n');
    expect(await cli.run(args)).toMatchObject({ code: 1, stderr: expect.stringContaining('NOTE') });
    // The key has no place, though the address has one.
    const closed = 'NOTE="two\nLETHE_KEY=\nlines"\n';
    writeFileSync(inFolder('.env'), closed);
    expect(await cli.run(args)).toMatchObject({ code: 1, stderr: expect.stringContaining('NOTE') });
    expect(read('.env')).toBe(closed);
    writeFileSync(inFolder('.env'), '');
    expect(await cli.run(args)).toMatchObject({ code: 0 });
    expect(await cli.run([...args, '--dotenv', '.env.two'])).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('npx @lethe/server admin bots:new-key --bot ID') },
    });
  });

  it('says which options it lacks where there is no terminal', async () => {
    expect(await cli.run(['init'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--platform-bot-id ID'),
    });
  });
});

describe('the exit code', () => {
  it('is 2 for wrong usage, 3 where nothing answers and 1 for a refusal, each with what to do', async () => {
    const closed = `http://127.0.0.1:${await freePort()}`;
    const runs: [string[], Record<string, string>, number, string][] = [
      [['deliveries'], {}, 2, 'lethe init'],
      [['deliveries', '--key', 'x'], {}, 2, 'set LETHE_KEY'],
      [['forget', '1', '--guild', '2'], {}, 2, '17 to 20 digits'],
      [['deliverys'], {}, 2, 'Did you mean deliveries?'],
      [['keys'], {}, 2, 'rotate'],
      [['deliveries'], { LETHE_KEY: 'sk_live_x', LETHE_URL: closed }, 3, 'LETHE_URL'],
      [['deliveries'], { LETHE_KEY: 'sk_live_x', LETHE_URL: service.url }, 1, 'no valid key'],
      [['deliveries'], { LETHE_KEY: 'Bearer x', LETHE_URL: service.url }, 2, 'the key alone'],
      [['deliveries'], { LETHE_KEY: 'x', LETHE_URL: 'localhost:3000' }, 2, 'with its scheme'],
    ];
    const seen = new Set<number>();
    for (const [args, environment, code, words] of runs) {
      // Each code is that of a process too.
      const ran = await (seen.has(code) ? cli.run(args, environment) : cli.apart(args, environment));
      expect(ran).toMatchObject({ code, stderr: expect.stringContaining(words) });
      seen.add(code);
    }
    const failed = await cli.apart(['deliveries', '--json'], { LETHE_KEY: 'x', LETHE_URL: service.url });
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(JSON.parse(failed.stderr)).toMatchObject({
      error: { code: 'unauthorized', mend: expect.any(String) },
    });
    expect((await done('--help')).stdout).toContain('Exit codes: 0 done');
  });
});

describe('a file of Windows', () => {
  it('is read with a byte order mark, and refused with a sentence where it is no UTF-8 or a line is not understood', async () => {
    await registered();
    writeFileSync(inFolder('.env'), `\uFEFF${read('.env').replaceAll('\n', '\r\n')}`);
    await done('keys', 'list');
    await done('keys', 'rotate');
    await done('keys', 'list');
    await done('categories', 'pull');
    for (const mark of ['\uFEFF', '']) {
      const text = `${mark}${read('lethe.yaml').replace('\uFEFF', '')}`;
      writeFileSync(inFolder('lethe.yaml'), text);
      await done('categories', 'push', '--yes');
    }
    const no = { code: 2, stderr: expect.stringContaining('save as UTF-8') };
    writeFileSync(inFolder('lethe.yaml'), Buffer.from(read('lethe.yaml'), 'utf16le'));
    expect(await cli.run(['categories', 'push', '--yes'])).toMatchObject(no);
    expect(await cli.run(['verify', 'lethe.yaml'])).toMatchObject(no);
    expect(await cli.run(['verify', 'lethe.yaml', '--keys', 'lethe.yaml'])).toMatchObject(no);
    const file = read('.env');
    writeFileSync(
      inFolder('.env'),
      `${file}set LETHE_URL=http://127.0.0.1:1\n$env:LETHE_KEY = "x"\nlethe_key=x\n`,
    );
    const refusal = await cli.run(['keys', 'list', '--json']);
    expect(refusal).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/line 5[^]*line 6[^]*line 7 names lethe_key/),
    });
    writeFileSync(inFolder('.env'), Buffer.from(file, 'utf16le'));
    expect(await cli.run(['keys', 'list'])).toMatchObject(no);
  });
});

describe('a secret of the environment', () => {
  it('is not sent to the address of a file in the folder, but to one given beside it', async () => {
    const asked: unknown[] = [];
    const thief = createServer((request, response) => {
      asked.push(request.headers);
      response.writeHead(404).end();
    });
    await once(thief.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(thief.address() as AddressInfo).port}`;
    for (const line of [`LETHE_URL=${url}`, `LETHE_URL=${url}\nLETHE_KEY=sk_live_y`]) {
      writeFileSync(inFolder('.env'), `${line}\n`);
      for (const command of [
        ['keys', 'list'],
        ['listen'],
        ['export', snowflake(), '--everywhere'],
        ['link', snowflake(), '--everywhere'],
      ])
        expect(
          await cli.run(command, { LETHE_KEY: 'sk_live_x', LETHE_WEBHOOK_SECRET: 'whsec_eA==' }),
        ).toMatchObject({
          ...{ code: 2, stderr: expect.stringMatching(/nothing was sent there[^]*--url/) },
        });
    }
    writeFileSync(inFolder('.env'), `LETHE_URL=${url}\n`);
    const init = ['init', '--platform-bot-id', snowflake(), '--name', 'Greeter'];
    expect(await cli.run(init, { LETHE_REGISTRATION_TOKEN: 'x' })).toMatchObject({ code: 2 });
    expect(asked).toEqual([]);
    await cli.run(['keys', 'list', '--url', url], { LETHE_KEY: 'sk_live_x' });
    await cli.run(['keys', 'list'], { LETHE_KEY: 'sk_live_x', LETHE_URL: url });
    writeFileSync(inFolder('.env'), `LETHE_URL=${url}\nLETHE_KEY=sk_live_x\n`);
    await cli.run(['keys', 'list']);
    expect(asked).toEqual(Array(3).fill(expect.objectContaining({ authorization: 'Bearer sk_live_x' })));
    thief.close();
  });
});

describe('the output', () => {
  const HOSTILE = '\u001b[2J\u001b]0;owned\u0007\u202eA\u009b1m\u2066\u200f\rB';

  it('has no character that a terminal obeys, whatever a service answers', async () => {
    let answer: object = {};
    let status = 200;
    const server = createServer((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const settings = { LETHE_URL: url, LETHE_KEY: 'sk_live_x' };
    const details = { fields: [{ field: HOSTILE, message: HOSTILE }], reason: HOSTILE };
    const error = { code: HOSTILE, message: HOSTILE, details };
    const key = { id: HOSTILE, api_key_prefix: HOSTILE, scopes: [HOSTILE], last_used_at: HOSTILE };
    const pagination = { page: 1, page_size: 50, total_count: 1, total_pages: 1, next: null };
    const data = {
      keys: [key],
      deliveries: [{ id: HOSTILE }],
      name: HOSTILE,
      url: HOSTILE,
      ...key,
      pagination,
    };
    const answers = [[400, { success: false, error }] as const, [200, { success: true, data }] as const];
    const [user, guild] = [snowflake(), snowflake()];
    const commands = [
      ['keys', 'list'],
      ['keys', 'create', '--show'],
      ['doctor'],
      ['export', user, '--guild', guild],
      ['deliveries'],
      ['categories', 'pull'],
      ['link', user, '--everywhere'],
      ['keys', 'delete', 'x'],
      ['keys', 'rotate', '--show'],
      ['forget', user, '--guild', guild, '--yes'],
    ];
    for (const command of someOf(commands, 2))
      for (const json of [[], ['--json']])
        for (const one of answers) {
          [status, answer] = one as [number, object];
          await cli.run([...command, ...json], settings);
        }
    server.close();
    expect(cli.written.split('owned').length).toBeGreaterThan(10);
    expect(cli.written).not.toMatch(/[^\P{C}\n\t\u200d]|[\u2028\u2029]/u);
  });

  it('is JSON that means what the service has answered', async () => {
    await registered();
    const { who } = await consenting();
    await client().data.submit({ ...who, category: 'profile', data: { nickname: HOSTILE } });
    const { stdout } = await done('export', who.user_id, '--guild', who.guild_id);
    expect(stdout).not.toContain('\u202e');
    expect(JSON.stringify(JSON.parse(stdout))).toContain(JSON.stringify(HOSTILE));
  });
});

describe('lethe listen and lethe trigger', () => {
  it('bring each call to the bot once, with a signature that fits', async () => {
    await registered();
    const { who } = await consenting();
    const listening = await cli.start(['listen', '--forward-to', receiver.url, '--interval', '1']);
    await listening.wrote('Calls of Greeter');
    const cmdline = existsSync('/proc') ? readFileSync(`/proc/${listening.child.pid}/cmdline`, 'utf8') : '';
    expect(cmdline).not.toMatch(/sk_live_|whsec_/);
    await client().consents.revoke(who);
    const [revoked] = await receiver.received(1);
    // An erasure of the same user would remove the delivery that was made already.
    const other = subject();
    await client().privacy.forget(other);
    const [, forgotten] = await receiver.received(2);
    await listening.wrote('user_forgotten   ');
    const got: string[] = [];
    const secrets = env()['LETHE_WEBHOOK_SECRET'] ?? '';
    const on = {
      user_forgotten: () => void got.push('forgotten'),
      consent_revoked: () => void got.push('revoked'),
    };
    const handler = createWebhookHandler({ secrets, on });
    for (const call of [revoked, forgotten])
      expect(await handler.handle(call as never)).toMatchObject({ status: 204 });
    expect(got).toEqual(['revoked', 'forgotten']);
    const ids = (await client().webhooks.deliveries().toArray()).map(({ id }) => id);
    expect([forgotten, revoked].map((call) => call?.headers['webhook-id'])).toEqual(ids);
    expect([revoked?.body, forgotten?.body]).toMatchObject([who, other]);
    listening.child.kill('SIGINT');
    expect(await listening.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('200 in') });
    expect(receiver.calls).toHaveLength(2);
  });

  it('shows the answer of the bot, and what a refusal means', async () => {
    writeFileSync(
      inFolder('.env'),
      `LETHE_WEBHOOK_SECRET=whsec_${Buffer.alloc(32, 'x').toString('base64')}\n`,
    );
    const good = json(await done('trigger', 'user_forgotten', '--forward-to', receiver.url, '--json'));
    expect(good).toMatchObject({
      event: 'user_forgotten',
      status: 200,
      id: receiver.calls[0]?.headers['webhook-id'],
    });
    receiver.status = 400;
    const refused = await cli.run(['trigger', 'consent_revoked', '--forward-to', receiver.url]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('LETHE_WEBHOOK_SECRET') });
    const none = await cli.run(['trigger', 'ping', '--forward-to', `http://127.0.0.1:${await freePort()}/`]);
    expect(none).toMatchObject({ code: 1, stdout: expect.stringContaining('ECONNREFUSED') });
    const badly = await cli.run(['trigger', 'ping'], { LETHE_WEBHOOK_SECRET: 'sk_live_x' });
    expect(badly).toMatchObject({ code: 2, stderr: expect.stringContaining('no webhook secret') });
    const elsewhere = await cli.run(['trigger', 'ping', '--forward-to', 'http://bot.example/']);
    expect(elsewhere).toMatchObject({ code: 2, stderr: expect.stringContaining('--allow-remote') });
  });

  it.each(['erase', 'export'])('make a task of a holder, to %s', async (act) => {
    const secret = `whsec_${Buffer.alloc(32, 'x').toString('base64')}`;
    writeFileSync(inFolder('.env'), `LETHE_WEBHOOK_SECRET=${secret}\n`);
    await done('trigger', 'holder_task', '--act', act, '--forward-to', receiver.url);
    const [call] = await receiver.received(1);
    const got: unknown[] = [];
    const on = { holder_task: (task: unknown) => void got.push(task) };
    const handler = createWebhookHandler({ secrets: secret, on });
    expect(await handler.handle(call as never)).toMatchObject({ status: 204 });
    const [{ task_id: task } = {}] = got as { task_id?: string }[];
    expect(task).toEqual(expect.any(String));
    // As the service: the task has the id of its request.
    expect(got).toMatchObject([{ act, holder: 'database', request_id: task }]);
  });
});

describe('lethe deliveries and lethe redeliver', () => {
  it('list the calls and send one again', async () => {
    await registered('--webhook-url', receiver.url);
    const { who } = await consenting();
    await client().consents.revoke(who);
    await receiver.received(1);
    const [one] = json<{ id: string }[]>(await done('deliveries', '--event', 'consent_revoked', '--json'));
    expect((await done('deliveries', '--user', who.user_id)).stdout).toContain(who.user_id);
    // The service puts on record what the receiver has answered after its answer.
    const isOnRecord = () =>
      until(async () => (await client().webhooks.delivery(one?.id ?? '')).status === 'delivered');
    await isOnRecord();
    const again = await done('redeliver', one?.id ?? '');
    expect(again.stdout).toMatch(/^consent_revoked \S+: confirmed, 200, \d+ ms\n$/);
    const calls = await receiver.received(2);
    await isOnRecord();
    expect(calls.map(({ headers }) => headers['webhook-id'])).toEqual([one?.id, one?.id]);
    expect((await done('deliveries', one?.id ?? '')).stdout).toContain('confirmed');
    receiver.status = 500;
    const refused = await done('redeliver', one?.id ?? '');
    expect(refused.stdout).toMatch(/: refused, 500, \d+ ms; the next attempt is at 20\S+\n$/);
    receiver.status = 200;
    expect(json(await done('redeliver', '--since', '2026-01-01T00:00:00Z', '--json'))).toEqual({
      queued: expect.any(Number),
    });
    expect(await cli.run(['redeliver'])).toMatchObject({ code: 2 });
  });
});

describe('lethe bot, lethe events and lethe stats', () => {
  it('shows the bot, and changes what is given and no more', async () => {
    await registered();
    expect((await done('bot')).stdout).toMatch(/Greeter[^]*webhook_url +none, so no webhook calls are made/);
    await done('bot', 'set', '--webhook-url', receiver.url, '--privacy-contact', 'privacy@bot.example');
    const named = json(await done('bot', 'set', '--name', 'Welcome', '--json'));
    expect(named).toMatchObject({
      ...{ name: 'Welcome', webhook_url: receiver.url, privacy_contact: 'privacy@bot.example' },
    });
    await done('bot', 'set', '--no-webhook-url', '--no-privacy-contact');
    expect(await client().bots.me()).toMatchObject({
      name: 'Welcome',
      webhook_url: null,
      privacy_contact: null,
    });
    expect(await cli.run(['bot', 'set'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--help'),
    });
    expect(await cli.run(['bot', 'set', '--webhook-url', 'bot.example'])).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('with its scheme') },
    });
  });

  it('lists events by user, guild and type, and follows new ones, each once', async () => {
    await registered();
    const { who } = await consenting();
    await client().consents.revoke(who);
    await client().consents.request({ ...subject(), consent_version: '1.0' });
    const types = json<{ event_type: string; user_id: string }[]>(
      await done('events', '--user', who.user_id, '--guild', who.guild_id, '--json'),
    );
    expect(types.map(({ event_type: type }) => type)).toEqual([
      ...['consent_revoked', 'data_submitted', 'consent_accepted', 'consent_requested'],
    ]);
    expect((await done('events', '--type', 'consent_revoked')).stdout).toMatch(
      new RegExp(`^CREATED.*\n\\S+  consent_revoked +service +${who.user_id}.*\n$`),
    );
    expect(await cli.run(['events', '--since', '2026-01-01T00:00:00Z'])).toMatchObject({ code: 2 });
    const since = new Date(0).toISOString();
    const follows = await cli.start([
      ...['events', '--follow', '--since', since, '--type', 'consent_requested', '--interval', '1', '--json'],
    ]);
    await follows.wrote('"consent_requested"');
    const last = subject();
    await client().consents.request({ ...last, consent_version: '1.0' });
    await follows.wrote(last.user_id);
    follows.child.kill('SIGINT');
    const { code, stdout } = await follows.ended;
    const ids = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id);
    expect([code, new Set(ids).size, ids.length]).toEqual([0, 3, 3]);
  });

  it('counts what happened, and says so where nothing did', async () => {
    await registered();
    expect((await done('stats')).stdout).toBe('Nothing happened in this time.\n');
    await consenting();
    const { buckets } = json<{ buckets: { counts: Record<string, number> }[] }>(
      await done('stats', '--bucket', 'hour', '--json'),
    );
    // Two where an hour has just ended.
    expect(buckets.map(({ counts }) => counts['data_submitted'] ?? 0).filter((count) => count > 0)).toEqual([
      1,
    ]);
    expect((await done('stats')).stdout).toMatch(/T00:00:00.000Z  data_submitted +1\n/);
    expect(await cli.run(['stats', '--from', 'monday'])).toMatchObject({ code: 2 });
  });
});

describe('lethe keys', () => {
  async function requireVoid(key: string): Promise<void> {
    const call = new Lethe({ url: service.url, key }).bots.me();
    await expect(call).rejects.toMatchObject({ status: 401 });
  }

  it('replaces a key without an overlap also where the bot has no place for another one', async () => {
    await registered();
    const old = env()['LETHE_KEY'] ?? '';
    for (let more = 1; more < 5; more++) await client().keys.create({ scopes: ['read'] });
    expect(await cli.run(['keys', 'rotate'])).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('at most 5') },
    });
    expect((await done('keys', 'rotate', '--overlap', '0')).stdout).toContain('The old one has ended.');
    expect(await client().keys.list().toArray()).toHaveLength(5);
    await requireVoid(old);
  });

  it('makes, replaces and ends keys, which are in .env and in no output', async () => {
    await registered();
    const old = env()['LETHE_KEY'] ?? '';
    await done('keys', 'create', '--scopes', 'read', '--save-as', 'LETHE_READ_KEY');
    const reading = env()['LETHE_READ_KEY'] ?? '';
    await done('keys', 'rotate', '--overlap', '0');
    expect(env()['LETHE_KEY']).not.toBe(old);
    await requireVoid(old);
    const keys = json<{ id: string; scopes: string[] }[]>(await done('keys', 'list', '--json'));
    const made = keys.find(({ scopes }) => scopes.join() === 'read');
    await done('keys', 'delete', made?.id ?? '');
    const ended = await cli.run(['deliveries'], { LETHE_KEY: reading, LETHE_URL: service.url });
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('no valid key') });
    for (const secret of [old, reading, env()['LETHE_KEY'] ?? '', env()['LETHE_WEBHOOK_SECRET'] ?? '']) {
      expect(secret).toMatch(/^(sk_live|whsec)_.{30}/);
      expect(cli.written).not.toContain(secret);
    }
    expect(await cli.run(['keys', 'create'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--save-as'),
    });
    const ids = async () => (await client().keys.list().toArray()).map(({ id }) => id);
    const before = [read('.env'), await ids()];
    for (const name of ['LETHE_KEY', 'LETHE_WEBHOOK_SECRET', 'LETHE_READ_KEY'])
      expect(await cli.run(['keys', 'create', '--save-as', name])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(name),
      });
    expect([read('.env'), await ids()]).toEqual(before);
    // What cannot be written is not made.
    const file = read('.env');
    writeFileSync(inFolder('.env'), `${file}NOTE="two\nSECOND=\nLETHE_KEY=\nlines"\n`);
    for (const act of [['create', '--save-as', 'SECOND'], ['rotate']])
      expect(await cli.run(['keys', ...act])).toMatchObject({
        ...{ code: 1, stderr: expect.stringContaining('NOTE') },
      });
    expect(await ids()).toEqual(before[1]);
    writeFileSync(inFolder('.env'), file);
    const shown = json(await done('keys', 'create', '--show', '--json'));
    expect(shown).toMatchObject({ api_key: expect.stringMatching(/^sk_live_/) });
    const outside = await cli.run(['keys', 'rotate', '--url', service.url], {
      LETHE_KEY: env()['LETHE_KEY'] ?? '',
    });
    expect(outside).toMatchObject({ code: 2, stderr: expect.stringContaining('--show') });
  });
});

describe('lethe completion', () => {
  /** A script that prints what the shell offers after `lethe` and the words. */
  const OFFERS: Readonly<Record<string, (words: readonly string[]) => string>> = {
    bash: (words) =>
      `. ./completion; COMP_WORDS=(lethe ${quoted(words)}); COMP_CWORD=${words.length}; _lethe; echo "\${COMPREPLY[*]}"`,
    zsh: (words) =>
      `compdef() { }; _files() { }; compadd() { print -- \${\${(M)@:#\${words[CURRENT]}*}} }; source ./completion
       words=(lethe ${quoted(words)}); CURRENT=${words.length + 1}; _lethe`,
    fish: (words) => `source ./completion; complete -C 'lethe ${words.join(' ')}'`,
  };
  const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ');

  for (const [shell, offer] of Object.entries(OFFERS)) {
    const itThere = canRun(shell) ? it : it.skip;
    itThere(`completes commands, their commands and their options in ${shell}`, async () => {
      writeFileSync(inFolder('completion'), (await done('completion', shell)).stdout);
      const completed = (...words: string[]): string[] =>
        execFileSync(shell, ['-c', offer(words)], { cwd: cli.directory, encoding: 'utf8' })
          .split(/\s+/)
          .filter((word) => word !== '' && !word.includes('completion'));
      expect(completed('ver')).toContain('verify');
      expect(completed('keys', '')).toEqual(expect.arrayContaining(['list', 'create', 'rotate', 'delete']));
      expect(completed('keys', '')).not.toContain('listen');
      expect(completed('--json', 'keys', 'rotate', '--o')).toEqual(['--overlap']);
      expect(completed('trigger', 'u')).toContain('user_forgotten');
    });
  }
});

(HAS_FULL_DISK ? describe : describe.skip)('output that cannot be written', () => {
  const place = () => ({ cwd: cli.directory, env: { PATH: process.env['PATH'] } });

  it('ends a command with a failure that is readable, also for programs', async () => {
    for (const args of [['--help'], ['--version'], ['completion', 'bash']]) {
      const ran = await ontoFullDisk([built.program, ...args], place());
      expect([args, ran.code, ran.stderr]).toEqual([
        args,
        1,
        expect.stringMatching(/^The output cannot be written \(ENOSPC\)\.\n→ .+\n$/),
      ]);
    }
    const ran = await ontoFullDisk([built.program, 'completion', 'bash', '--json'], place());
    expect(ran.code).toBe(1);
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: 'output_failed' } });
  });

  it('ends a stream with the failure of its output once', async () => {
    await registered();
    const { who } = await consenting();
    const args = ['export', who.user_id, '--guild', who.guild_id];
    const ran = await ontoFullDisk([built.program, ...args], place());
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringMatching(/^The output .+\n→ .+\n$/) });
  });

  it('is no failure where the reader of a pipe has closed it', async () => {
    const ran = await ontoClosedPipe([built.program, '--help'], place());
    expect(ran).toMatchObject({ code: 0, stderr: '' });
  });
});
