import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { SqliteDatabase as Database } from '@app/database';
import { Lethe } from '@lethe/sdk';
import { builtCommandLine, type Ran } from '../support/command-line';
import { CommandLineHere } from '../support/command-line-here';
import { useService } from '../support/shared-service';
import { snowflake } from '../support/snowflakes';

// lethe hunt, as a developer of a bot runs it beside a staging copy.

const service = useService();
const built = builtCommandLine();
let cli: CommandLineHere;
let lethe: Lethe;
let key: string;
beforeEach(async () => {
  cli = new CommandLineHere(built.program);
  ({ key } = await service.registerBot());
  writeFileSync(inFolder('.env'), `LETHE_URL=${service.url}\nLETHE_KEY=${key}\n`);
  lethe = new Lethe({ url: service.url, key });
  await lethe.categories.register(PROFILE);
});
afterEach(() => cli.remove());

const PROFILE = {
  ...{ key: 'profile', label_de: 'Profil', label_en: 'Profile' },
  fields: [
    { key: 'nickname', type: 'string', label_de: 'Spitzname', label_en: 'Nickname' },
    { key: 'born', type: 'date', label_de: 'Geburtstag', label_en: 'Birthday' },
    { key: 'notes', type: 'json', label_de: 'Notizen', label_en: 'Notes' },
  ],
} as const;

interface State {
  stage: string;
  readonly url: string;
  readonly guild_id: string;
  readonly people: readonly { readonly user_id: string; readonly canaries: readonly { word: string }[] }[];
}

const inFolder = (file: string): string => join(cli.directory, file);
const state = (): State => JSON.parse(readFileSync(inFolder('hunt.json'), 'utf8')) as State;
const lines = ({ stdout }: Ran) =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

async function ended(code: number, ...args: string[]): Promise<Ran> {
  if (code === 0) return cli.done(...args);
  const ran = await cli.run(args);
  expect({ ...ran, code: ran.code }).toMatchObject({ code });
  return ran;
}

/** A bot that keeps people in four places. */
class LeakyBot {
  constructor(private readonly folder: string) {
    mkdirSync(folder);
  }

  meet(people: State['people']): void {
    const database = new Database(join(this.folder, 'bot.db'));
    database.exec('CREATE TABLE IF NOT EXISTS messages (author_id TEXT, text TEXT)');
    const insert = database.prepare('INSERT INTO messages VALUES (?, ?)');
    for (const one of people) insert.run(one.user_id, one.canaries[0]?.word);
    database.close();
    const seen = people.map(({ user_id: id }) => Buffer.from(`user:${id}`).toString('base64'));
    writeFileSync(join(this.folder, 'bot.log'), `started\n${seen.map((id) => `seen ${id}\n`).join('')}`);
    writeFileSync(join(this.folder, 'backup.sql.gz'), gzipSync(JSON.stringify(people)));
    const hashes = people.map(({ user_id: id }) => createHash('sha256').update(id).digest('hex'));
    writeFileSync(join(this.folder, 'cache.json'), JSON.stringify({ hashes }));
  }

  /** Deletes the rows, as the bot believes to be enough. */
  forget(): void {
    const database = new Database(join(this.folder, 'bot.db'));
    database.exec('PRAGMA secure_delete = OFF; DELETE FROM messages');
    database.close();
  }

  mend(): void {
    const database = new Database(join(this.folder, 'bot.db'));
    database.exec('VACUUM');
    database.close();
    writeFileSync(join(this.folder, 'bot.log'), 'started\nseen a user\n');
    rmSync(join(this.folder, 'backup.sql.gz'));
    writeFileSync(join(this.folder, 'cache.json'), '{}');
  }
}

