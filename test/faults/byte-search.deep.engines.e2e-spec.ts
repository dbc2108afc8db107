import { closeSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { ByteSearch, type Findings, ofKinds } from '../support/byte-search';
import { ChildService } from '../support/child-service';
import {
  addTraces,
  hasCategories,
  hasConsent,
  idsOf,
  livesFully,
  livesShortly,
  MixedLoad,
  people,
  workThrough,
} from '../support/crowd';
import { engine, newDatabase, type TestDatabase } from '../support/database';
import { atDepth, isFull, itAtFullDepth } from '../support/depth';
import { digestsOf, keyringOf } from '../support/digests';
import { directoryOnDisk } from '../support/disk';
import { expectFailure } from '../support/expected';
import { adminHere } from '../support/here';
import { ForeignSnapshot, SlowReader, SLOWLY_READ_SETTINGS } from '../support/slow-reader';
import type { SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

const LETHE_MASTER_KEY = Buffer.alloc(32, 'search').toString('base64');
const MASTER = { LETHE_MASTER_KEY };
/** Of ten times as many users. With TEST_DEPTH=4 they are 2,000 of 20,000. */
const ERASED = atDepth(60, 500);
/**
 * The maximum of pieces of versions that may be left, four and two more for every 100 users begun: when SQLite rebuilds a page
 * it overwrites no copies of the rows that it has moved to another one. The two of one user were seen once in ten stories of
 * 500 users, and once in a story of 20. Without the scrub those of all users are left.
 */
const COPIES_MAX = engine === 'sqlite' ? 4 + 2 * Math.ceil(ERASED / 100) : 0;
/** Callers that erase at the same time. */
const CALLERS = 8;
/** Living users whose keys are sought as a control. */
const CONTROL = 10;
/** How often `unrecoverable_at` is looked for. */
const LOOKS_EVERY_MS = 1_000;

const build = useBuild();
const erased = people(ERASED);
const living = people(9 * ERASED);
const consenting = living.filter((_, at) => hasConsent(at));
/** What is left after every erasure was answered, in the order of the story. */
const STAGES = ['completed, with readers', 'killed', 'started', 'ended'];
const found: Record<string, Findings> = {};
const search = new ByteSearch();
const control = new ByteSearch();
const requests: string[] = [];
const readers: (SlowReader | ForeignSnapshot)[] = [];
let acts: number;
let wereReading: boolean[];
let root: string;
let log: number;
let database: TestDatabase;
let service: ChildService;
let bot: Bot;

const place = (name: string): string => join(root, name);

/** The directories of all files: database, locks and log; on PostgreSQL the database and what all databases share. */
async function directories(...shared: readonly string[]): Promise<string[]> {
  if (engine === 'sqlite') return [place('data')];
  await database.run('CHECKPOINT');
  const [server] = await database.rows<{ directory: string; oid: number }>(
    `SELECT current_setting('data_directory') AS directory, oid FROM pg_database WHERE datname = current_database()`,
  );
  const below = [`base/${server?.oid}`, 'global', ...shared].map((path) =>
    join(server?.directory ?? '', path),
  );
  return [place('data'), ...below];
}

async function look(stage: string): Promise<void> {
  found[stage] = search.below(...(await directories()));
}

/** On PostgreSQL every row of every table. */
async function backUp(name: string): Promise<void> {
  if (engine === 'sqlite') {
    const run = await adminHere(['backup', '--to', place(name)], { DATABASE_URL: database.url, ...MASTER });
    return expect(run).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('and verified'),
    });
  }
  mkdirSync(place(name));
  for (const { name: table } of await database.tables()) {
    const rows = await database.rows(`SELECT * FROM ${table}`);
    writeFileSync(join(place(name), table), JSON.stringify(rows));
  }
}

async function erase(who: SubjectIds): Promise<void> {
  const answer = await bot.post<{ request_id: string; status: string }>('/gdpr/forget-user', who);
  expect(answer.data.status).toBe('completed');
  requests.push(answer.data.request_id);
}

beforeAll(async () => {
  root = directoryOnDisk();
  mkdirSync(place('data'));
  database = await newDatabase(place('data'));
  log = openSync(join(place('data'), 'service.log'), 'a');
  const settings = { DATABASE_URL: database.url, ...MASTER, LOG_LEVEL: 'trace', ...SLOWLY_READ_SETTINGS };
  service = new ChildService(build.directory, join(place('data'), 'lethe.db'), settings, 'api', log);
  await service.start();
  bot = await Bot.register(service.url, { webhook_url: 'http://127.0.0.1:8088/closed' });
  await hasCategories(bot);
});

