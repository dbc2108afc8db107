import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseEnv } from 'node:util';
import { TYPES_HEAD } from '@lethe/cli/category-types';
import { Lethe } from '@lethe/sdk';
import { builtCommandLine, type Ran } from '../support/command-line';
import { CommandLineHere } from '../support/command-line-here';
import { damaged } from '../support/damaged';
import { SigningService } from '../support/final-certificates';
import { canRun } from '../support/programs';
import { useService } from '../support/shared-service';
import { describeOnSmallDisk } from '../support/small-disk';
import { snowflake, subject } from '../support/snowflakes';

// What the command line does with declarations and users, and what it says about the evidence of it. The first run of each
// command is in a process of its own.

const service = useService();
const built = builtCommandLine();
let cli: CommandLineHere;
let lethe: Lethe;
let botId: string;
beforeEach(async () => {
  cli = new CommandLineHere(built.program);
  await done('init', '--url', service.url, '--platform-bot-id', snowflake(), '--name', 'Greeter');
  const { LETHE_KEY: key = '', LETHE_BOT_ID: id = '' } = parseEnv(read('.env'));
  lethe = new Lethe({ url: service.url, key });
  botId = id;
});
afterEach(() => cli.remove());

const inFolder = (file: string): string => join(cli.directory, file);
const read = (file: string): string => readFileSync(inFolder(file), 'utf8');
const json = <T = Record<string, unknown>>({ stdout }: Ran): T => JSON.parse(stdout) as T;

const done = (...args: string[]): Promise<Ran> => cli.done(...args);

async function refused(words: string, ...args: string[]): Promise<Ran> {
  const ran = await cli.run(args);
  expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining(words) });
  return ran;
}

const PROFILE = {
  ...{ key: 'profile', label_de: 'Profil', label_en: 'Profile' },
  fields: [{ key: 'nickname', type: 'string', label_de: 'Spitzname', label_en: 'Nickname' }],
} as const;

async function consenting() {
  const who = subject();
  await lethe.categories.register(PROFILE);
  await lethe.consents.request({ ...who, consent_version: '1.0' });
  const { receipt } = await lethe.consents.accept({ ...who, consent_version: '1.0' });
  await lethe.data.submit({ ...who, category: 'profile', data: { nickname: 'Robin' } });
  return { who, receipt };
}

const FILE = `categories:
  - key: profile
    label_de: Profil
    label_en: Profile
    retention_days: 365
    fields:
      - { key: nickname, type: string, label_de: Spitzname, label_en: Nickname }
texts:
  - { consent_version: '1.0', language: en, title: May we?, body: Your nickname. }
`;