describe('lethe hunt', () => {
  it('without a step explains the three steps', async () => {
    const { stderr, stdout } = await ended(2, 'hunt');
    for (const step of ['plant', 'erase', 'search']) expect(stdout + stderr).toContain(`lethe hunt ${step}`);
  });

  it('names the four places of a leaky bot, and none once it is mended', async () => {
    const bot = new LeakyBot(inFolder('bot'));
    await ended(0, 'hunt', 'plant', '--people', '2');
    const { people } = state();
    bot.meet(people);
    expect((await ended(1, 'hunt', 'search', 'bot')).stderr).toContain('not erased yet');
    await ended(0, 'hunt', 'erase');
    bot.forget();
    const found = await ended(1, '--json', 'hunt', 'search', 'bot');
    const hits = lines(found).filter((line) => 'spelling' in line);
    expect(new Set(hits.map(({ file, spelling }) => `${String(file)}: ${String(spelling)}`))).toEqual(
      new Set([
        ...['bot/bot.db: plain', 'bot/bot.log: base64', 'bot/backup.sql.gz: plain'],
        'bot/cache.json: SHA256 in hex',
      ]),
    );
    for (const { user_id } of people)
      expect(new Set(hits.filter((hit) => hit['user_id'] === user_id).map(({ file }) => file)).size).toBe(4);
    expect(hits.find(({ file, person }) => file === 'bot/bot.log' && person === 2)).toMatchObject({
      ...{ line: 3, about: 'id', times: 1 },
    });
    for (const { user_id } of people)
      expect(hits.map(({ context }) => String(context)).join()).not.toContain(user_id);
    expect(JSON.parse(found.stderr)).toMatchObject({ error: { code: 'found' } });
    bot.mend();
    expect((await ended(0, 'hunt', 'search', 'bot')).stdout).toContain('Nothing of 2 users in 3 files');
  });

  it('finds nothing in the database of Lethe itself', async () => {
    if (!service.database.url.startsWith('sqlite:')) return;
    await ended(0, 'hunt', 'plant');
    await ended(0, 'hunt', 'erase');
    const file = service.database.url.replace('sqlite:', '');
    const all = [file, `${file}-wal`].filter((one) => existsSync(one));
    expect((await ended(0, 'hunt', 'search', ...all)).stdout).toContain('Nothing of 3 users');
  });
});