/** The story of an installation; the tests look at what was found meanwhile. */
beforeAll(async () => {
  await workThrough([...living.entries()], ([at, person]) => livesShortly(bot, person, at));
  await workThrough([...erased.entries()], ([at, person]) => livesFully(bot, person, at));
  const keys = [keyringOf(database, MASTER), await digestsOf(database, MASTER)] as const;
  await addTraces(search, database, ...keys, bot, erased);
  await addTraces(control, database, ...keys, bot, living.slice(0, CONTROL));
  control.add('bot', bot.id);
  await look('before');
  found['control'] = control.below(...(await directories()));
  await backUp('earlier');

  readers.push(await SlowReader.of(bot));
  if (engine === 'sqlite') readers.push(await ForeignSnapshot.of(join(place('data'), 'lethe.db')));
  const load = new MixedLoad(bot, consenting);
  await workThrough(erased.map(idsOf), erase, CALLERS);
  await until(() => load.acts > 0);
  await look('completed, with readers');
  await backUp('later');
  wereReading = readers.map(({ isReading }) => isReading);
  await service.end('SIGKILL');
  await load.end();
  acts = load.acts;
  await look('killed');
  for (const reader of readers) reader.end();
  await service.start();
  await look('started');
  await service.end('SIGTERM');
  await look('ended');
  found['backup'] = search.below(place('later'));
  await service.start();
});

afterAll(async () => {
  for (const reader of readers) reader.end();
  await service.end('SIGKILL');
  if (isFull) {
    const logs = engine === 'postgres' ? search.below(...(await directories('pg_wal'))) : {};
    process.stderr.write(`${ERASED} erasures beside slow readers\n`);
    process.stderr.write(`${JSON.stringify({ ...found, 'with pg_wal': logs }, null, 1)}\n`);
  }
  closeSync(log);
  await database.drop();
  rmSync(root, { recursive: true, force: true });
});

const total = (findings: Findings): number => Object.values(findings).reduce((sum, n) => sum + n, 0);

describe('the files of an installation', () => {
  it('hold every encrypted key before its erasure, and the bot in plain text, which shows that both are found', () => {
    const pieces = total(ofKinds(found['control'], 'key')) / CONTROL;
    expect(pieces).toBeGreaterThanOrEqual(10);
    expect(total(ofKinds(found['before'], 'key'))).toBeGreaterThanOrEqual(pieces * ERASED);
    expect(found['control']).toMatchObject({ 'service.log: bot': 1 });
  });

  it.each(['before', ...STAGES])('hold no id, no value and no unencrypted key: %s', (stage) => {
    expect(ofKinds(found[stage], 'id', 'value', 'secret')).toStrictEqual({});
  });

  if (engine === 'sqlite') {
    it.each(STAGES)('hold no encrypted key of an erased user: %s', (stage) => {
      expect(ofKinds(found[stage], 'key')).toStrictEqual({});
    });

    it('hold no version of an erased consent once the write-ahead log is folded, but for rare copies', () => {
      expect(ofKinds(found['before'], 'version')).not.toStrictEqual({});
      expect(total(ofKinds(found['ended'], 'version'))).toBeLessThanOrEqual(COPIES_MAX);
    });
  } else
    itAtFullDepth('hold no encrypted key of an erased user from unrecoverable_at on', async () => {
      const left = [...requests];
      const isUnrecoverable = async (id: string | undefined): Promise<boolean> =>
        typeof (await bot.get(`/gdpr/forget-status/${id}`)).data['unrecoverable_at'] === 'string';
      await until(async () => {
        while (left.length > 0 && (await isUnrecoverable(left[0]))) left.shift();
        return left.length === 0;
      }, LOOKS_EVERY_MS);
      await look('unrecoverable');
      expect(ofKinds(found['unrecoverable'], 'id', 'value', 'secret', 'key')).toStrictEqual({});
    });
});

describe('a backup that is made after the erasures', () => {
  it('holds nothing of an erased user, but for rare copies of versions', () => {
    expect(ofKinds(found['backup'], 'id', 'value', 'secret', 'key')).toStrictEqual({});
    expect(total(ofKinds(found['backup'], 'version'))).toBeLessThanOrEqual(COPIES_MAX);
  });
});

describe('an erasure beside readers of the data and other acts', () => {
  it('is answered as completed while the readers are reading', () => {
    expect(requests).toHaveLength(ERASED);
    expect(wereReading).toStrictEqual(wereReading.map(() => true));
    expect(acts).toBeGreaterThan(0);
  });

  it('leaves every other user unchanged, and nothing of its own', async () => {
    for (const person of erased.slice(0, CONTROL))
      expectFailure(await bot.export(idsOf(person)), 404, 'not_found');
    for (const person of consenting.slice(0, CONTROL)) {
      const { data } = await bot.export<{ data: object }>(idsOf(person));
      expect(data.data).toStrictEqual({ profile: { value: person.marker } });
    }
  });
});