describe('lethe categories', () => {
  const push = (...options: string[]): Promise<Ran> =>
    cli.run(['categories', 'push', 'bot.yaml', ...options]);
  const write = (text: string): void => writeFileSync(inFolder('bot.yaml'), text);

  it('push shows the difference and changes nothing before it is confirmed', async () => {
    write(FILE);
    const asked = await push();
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('Run it with --yes') });
    expect(asked.stderr).toContain('+   - key: profile');
    expect(await lethe.categories.list().toArray()).toEqual([]);
    expect(await push('--yes')).toMatchObject({ code: 0 });
    expect(await lethe.categories.get('profile')).toMatchObject({ retention_days: 365, label_de: 'Profil' });
    expect(await lethe.consents.texts().toArray()).toMatchObject([{ language: 'en', title: 'May we?' }]);
    expect(await push()).toMatchObject({ code: 0, stdout: expect.stringContaining('all of it already') });
  });

  it('push warns of a purpose that is not in both languages', async () => {
    const purposes = (words: string) => FILE.replace('    retention_days', `${words}    retention_days`);
    const both = '    description_de: Zum Gruß\n    description_en: To greet\n';
    for (const words of ['    description: To greet\n', '    description_de: Zum Gruß\n']) {
      write(purposes(words));
      expect((await push('--yes')).stderr).toContain('The purpose of profile is not in both languages.');
    }
    write(purposes(both));
    const pushed = await push('--yes');
    expect(pushed).toMatchObject({ code: 0, stderr: expect.not.stringContaining('both languages') });
    expect(await lethe.categories.get('profile')).toMatchObject({ description_de: 'Zum Gruß' });
  });

  it('push changes what differs, and clears what the file no longer has', async () => {
    write(FILE);
    await push('--yes');
    write(
      FILE.replace('    retention_days: 365\n', '').replace('label_de: Profil\n', 'label_de: Steckbrief\n'),
    );
    const changed = await push('--yes');
    expect(changed.stderr).toContain('-     label_de: Profil\n+     label_de: Steckbrief\n');
    expect(await lethe.categories.get('profile')).toMatchObject({
      retention_days: null,
      label_de: 'Steckbrief',
    });
  });

  it('push deletes a category only with --prune', async () => {
    write(FILE);
    await push('--yes');
    await lethe.categories.register({ ...PROFILE, key: 'old' });
    expect((await push('--yes')).stderr).toContain('kept: old');
    expect(await lethe.categories.list().toArray()).toHaveLength(2);
    expect(json(await done('categories', 'push', 'bot.yaml', '--yes', '--prune', '--json'))).toMatchObject({
      deleted: ['old'],
    });
    expect(await lethe.categories.list().toArray()).toHaveLength(1);
  });

  it('push --prune refuses a file without a list of categories, as a full disk leaves one', async () => {
    await lethe.categories.register(PROFILE);
    for (const text of ['', '# only a comment\n', 'categories:\n', 'texts: []\n', 'null\n']) {
      write(text);
      await refused('no list categories', 'categories', 'push', 'bot.yaml', '--yes', '--prune');
    }
    expect(await lethe.categories.list().toArray()).toHaveLength(1);
    write('categories: []\n');
    await done('categories', 'push', 'bot.yaml', '--yes', '--prune');
    expect(await lethe.categories.list().toArray()).toEqual([]);
  });

  it('push has all already, whatever the order of the names in what a text says of a category', async () => {
    const profile = 'text: Your nickname., label: Profile, key: profile';
    write(FILE.replace('Your nickname. }', `Your nickname., categories: [{ ${profile} }] }`));
    expect(await push('--yes')).toMatchObject({ code: 0 });
    expect(await push('--yes')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('all of it already'),
    });
    write(read('bot.yaml').replace('label: Profile,', 'lable: Profile,'));
    const args = ['categories', 'push', 'bot.yaml', '--yes'];
    await refused('categories[0] (profile) of texts[0] has lable', ...args);
    write(FILE.replace('Your nickname. }', 'Your nickname., categories: [profile] }'));
    await refused('categories of texts[0] must be a list', ...args);
    write(FILE.replace(/fields:\n.*\n/, 'fields: [nickname]\n'));
    await refused('fields of categories[0] (profile) must be a list', ...args);
  });

  it('push refuses other words of a registered version, and a file with a slip, before anything changes', async () => {
    write(FILE);
    await push('--yes');
    const more = FILE.replace('key: profile', 'key: more');
    const slips: [string, string][] = [
      [more.replace('Your nickname.', 'Something else.'), 'new consent_version'],
      [more.replace("'1.0'", '2.0'), "in quotes: '2'"],
      [more.replace('label_en', 'lable_en'), 'categories[0] (more) has lable_en'],
      [
        more.replace('Spitzname, label_en', 'Spitzname, lable_en'),
        'fields[0] (nickname) of categories[0] (more) has lable_en',
      ],
      [more.replace(', label_en: Nickname', ''), 'category more: '],
      ['categories: {}', 'lists categories and texts'],
      ['categories: [', 'is no YAML'],
    ];
    for (const [text, words] of slips) {
      write(text);
      await refused(words, 'categories', 'push', 'bot.yaml', '--yes');
    }
    expect(await lethe.categories.list().toArray()).toHaveLength(1);
  });

  it('types writes TypeScript types, and replaces no file of another kind', async () => {
    write(FILE);
    await push('--yes');
    const { stdout } = await done('categories', 'types');
    expect(stdout).toContain(
      'export interface Profile {\n  /** Nickname */\n  readonly nickname?: string;\n}',
    );
    const again = ['categories', 'types', '--output', 'types.ts'];
    expect((await done(...again)).stdout).toBe('types.ts: 1 category.\n');
    expect((await done(...again)).stdout).toBe('types.ts: 1 category.\n');
    expect(read('types.ts')).toBe(stdout);
    await refused('not written by this command', 'categories', 'types', '--output', 'bot.yaml');
    expect(read('bot.yaml')).toBe(FILE);
  });

  it('pull writes a file that push takes unchanged, and replaces another file only when asked to', async () => {
    write(FILE);
    await push('--yes');
    await done('categories', 'pull');
    expect(json(await done('categories', 'push', '--json'))).toMatchObject({ registered: [], changed: [] });
    writeFileSync(inFolder('lethe.yaml'), '# mine\n');
    expect(await cli.run(['categories', 'pull'])).toMatchObject({ code: 2 });
    expect(read('lethe.yaml')).toBe('# mine\n');
    await done('categories', 'pull', '--yes');
    expect(read('lethe.yaml')).toContain('label_de: Profil');
  });
});