describe('lethe hunt plant', () => {
  it('makes users who have consented and have a value, and remembers them in a file for its owner alone', async () => {
    const { stdout } = await ended(0, 'hunt', 'plant');
    expect(statSync(inFolder('hunt.json')).mode & 0o777).toBe(0o600);
    const { people, guild_id } = state();
    expect(people).toHaveLength(3);
    for (const { user_id, canaries } of people) {
      expect(stdout).toContain(`${user_id}  Zoë "O'${canaries[0]?.word}"`);
      const { data } = await lethe.data.export({ user_id, guild_id });
      expect(data['profile']).toMatchObject({
        nickname: expect.stringContaining(canaries[1]?.word ?? '?') as string,
      });
    }
  });

  it('gives the users to the command of --run, and says where it fails', async () => {
    writeFileSync(
      inFolder('seed.js'),
      `const { LETHE_HUNT_IDS: ids, LETHE_HUNT_TEXTS: texts, LETHE_HUNT_GUILD: guild } = process.env;
      require('fs').writeFileSync('seen.json', JSON.stringify({ ids: ids.split(' '), texts: JSON.parse(texts), guild }));
      console.log('met them'); process.exit(Number(process.argv[2]));`,
    );
    const guild = snowflake();
    const run = `"${process.execPath}" seed.js`;
    const plant = ['hunt', 'plant', '--guild', guild, '--run'];
    // It writes to the standard error of the process.
    const failed = await cli.apart([...plant, `${run} 3`]);
    expect(failed).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('The command of --run ended with 3') as string },
    });
    rmSync(inFolder('hunt.json'));
    const ran = await cli.apart(['--json', ...plant, `${run} 0`]);
    expect(ran).toMatchObject({ code: 0 });
    expect(lines(ran)).toHaveLength(1);
    const { people } = state();
    const seen = JSON.parse(readFileSync(inFolder('seen.json'), 'utf8')) as Record<string, unknown>;
    expect(seen).toMatchObject({ ids: people.map(({ user_id }) => user_id), guild });
    expect(seen['texts']).toEqual(
      people.map((one) => expect.stringContaining(one.canaries[0]?.word ?? '?') as string),
    );
  });

  it('refuses a service that looks like production, unless it is told', async () => {
    const { stderr } = await cli.run(['hunt', 'plant'], { NODE_ENV: 'production' });
    expect(stderr).toContain('looks like production');
    expect(existsSync(inFolder('hunt.json'))).toBe(false);
    expect(await cli.run(['hunt', 'plant', '--yes'], { NODE_ENV: 'production' })).toMatchObject({ code: 0 });
  });

  it('refuses a key without a scope that it needs, and names what is missing', async () => {
    const { api_key } = await lethe.keys.create({ name: 'reader', scopes: ['read'] });
    const environment = { LETHE_KEY: api_key, LETHE_URL: service.url };
    const ran = await cli.run(['hunt', 'plant'], environment);
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('lacks write, erase') as string });
    expect(existsSync(inFolder('hunt.json'))).toBe(false);
  });

  it('refuses a second plant, and says what became of the first', async () => {
    await ended(0, 'hunt', 'plant');
    expect((await ended(1, 'hunt', 'plant')).stderr).toContain('planted and not erased');
    await ended(0, 'hunt', 'erase');
    expect((await ended(1, 'hunt', 'plant')).stderr).toContain('a hunt that is over');
    await ended(0, 'hunt', 'plant', '--state', 'second.json');
  });

  it('refuses more people than it makes', async () => {
    expect((await ended(2, 'hunt', 'plant', '--people', '11')).stderr).toContain('at most 10');
  });

  it('leaves, when it is killed, what erase needs to clean up', async () => {
    // Between the command and the service: holds the second acceptance until the command was killed.
    let accepted = 0;
    const held = createServer((request, response) => {
      void (async () => {
        const isAccept = request.url?.endsWith('/consents/accept') === true;
        if (isAccept && ++accepted === 2) {
          running.child.kill('SIGKILL');
          return;
        }
        const body = await text(request);
        const answer = await fetch(`${service.url}${request.url}`, {
          ...{ method: request.method ?? 'GET', ...(body !== '' && { body }) },
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        });
        response.writeHead(answer.status, { 'content-type': 'application/json' });
        response.end(await answer.text());
      })();
    });
    await new Promise<void>((resolve) => held.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(held.address() as AddressInfo).port}`;
    const running = await cli.start(['--url', url, 'hunt', 'plant']);
    expect(await running.ended).toMatchObject({ code: null });
    expect(state()).toMatchObject({ stage: 'planting' });
    expect((await ended(1, '--url', url, 'hunt', 'plant')).stderr).toContain('a plant that was interrupted');
    expect((await ended(0, '--url', url, 'hunt', 'erase')).stderr).toContain('The plant was interrupted');
    held.closeAllConnections();
    held.close();
    for (const { user_id } of state().people)
      expect(await lethe.consents.status({ user_id, guild_id: state().guild_id })).toMatchObject({
        status: 'none',
      });
    expect(state()).toMatchObject({ stage: 'erased' });
  });
});

describe('lethe hunt erase', () => {
  it('erases the users in every guild in which the bot has met them', async () => {
    await ended(0, 'hunt', 'plant', '--people', '1');
    const [person] = state().people;
    const other = { user_id: person?.user_id ?? '', guild_id: snowflake() };
    await lethe.consents.request({ ...other, consent_version: 'hunt' });
    await ended(0, 'hunt', 'erase');
    expect(await lethe.consents.status(other)).toMatchObject({ status: 'none' });
  });

  it('names the holder that is silent, and ends once it has answered', async () => {
    const holder = { key: 'database', label_de: 'Datenbank', label_en: 'Database', covers: ['xp'] };
    await lethe.holders.register({ kind: 'pull', ...holder });
    await ended(0, 'hunt', 'plant', '--people', '2');
    const silent = await ended(1, 'hunt', 'erase', '--wait', '1');
    expect(silent.stderr).toContain('Not every holder of the bot has answered: database (pending).');
    expect(state()).toMatchObject({ stage: 'erasing' });
    const tasks = await lethe.holders.tasks({ key: 'database' }).toArray();
    // Of each user one for the guild, and one for every guild.
    expect(tasks).toHaveLength(4);
    for (const { task_id } of tasks)
      await lethe.holders.acknowledge({ key: 'database', task_id, result: 'nothing' });
    expect((await ended(0, 'hunt', 'erase')).stdout).toContain('every holder of the bot has answered');
    // The second call has erased no one again.
    expect(await lethe.holders.tasks({ key: 'database' }).toArray()).toEqual([]);
  });

  it('refuses the state of another bot or service, and a file that is none', async () => {
    await ended(0, 'hunt', 'plant', '--people', '1');
    const other = await Lethe.register({ url: service.url }, { platform_bot_id: snowflake(), name: 'Other' });
    const environment = { LETHE_KEY: other.api_key, LETHE_URL: service.url };
    const ran = await cli.run(['hunt', 'erase'], environment);
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining(other.id) as string });
    writeFileSync(inFolder('hunt.json'), JSON.stringify({ ...state(), url: 'https://lethe.example' }));
    expect((await ended(1, 'hunt', 'erase')).stderr).toContain('at https://lethe.example');
    for (const broken of ['', '{', 'null', '{"format":"lethe-hunt/1","stage":"planted","people":[]}']) {
      writeFileSync(inFolder('hunt.json'), broken);
      expect((await ended(2, 'hunt', 'erase')).stderr).toContain('is no state of a hunt');
    }
    expect((await ended(2, 'hunt', 'search', '.', '--state', 'none.json')).stderr).toContain(
      'does not exist',
    );
  });
});

describe('lethe hunt search', () => {
  beforeEach(async () => {
    await ended(0, 'hunt', 'plant', '--people', '1');
    await ended(0, 'hunt', 'erase');
    mkdirSync(inFolder('logs'));
  });
  const id = (): string => state().people[0]?.user_id ?? '';

  it('wants a path, and a file behind it', async () => {
    expect((await ended(2, 'hunt', 'search')).stderr).toContain('Where?');
    expect((await ended(2, 'hunt', 'search', 'logs')).stderr).toContain('There is no file.');
  });

  it('ends with 2 for a file that it did not read whole, also where it found nothing', async () => {
    writeFileSync(inFolder('logs/old.log.gz'), gzipSync('x'.repeat(9000)).subarray(0, -9));
    writeFileSync(inFolder('logs/all.zip'), 'PK\x03\x04');
    const { stderr, stdout } = await ended(2, 'hunt', 'search', 'logs', 'missing');
    expect(stderr).toContain('logs/old.log.gz: its gzip data is damaged');
    expect(stderr).toContain('logs/all.zip: it is a zip archive');
    expect(stderr).toContain('missing: it cannot be read (ENOENT)');
    expect(stderr).toContain('3 not read, or not whole.');
    expect(stdout).toBe('');
  });

  it('reads the standard input, and takes an empty one for a failure of what is before the pipe', async () => {
    const given = async (input: string, ...args: string[]): Promise<Ran> => {
      const child = spawn(process.execPath, [built.program, 'hunt', 'search', ...args], {
        ...{ cwd: cli.directory, stdio: ['pipe', 'pipe', 'pipe'] },
      });
      child.stdin.end(input);
      const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
      return { code: await closed, stdout, stderr };
    };
    expect(await given(`COPY users;\n${id()}\n`, '-')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('standard input:2, byte 12: id of user 1, plain') as string,
    });
    expect(await given('COPY users;\n', '--stdin')).toMatchObject({ code: 0 });
    expect(await given('', '-')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('standard input: it is empty') as string,
    });
  });

  it('finds an id in the name of a file, and shows neither it nor another id beside a hit', async () => {
    mkdirSync(inFolder(`logs/${id()}`));
    const other = snowflake();
    writeFileSync(inFolder(`logs/${id()}/a.json`), JSON.stringify([other, encodeURI(id()), other]));
    const { stdout } = await ended(1, 'hunt', 'search', 'logs');
    expect(stdout).toContain('the name logs/[id of 1]/a.json: id of user 1, plain');
    expect(stdout).toContain('["#","[id of 1]","#"]');
    expect(stdout).not.toContain(id());
    expect(stdout).not.toContain(other);
  });

  it('leaves out its own state, follows no link below a folder, and says both', async () => {
    symlinkSync(cli.directory, inFolder('logs/loop'));
    const { stderr } = await ended(0, 'hunt', 'search', '.');
    expect(stderr).toContain('hunt.json is the state of this hunt');
    expect(stderr).toContain('logs/loop: a link is not followed');
    expect(stderr).toContain('1 link not followed');
  });
});