describe('lethe link', () => {
  it('makes a link to the page of a user, in one guild or all, and says until when it leads there', async () => {
    const { who } = await consenting();
    const made = await done(
      'link',
      who.user_id,
      '--guild',
      who.guild_id,
      '--minutes',
      '10',
      '--language',
      'de',
    );
    const page = await fetch(made.stdout.trim());
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<html lang="de"')]);
    const until = Date.parse(/until (\S+):/.exec(made.stderr)?.[1] ?? '');
    const everywhere = json<{ url: string; expires_at: string }>(
      await done('link', who.user_id, '--everywhere', '--json'),
    );
    // The second one has the usual quarter of an hour, and was made later.
    expect(Date.parse(everywhere.expires_at)).toBeGreaterThanOrEqual(until + 5 * 60_000);
    expect((await fetch(everywhere.url)).status).toBe(200);
  });

  it('is refused without a place, and for a time that no link has', async () => {
    expect(await cli.run(['link', '123456789012345678'])).toMatchObject({ code: 2 });
    await refused('expires_in', 'link', '123456789012345678', '--everywhere', '--minutes', '10081');
  });
});

describe('what the service holds, in a file and back', () => {
  const RICH = {
    ...PROFILE,
    ...{ labels: { no: 'Profil', fr: 'Profil' }, description: 'Greetings', legal_basis: 'contract' as const },
    ...{ description_de: 'Zum Gruß', description_en: 'To greet', descriptions: { fr: 'Pour saluer' } },
    fields: [
      {
        ...{ ...PROFILE.fields[0], labels: { no: 'Kallenavn', fr: 'Pseudo' }, description: 'A name' },
        ...{ description_de: 'Ein Name', description_en: 'Any name', descriptions: { fr: 'Un nom' } },
      },
    ],
  } as const;
  const pushed = () => done('categories', 'push', '--yes');
  const edit = (before: string | RegExp, after: string): void =>
    writeFileSync(inFolder('lethe.yaml'), read('lethe.yaml').replace(before, after));
  const shown = ({ stderr }: Ran): string[] => stderr.split('\n').filter((line) => /^[+-]/.test(line));
  const held = async () => {
    const category = await lethe.categories.get('profile');
    return { ...category, id: undefined, created_at: undefined };
  };

  it('a changed word changes that word alone, and the difference shows all that changes', async () => {
    await lethe.categories.register(RICH);
    await done('categories', 'pull');
    edit('label_en: Nickname', 'label_en: Nick name');
    expect(shown(await pushed())).toEqual(['-         label_en: Nickname', '+         label_en: Nick name']);
    const fields = [{ ...RICH.fields[0], label_en: 'Nick name' }];
    expect(await held()).toEqual({ ...RICH, retention_days: null, fields });
    expect((await pushed()).stdout).toContain('all of it already');
  });

  it('what is taken out of the file is cleared, in a field too', async () => {
    await lethe.categories.register(RICH);
    await done('categories', 'pull');
    edit(/ +(labels:|(fr|no): .*|description\w*: .*|legal_basis: .*)\n/g, '');
    edit(/ +(labels:|(fr|no|"no"): .*|description\w*: .*|legal_basis: .*)\n/g, '');
    await pushed();
    const fields = [{ ...PROFILE.fields[0], description: null }];
    expect(await held()).toEqual({
      ...PROFILE,
      ...{ description: null, retention_days: null, legal_basis: 'consent', fields },
    });
  });

  it('what only a newer service declares is kept, and a slip is refused', async () => {
    const bodies: unknown[] = [];
    const answered = async (request: IncomingMessage): Promise<string> => {
      const body = await text(request);
      if (request.method === 'PUT') bodies.push(JSON.parse(body));
      const headers = { authorization: String(request.headers.authorization) };
      return (await (await fetch(service.url + (request.url ?? ''), { headers })).text())
        .replaceAll('"legal_basis"', '"tomorrow":{"b":[1],"a":2},"legal_basis"')
        .replaceAll('"type"', '"sensitive":true,"type"')
        .replaceAll('"withdrawal_method"', '"reading_age":12,"withdrawal_method"');
    };
    const newer = createServer((request, response) => {
      void answered(request).then((answer) =>
        response.setHeader('content-type', 'application/json').end(answer),
      );
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => newer.on('listening', resolve));
    const at = ['--url', `http://127.0.0.1:${(newer.address() as AddressInfo).port}`];
    await lethe.categories.register(RICH);
    await lethe.consents.registerText({
      ...{ consent_version: '1.0', language: 'en', title: 'May we?', body: 'x' },
    });
    await done('categories', 'pull', ...at);
    expect((await done('categories', 'push', ...at)).stdout).toContain('all of it already');
    edit('label_en: Nickname', 'label_en: Nick name');
    await done('categories', 'push', '--yes', ...at);
    expect(bodies).toMatchObject([
      { tomorrow: { a: 2, b: [1] }, fields: [{ sensitive: true, labels: { fr: 'Pseudo' } }] },
    ]);
    edit('sensitive: true', 'sensitiv: true');
    await refused(
      'fields[0] (nickname) of categories[0] (profile) has sensitiv',
      'categories',
      'push',
      '--yes',
      ...at,
    );
    newer.close();
    newer.closeAllConnections();
  });
});

describeOnSmallDisk('a disk that is full', 1, (disk) => {
  it('leaves the file that is there to lethe categories pull and types', async () => {
    await lethe.categories.register(PROFILE);
    const files = { 'bot.yaml': 'categories: []\n', 'types.ts': TYPES_HEAD };
    const place = (name: string): string => join(disk.directory, name);
    for (const [name, text] of Object.entries(files)) writeFileSync(place(name), text);
    disk.fill();
    await refused('bot.yaml cannot be written', 'categories', 'pull', place('bot.yaml'), '--yes');
    await refused('types.ts cannot be written', 'categories', 'types', '--output', place('types.ts'));
    disk.clear();
    for (const [name, text] of Object.entries(files)) expect(readFileSync(place(name), 'utf8')).toBe(text);
    expect(readdirSync(disk.directory).sort()).toEqual(Object.keys(files));
  });
});

describe('lethe export and lethe forget', () => {
  it('write what is stored into a new file for its owner, and erase after a confirmation', async () => {
    const { who } = await consenting();
    const at = [who.user_id, '--guild', who.guild_id];
    expect(json(await done('export', ...at))).toMatchObject({ data: { profile: { nickname: 'Robin' } } });
    await done('export', who.user_id, '--everywhere', '--full', '--output', 'all.json');
    expect(JSON.parse(read('all.json'))).toMatchObject({ guilds: [{ guildId: who.guild_id }] });
    expect(statSync(inFolder('all.json')).mode & 0o777).toBe(0o600);
    await refused('exists', 'export', ...at, '--output', 'all.json');
    expect(await cli.run(['export', who.user_id])).toMatchObject({ code: 2 });
    const asked = await cli.run(['forget', ...at]);
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    await refused('Nothing was erased', 'forget', ...at, '--yes', '--certificate', 'all.json');
    expect((await lethe.data.export(who)).data).toEqual({ profile: { nickname: 'Robin' } });
    expect(json(await done('forget', ...at, '--yes', '--json'))).toMatchObject({ status: 'completed' });
    await refused('not found', 'export', ...at, '--output', 'gone.json');
    expect(existsSync(inFolder('gone.json'))).toBe(false);
    expect(json(await done('forget', who.user_id, '--everywhere', '--yes', '--json'))).toHaveProperty(
      'requests',
    );
  });

  /** The service, but for the answers that are given here by the path. */
  async function except(answers: Readonly<Record<string, readonly [status: number, error: object]>>) {
    const server = createServer((request, response) => {
      const path = request.url ?? '';
      const found = Object.entries(answers).find(([part]) => path.includes(part))?.[1];
      const { authorization = '' } = request.headers;
      const answered = async (): Promise<readonly [number, string]> => {
        const body = await text(request);
        if (found !== undefined) return [found[0], JSON.stringify({ success: false, error: found[1] })];
        const headers = { authorization, 'content-type': 'application/json' };
        const real = await fetch(service.url + path, {
          ...{ method: request.method ?? 'GET', headers },
          ...(body !== '' && { body }),
        });
        return [real.status, await real.text()];
      };
      void answered().then(([status, body]) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(body),
      );
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const end = (): void => {
      server.close();
      server.closeAllConnections();
    };
    return { at: ['--url', `http://127.0.0.1:${(server.address() as AddressInfo).port}`], end };
  }

  /** The service, whose answers to `path` are lost after it has acted. */
  async function losing(path: string) {
    const server = createServer((request, response) => {
      const passed = async (): Promise<void> => {
        const { authorization = '', 'idempotency-key': key } = request.headers;
        const given = await text(request);
        const real = await fetch(service.url + (request.url ?? ''), {
          method: request.method ?? 'GET',
          headers: {
            ...{ authorization, 'content-type': 'application/json' },
            ...(key !== undefined && { 'idempotency-key': String(key) }),
          },
          ...(given !== '' && { body: given }),
        });
        const answer = await real.text();
        if (request.url?.includes(path)) response.destroy();
        else response.writeHead(real.status, { 'content-type': 'application/json' }).end(answer);
      };
      void passed();
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const end = (): void => {
      server.close();
      server.closeAllConnections();
    };
    return { at: ['--url', `http://127.0.0.1:${(server.address() as AddressInfo).port}`], end };
  }

  it('forget says that it is unknown whether it was done where the answer is lost, and a repeat answers the salt', async () => {
    const { at, end } = await losing('/forget-user');
    const unknown = { code: 3, stderr: expect.stringContaining('Whether it was done is unknown') as string };
    const { who } = await consenting();
    const command = ['forget', who.user_id, '--guild', who.guild_id, '--yes', '--certificate', 'lost.json'];
    expect(await cli.run([...command, ...at])).toMatchObject(unknown);
    expect((await lethe.consents.status(who)).status).toBe('none');
    expect(JSON.parse(read('lost.json'))).toEqual({ idempotency_key: expect.any(String) as string, ...who });
    // What was not done by this call is not erased with its file.
    expect(await cli.run([...command, ...at])).toMatchObject(unknown);
    const closed = await cli.run([...command, '--url', 'http://127.0.0.1:9']);
    expect(closed).toMatchObject({ code: 3, stderr: expect.stringContaining('does not answer') });
    const other = ['forget', snowflake(), '--guild', who.guild_id, '--yes', '--certificate', 'lost.json'];
    await refused('exists', ...other);
    const erased = json(await done(...command, '--json'));
    expect(erased).toMatchObject({ status: 'completed', deleted_categories: ['profile'] });
    expect(JSON.parse(read('lost.json'))).toMatchObject({ certificate_salt: erased['certificate_salt'] });
    expect((await done('verify', 'lost.json')).stdout).toContain(`user ${who.user_id}`);
    const everywhere = ['forget', who.user_id, '--everywhere', '--yes'];
    await lethe.consents.request({ ...who, consent_version: '1.0' });
    const lost = await cli.run([...everywhere, ...at]);
    end();
    expect(lost).toMatchObject(unknown);
    const key = /--idempotency-key (\S+):/.exec(lost.stderr)?.[1] ?? '';
    const { requests } = json<{ requests: object[] }>(
      await done(...everywhere, '--json', '--idempotency-key', key),
    );
    expect(requests).toMatchObject([
      { guild_id: who.guild_id, certificate_salt: expect.any(String) as string },
    ]);
  });

  it('forget says of an erasure that it resumes what was stored since, which the next one erases', async () => {
    const { at, end } = await losing('/forget-user');
    const { who } = await consenting();
    const store = () => lethe.consents.request({ ...who, consent_version: '1.0' });
    const status = async () => (await lethe.consents.status(who)).status;
    const forget = ['forget', who.user_id, '--guild', who.guild_id, '--yes'];
    const file = (name: string): string[] => [...forget, '--certificate', name];
    await cli.run([...file('first.json'), ...at]);
    await store();
    const resumed = await refused('another file', ...file('first.json'));
    expect(resumed.stderr).toContain('since is still there');
    const kept = JSON.parse(read('first.json')) as Record<string, string>;
    expect(resumed.stdout).toContain(kept['certificate_salt']);
    expect((await done('verify', 'first.json')).stdout).toContain(`user ${who.user_id}`);
    expect(await status()).not.toBe('none');
    await done(...file('second.json'));
    expect(await status()).toBe('none');
    for (const command of [forget, ['forget', who.user_id, '--everywhere', '--yes']]) {
      await store();
      const lost = await cli.run([...command, ...at]);
      const key = /--idempotency-key (\S+):/.exec(lost.stderr)?.[1] ?? '';
      await store();
      const again = await refused('without --idempotency-key', ...command, '--idempotency-key', key);
      expect(again.stdout).toMatch(/salt/);
      await done(...command);
      expect(await status()).toBe('none');
    }
    end();
  });

  it('name the key to end where the answer to its end is lost after a rotation', async () => {
    const [{ id = '' } = {}] = await lethe.keys.list().toArray();
    const before = read('.env');
    const { at, end } = await losing(`/keys/${id}`);
    const lost = await cli.run(['keys', 'rotate', '--overlap', '0', ...at]);
    end();
    expect(lost).toMatchObject({ code: 3, stderr: expect.stringContaining(`lethe keys delete ${id}`) });
    expect(lost.stderr).not.toContain('command again');
    expect(read('.env')).not.toBe(before);
  });

  it('keep the key of .env in force where the answer of a rotation without an overlap is lost', async () => {
    const before = read('.env');
    const { at, end } = await losing('/keys/rotate');
    const lost = await cli.run(['keys', 'rotate', '--overlap', '0', ...at]);
    end();
    expect(lost).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('Whether it was done is unknown'),
    });
    expect(read('.env')).toBe(before);
    await done('keys', 'list');
    await refused('keys create --save-as', 'keys', 'rotate');
  });

  it('keep the salt where there is no certificate, in the file and in the output', async () => {
    const { who } = await consenting();
    const { at, end } = await except({
      '/certificate': [409, { code: 'conflict', message: 'x', details: { reason: 'no_certificate' } }],
    });
    const file = ['--certificate', 'salt.json'];
    const ran = await cli.run(['forget', who.user_id, '--guild', who.guild_id, '--yes', ...file, ...at]);
    end();
    expect(ran.code).toBe(1);
    const kept = JSON.parse(read('salt.json')) as Record<string, string>;
    expect(kept).toMatchObject({ ...who, certificate_salt: expect.any(String) });
    expect(ran.stdout).toContain(kept['certificate_salt']);
    const { certificate } = await lethe.privacy.certificate(kept['request_id'] ?? '');
    writeFileSync(inFolder('whole.json'), JSON.stringify({ certificate, ...kept }));
    expect((await done('verify', 'whole.json')).stdout).toContain(`user ${who.user_id}`);
  });

  it('write the certificate also where the reader of the output has closed it', async () => {
    const { who } = await consenting();
    const forget = ['forget', who.user_id, '--guild', who.guild_id, '--yes', '--certificate', 'closed.json'];
    const { child, ended } = await cli.start(forget);
    child.stdout.destroy();
    expect(await ended).toMatchObject({ code: 0 });
    expect((await done('verify', 'closed.json')).stdout).toContain(`user ${who.user_id}`);
  });

  it('keep the salts of every guild, also of those that are done where one has failed', async () => {
    const { who } = await consenting();
    const { stdout } = await done('forget', who.user_id, '--everywhere', '--yes');
    expect(stdout).toMatch(new RegExp(`guild ${who.guild_id}, request \\S+: [\\w-]{22}\\n$`));
    const requests = [{ request_id: 'r', guild_id: '2', certificate_salt: 'salt of r' }];
    const { at, end } = await except({
      '/forget-user': [500, { code: 'internal_error', message: 'Some are done', details: { requests } }],
    });
    const failed = await cli.run(['forget', who.user_id, '--everywhere', '--yes', '--json', ...at]);
    end();
    expect(failed.code).toBe(1);
    expect(json(failed)).toEqual({ requests });
  });

  it('leave no empty file behind where the service refuses an erasure', async () => {
    const { at, end } = await except({ '/forget-user': [403, { code: 'insufficient_scope', message: 'x' }] });
    const file = ['--certificate', 'refused.json'];
    await refused('x', 'forget', snowflake(), '--guild', snowflake(), '--yes', ...file, ...at);
    end();
    expect(existsSync(inFolder('refused.json'))).toBe(false);
  });

  it('leave no file behind that has a part of an export, and each file that was there', async () => {
    let asked = 0;
    const cutting = createServer((_, response) => {
      asked += 1;
      response.write('{"success":true,"data":{"userId":"1","data":');
      setImmediate(() => response.destroy());
    });
    await new Promise<void>((listening) => cutting.listen(0, '127.0.0.1', listening));
    const url = `http://127.0.0.1:${(cutting.address() as AddressInfo).port}`;
    const args = ['export', snowflake(), '--guild', snowflake(), '--output', 'part.json'];
    expect(await cli.run(args, { LETHE_URL: url })).toMatchObject({ code: 3 });
    expect(existsSync(inFolder('part.json'))).toBe(false);
    writeFileSync(inFolder('part.json'), 'mine');
    asked = 0;
    expect(await cli.run(args, { LETHE_URL: url })).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('Nothing was exported') },
    });
    expect([asked, read('part.json')]).toEqual([0, 'mine']);
    cutting.closeAllConnections();
    cutting.close();
  });
});

(canRun('python3') ? describe : describe.skip)('on a terminal', () => {
  /** Runs a command at a terminal, at which the line is typed. */
  function typed(line: string, ...args: string[]): { status: number | null; output: string } {
    const code = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';
    const { status, stdout } = spawnSync('python3', ['-c', code, process.execPath, built.program, ...args], {
      ...{ cwd: cli.directory, input: `${line}\n`, encoding: 'utf8' },
      env: { PATH: process.env['PATH'], TERM: 'xterm' },
    });
    return { status, output: stdout };
  }

  it('lethe forget erases only after the id was typed', async () => {
    const { who } = await consenting();
    const args = ['forget', who.user_id, '--guild', who.guild_id];
    const wrong = typed(snowflake(), ...args);
    expect(wrong).toMatchObject({ status: 1, output: expect.stringContaining('Nothing was erased') });
    expect((await lethe.data.export(who)).data).toEqual({ profile: { nickname: 'Robin' } });
    const right = typed(who.user_id, ...args);
    expect(right).toMatchObject({
      status: 0,
      output: expect.stringContaining('\u001B[32mcompleted\u001B[39m'),
    });
    expect(cli.written).not.toContain('\u001B');
  });

  it('lethe export writes JSON that people can read', async () => {
    const { who } = await consenting();
    const { status, output } = typed('', 'export', who.user_id, '--guild', who.guild_id);
    expect(status).toBe(0);
    expect(output).toMatch(/^ {2}"data": \{\r?\n {4}"profile": \{\r?\n {6}"nickname": "Robin"/m);
  });

  it('lethe categories push --prune deletes only after the name was typed', async () => {
    await lethe.categories.register(PROFILE);
    writeFileSync(inFolder('bot.yaml'), 'categories: []\n');
    const args = ['categories', 'push', 'bot.yaml', '--prune'];
    expect(typed('y', ...args)).toMatchObject({
      status: 1,
      output: expect.stringContaining('Nothing was changed'),
    });
    expect(await lethe.categories.list().toArray()).toHaveLength(1);
    expect(typed('profile', ...args)).toMatchObject({ status: 0 });
    expect(await lethe.categories.list().toArray()).toEqual([]);
  });
});

describe('lethe verify', () => {
  const says = async (...args: string[]): Promise<string> => (await done('verify', ...args)).stdout;

  it('says in a sentence what a certificate proves, and about whom', async () => {
    const { who } = await consenting();
    await done('forget', who.user_id, '--guild', who.guild_id, '--yes', '--certificate', 'it.json');
    expect(statSync(inFolder('it.json')).mode & 0o777).toBe(0o600);
    expect(await says('it.json')).toMatch(
      new RegExp(
        `^It holds. On \\d+ \\w+ 20\\d\\d at \\d\\d:\\d\\d UTC everything that the bot ${botId} had stored in Lethe about ` +
          `user ${who.user_id} in guild ${who.guild_id} was erased \\(profile\\)`,
      ),
    );
    const { certificate, certificate_salt: salt = '' } = JSON.parse(read('it.json')) as Record<
      string,
      string
    >;
    writeFileSync(inFolder('bare.json'), JSON.stringify({ success: true, data: { certificate } }));
    expect(await says('bare.json')).toContain(
      'one user in one place (a server, or the direct messages), which it does not name',
    );
    const named = ['--salt', salt, '--guild', who.guild_id];
    expect(await says('bare.json', ...named, '--user', who.user_id)).toContain(who.user_id);
    await refused('not about this user', 'verify', 'bare.json', ...named, '--user', snowflake());
    expect(await cli.run(['verify', 'bare.json', ...named])).toMatchObject({ code: 2 });
    expect(await says('bare.json', '--bot', botId)).toContain(
      'one user in one place (a server, or the direct messages), which it does not name',
    );
    expect(await cli.run(['verify', 'bare.json', '--bot', 'another'])).toMatchObject({ code: 2 });
  });

  it('says of a final certificate what each holder answered, and who has signed it', async () => {
    const signing = new SigningService();
    const { salt, botId: bot, userId, guildId } = signing.subject;
    const certificate = signing.signs(signing.final(), 'final');
    const file = { certificate, certificate_salt: salt, bot_id: bot, user_id: userId, guild_id: guildId };
    writeFileSync(inFolder('keys.json'), JSON.stringify(signing.keySet));
    writeFileSync(inFolder('final.json'), JSON.stringify(file));
    const offline = ['--keys', 'keys.json', '--url', 'http://127.0.0.1:9'];
    const signed = { signed_at: '2026-11-21T07:59:58Z' };
    expect((await says('final.json', ...offline)).replaceAll(/\s+/g, ' ')).toContain(
      `about user ${userId} in guild ${guildId} was erased (profile). ` +
        'cache ("Cache") had nothing about the user, as Lethe received it on 20 November 2026 at 16:00 UTC, without a signature of the holder. ' +
        'database ("Database") erased what it had about the user, as it says on 21 November 2026 at 07:59 UTC, signed by its own key. ' +
        'invoices ("Invoices") keeps data until 31 December 2036 at 00:00 UTC, because: "Section 147 AO", as it says on 21 November 2026 at 07:59 UTC, signed by its own key. ' +
        'The signature of Lethe proves that it received these answers, not that they are true.',
    );
    writeFileSync(inFolder('final.json'), JSON.stringify({ data: { certificate } }));
    expect(await says('final.json', ...offline)).toContain(
      'one user in one place (a server, or the direct messages), which it does not name',
    );
    expect(json(await done('verify', 'final.json', ...offline, '--json'))).toMatchObject({
      ...{ holds: true, kind: 'final_certificate' },
      statement: { bot_id: bot, holders: [{ signed_at: null }, signed, signed] },
    });
    writeFileSync(inFolder('final.json'), signing.withAnswer(1, { statement: null }));
    await refused('the holder database has a key', 'verify', 'final.json', ...offline);
  });

  it('says what a receipt, a proof and an audit log prove, with keys of the service or of a file', async () => {
    const { who, receipt } = await consenting();
    writeFileSync(inFolder('receipt'), String(receipt));
    expect(await says('receipt')).toMatch(
      new RegExp(
        `^It holds. On .+ UTC user ${who.user_id} agreed in guild ${who.guild_id} that the bot Greeter \\(${botId}\\) stores`,
      ),
    );
    const [event] = await lethe.audit.events({ ...who, event_type: 'data_submitted' }).toArray();
    writeFileSync(inFolder('proof.json'), JSON.stringify(await lethe.audit.proof(event?.id ?? '')));
    expect(await says('proof.json')).toMatch(
      new RegExp(`The audit log of the bot ${botId} holds, .+ data was stored about user ${who.user_id}`),
    );
    // Newer versions of node:readline end a line there.
    const details = { note: 'a\u2028b\u2029c' };
    const written = await lethe.audit.write({ ...who, event_type: 'data_deleted', details });
    await lethe.audit.proof(written.id);
    const lines: string[] = [];
    for await (const line of lethe.audit.export()) lines.push(line);
    expect(lines.filter((line) => line.includes(details.note))).toHaveLength(1);
    writeFileSync(inFolder('log.ndjson'), lines.join('\n'));
    writeFileSync(inFolder('keys.json'), JSON.stringify(await lethe.publicKeys()));
    const offline = ['--keys', 'keys.json', '--url', 'http://127.0.0.1:9', '--json'];
    expect(json(await done('verify', 'log.ndjson', ...offline))).toMatchObject({
      ...{ holds: true, kind: 'audit_log', keys: 'from keys.json' },
      sentence: expect.stringMatching(
        new RegExp(`log of the bot ${botId} .*is complete and unchanged: \\d+ events`),
      ),
    });
    for (const file of ['receipt', 'proof.json', 'log.ndjson'])
      expect(await cli.run(['verify', file, '--user', snowflake(), ...offline])).toMatchObject({
        ...{ code: 2, stdout: '', stderr: expect.stringContaining('with --user') as string },
      });
    writeFileSync(inFolder('log.ndjson'), lines.toSpliced(1, 1).join('\n'));
    await refused('It does not hold', 'verify', 'log.ndjson');
    writeFileSync(inFolder('receipt'), damaged(String(receipt)));
    await refused('Do not rely on receipt', 'verify', 'receipt', ...offline.slice(0, 4));
    writeFileSync(inFolder('other.json'), '{"user_id":"1"}');
    await refused('neither a certificate', 'verify', 'other.json');
    expect(await cli.run(['verify', 'missing'])).toMatchObject({ code: 2 });
    expect(await cli.run(['verify', 'receipt', ...offline.slice(2)])).toMatchObject({ code: 3 });
  });
});
