import { generateKeyPairSync } from 'node:crypto';
import { lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteDatabase as Database } from '@app/database';
import type { Lethe } from '@lethe/sdk';
import { type DoneTask, type HolderOptions, holders, runHolder, type Store } from '@lethe/sdk/holders';
import { FakeHolders } from '../support/fake-holders';
import { describeWithRedis, RedisServer } from '../support/redis-server';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

// Tasks with the act `export`, on the routes in memory: what the bot itself has about a user is brought to the export.

const NO_TIMERS = { set: () => undefined, clear: () => undefined };
const ROOM = { rows: 1000, bytes: 250_000 };
const YES = { consent_version: '1.0' };

let fake: FakeHolders;
let lethe: Lethe;
let database: InstanceType<typeof Database>;
let errors: unknown[];

beforeEach(async () => {
  fake = await new FakeHolders().start();
  lethe = fake.client();
  errors = [];
  database = new Database(':memory:');
  database.exec(`CREATE TABLE messages (author_id TEXT, guild_id TEXT, text TEXT);
    CREATE TABLE profiles (user_id INTEGER PRIMARY KEY, theme TEXT, picture BLOB, token TEXT)`);
});
afterEach(() => database.close());

const stored = (): readonly Store[] =>
  holders.sql(
    database,
    { table: 'messages', user: 'author_id', guild: 'guild_id', columns: ['text'] },
    { table: 'profiles', user: 'user_id', without: ['TOKEN'] },
  );
const holder = (options: Partial<HolderOptions> = {}) =>
  runHolder(lethe, {
    ...{ key: 'database', stores: stored(), timers: NO_TIMERS, onError: (error) => errors.push(error) },
    ...options,
  });
const words = (error: unknown): string => (error as Error).message;
/** A store in memory with entries. */
const memory = (name: string, rows: readonly unknown[], more: Partial<Store> = {}): Store => ({
  ...{ name, count: async () => rows.length, erase: async () => undefined, export: async () => rows },
  ...more,
});

function known(who: SubjectIds = subject()): SubjectIds {
  database.prepare('INSERT INTO messages VALUES (?, ?, ?)').run(who.user_id, who.guild_id, 'hello');
  database
    .prepare('INSERT OR REPLACE INTO profiles VALUES (?, ?, ?, ?)')
    .run(BigInt(who.user_id), 'dark', Buffer.from('png'), 'secret of the bot');
  return who;
}
const rows = (): unknown[] =>
  ['messages', 'profiles'].map((table) => database.prepare(`SELECT count(*) FROM ${table}`).pluck().get());

describe('a task to export', () => {
  it('is answered with the rows of the user in the guild, and nothing is erased', async () => {
    const [who] = [known(), known()];
    known({ ...who, guild_id: snowflake() });
    const task = fake.asks(who);
    expect(await holder().once()).toEqual({ answered: 1, failed: 0, repeated: 0, found: {} });
    const profile = { user_id: who.user_id, theme: 'dark', picture: Buffer.from('png').toString('base64') };
    expect(task.answers).toEqual([
      { result: 'exported', data: { messages: [{ text: 'hello' }], profiles: [profile] } },
    ]);
    expect(rows()).toEqual([3, 2]);
    expect(errors).toEqual([]);
    expect(await holder().once()).toMatchObject({ answered: 0, repeated: 0 });
  });

  it('has the rows of a store without a guild, though a consent is in force in another guild', async () => {
    const who = known();
    const elsewhere = { ...who, guild_id: snowflake() };
    await lethe.consents.request({ ...elsewhere, ...YES });
    await lethe.consents.accept({ ...elsewhere, ...YES });
    const task = fake.asks({ ...who, guild_id: snowflake() });
    await holder().once();
    expect(task.answers[0]?.data).toMatchObject({ messages: [], profiles: [{ theme: 'dark' }] });
  });

  it.each(['exported', 'nothing'])('that was answered with %s is never a reason to erase', async (result) => {
    const who = known();
    const task = fake.asks(result === 'exported' ? who : subject());
    await holder().once();
    Object.assign(task, who);
    expect(task.result).toBe(result);
    // A new process, and a database that knows of no task: it was restored.
    database.exec('DROP TABLE IF EXISTS lethe_holder');
    expect(await holder().once()).toMatchObject({ repeated: 0 });
    expect(rows()).toEqual([1, 1]);
  });

  it('about a user without rows is answered with nothing', async () => {
    const task = fake.asks(subject());
    await holder({ stores: [...stored(), memory('log', [], { export: undefined })] }).once();
    expect(task.answers).toEqual([{ result: 'nothing' }]);
  });

  it('names a store that exports nothing, with the number of its rows', async () => {
    const task = fake.asks(known());
    const log = memory('log', [1, 2, 3], { export: undefined });
    await holder({ stores: [...stored(), log] }).once();
    expect(task.answers[0]?.data?.['log']).toEqual({ not_exported: true, found: 3 });
  });

  it('is signed over the digest of its data, with no counts and no id of the user', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const who = known();
    // Names of numbers are put in order by JSON, on both sides.
    const task = fake.asks(who);
    const nothing = fake.asks(subject());
    const odd = memory('7', [{ b: 1, 2: 'ü', 1: 'x', ['__proto__x']: null }], { count: async () => 1 });
    const stores = [
      ...stored(),
      {
        ...odd,
        export: async ({ user_id }: SubjectIds) =>
          user_id === who.user_id ? odd.export!({} as never, ROOM) : [],
      },
    ];
    await holder({ stores, privateKey }).once();
    const payloads = [task, nothing].map(({ answers }) => {
      const [, payload = ''] = (answers[0]?.statement ?? '').split('.');
      return JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    });
    const stated = { bot_id: fake.botId, holder: 'database', counts: null, kept: null };
    const at = expect.stringMatching(/Z$/) as string;
    const data_digest = expect.stringMatching(/^[\w-]{43}$/) as string;
    expect(payloads).toEqual([
      { ...stated, task_id: task.task_id, result: 'exported', data_digest, at },
      { ...stated, task_id: nothing.task_id, result: 'nothing', at },
    ]);
    expect(JSON.stringify(payloads)).not.toContain(who.user_id);
    expect(errors).toEqual([]);
  });

  it('of which a store fails is answered with failed and no data, reported without ids, and tried again', async () => {
    const [who, other] = [known(), known()];
    const [task, second] = [fake.asks(who), fake.asks(other)];
    let isBroken = true;
    const broken = memory('broken', [], {
      export: async ({ user_id }) => {
        if (isBroken && user_id === who.user_id) throw new Error(`no user ${user_id}`);
        return [];
      },
    });
    const loop = holder({ stores: [broken, ...stored()] });
    expect(await loop.once()).toMatchObject({ answered: 1, failed: 1 });
    expect([task.answers, second.result]).toEqual([[{ result: 'failed' }], 'exported']);
    expect(errors.map(words)).toEqual(['broken: no user …']);
    isBroken = false;
    for (let round = 0; round < 2; round++) await loop.once();
    expect(task.answers.map(({ result }) => result)).toEqual(['failed', 'exported']);
  });

  it('holds no erasure and no time of the notes when it fails', async () => {
    fake.asks(known()).created_at = '2025-01-01T00:00:00.000Z';
    const who = known();
    await lethe.privacy.forget(who);
    const broken = memory('broken', [], { export: () => Promise.reject(new Error('away')) });
    expect(await holder({ stores: [broken, ...stored()] }).once()).toMatchObject({ answered: 1, failed: 1 });
    const since = database.prepare("SELECT note FROM lethe_holder WHERE name = 'since'").pluck().all();
    expect(since).toEqual([fake.tasks[1]?.created_at, fake.tasks[1]?.created_at]);
  });

  it('that never answers ends with the time of its store', async () => {
    const task = fake.asks(known());
    const silent = memory('silent', [], { export: () => new Promise<never>(() => undefined) });
    await holder({ stores: [silent], storeTimeoutSeconds: 1 }).once();
    expect(task.result).toBe('failed');
    expect(errors.map(words)).toEqual(['silent: The store has not answered within 1 seconds.']);
  });

  it.each([400, 409, 413])('that the service refuses with %i holds no other task', async (status) => {
    for (const who of [known(), known()]) fake.asks(who);
    fake.refused.set('POST /holders/{key}/tasks/{id}/acknowledge', status);
    expect(await holder().once()).toMatchObject({ answered: 0, failed: 2 });
    expect(errors).toHaveLength(2);
    fake.refused.clear();
    expect(await holder().once()).toMatchObject({ answered: 2 });
  });

  it('of an act that the package does not know is left alone, and reported once', async () => {
    const tasks = [fake.asks(known(), 'restrict'), fake.asks(known(), 'restrict'), fake.asks(known(), '<1>')];
    const loop = holder();
    for (let round = 0; round < 3; round++)
      expect(await loop.once()).toMatchObject({ answered: 0, failed: 0 });
    expect(tasks.flatMap(({ answers }) => answers)).toEqual([]);
    expect(errors.map(words)).toEqual([
      expect.stringContaining('the act restrict,'),
      expect.stringContaining('the act unknown,'),
    ]);
    for (const task of tasks) task.result = 'erased';
    await holder().once();
    expect(rows()).toEqual([3, 3]);
  });

  it('is shown by a dry run with numbers and without data', async () => {
    const task = fake.asks(known());
    const seen: DoneTask[] = [];
    fake.holders.set('database', {});
    expect(await holder({ dryRun: true, onTask: (one) => seen.push(one) }).once()).toMatchObject({
      answered: 1,
    });
    expect(seen).toEqual([
      {
        ...{ task_id: task.task_id, act: 'export', result: 'exported', dryRun: true },
        counts: { messages: 1, profiles: 1 },
      },
    ]);
    expect(task.answers).toEqual([]);
  });
});

describe('the size of an export', () => {
  const long = (bytes: number) => ({ text: 'x'.repeat(bytes) });

  it('has a bound, and the data says what was left out of which store', async () => {
    const task = fake.asks(subject());
    const many = Array.from({ length: 400 }, () => long(1000));
    const stores = [memory('many', many), memory('more', many), memory('few', [long(10)])];
    const { privateKey } = generateKeyPairSync('ed25519');
    await holder({ stores, privateKey }).once();
    const data = task.answers[0]?.data as Record<string, { rows: unknown[]; left_out: number }>;
    expect(data['few']).toEqual([long(10)]);
    for (const name of ['many', 'more']) {
      expect(data[name]?.rows.length).toBeGreaterThan(100);
      expect((data[name]?.rows.length ?? 0) + (data[name]?.left_out ?? 0)).toBe(400);
    }
    expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThanOrEqual(225_000);
    expect(errors).toEqual([]);
  });

  it('leaves out one entry that is too long, and keeps those beside it', async () => {
    const task = fake.asks(subject());
    await holder({ stores: [memory('one', [long(1), long(300_000), long(2)])] }).once();
    expect(task.answers[0]?.data).toEqual({ one: { rows: [long(1), long(2)], left_out: 1 } });
  });

  it('holds for fifty stores with long names and bytes beyond ASCII', async () => {
    const task = fake.asks(subject());
    const entries = Array.from({ length: 100 }, () => ({ text: '€"\u0001'.repeat(60) }));
    const stores = Array.from({ length: 50 }, (_, at) => memory(`${at} ${'"ü'.repeat(30)}`, entries));
    await holder({ stores }).once();
    const data = task.answers[0]?.data as Record<string, { rows: unknown[]; left_out: number }>;
    for (const { rows: some, left_out } of Object.values(data)) expect(some.length + left_out).toBe(100);
    expect(errors).toEqual([]);
  });

  it('counts the rows of a table that is longer than one export', async () => {
    const who = subject();
    const insert = database.prepare('INSERT INTO messages VALUES (?, ?, ?)');
    for (let at = 0; at < 1200; at++) insert.run(who.user_id, who.guild_id, 'x');
    const task = fake.asks(who);
    await holder().once();
    expect(task.answers[0]?.data).toMatchObject({ messages: { left_out: 200 } });
  });
});

describe('what drivers answer', () => {
  it.each<[string, unknown, unknown]>([
    ['a bigint', 123456789012345678n, '123456789012345678'],
    ['a time', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['no time', new Date(NaN), 'Invalid Date'],
    ['bytes', new Uint8Array([255, 0]).subarray(0, 1), '/w=='],
    ['a number that JSON has not', [Infinity, NaN], ['Infinity', 'NaN']],
    ['a whole number beyond 2⁵³', [2 ** 53, 1.5, 1e300], ['9007199254740992', 1.5, '1e+300']],
    ['nothing', [undefined, null], [null, null]],
    ['NUL and half a pair of surrogates', 'a\0b\uD800c😀', 'a\uFFFDb\uFFFDc😀'],
    ['maps, sets and classes', new Map([['a', new Set([1n])]]), { a: ['1'] }],
    ['an ObjectId', { toJSON: () => 'abc' }, 'abc'],
    ['a Long', { _bsontype: 'Long', low: 1, toString: () => '9007199254740993' }, '9007199254740993'],
    ['a function', { one: 1, act: () => 1 }, { one: 1 }],
  ])('is JSON: %s', async (_name, value, expected) => {
    const task = fake.asks(subject());
    await holder({ stores: [memory('one', [{ value }])] }).once();
    expect(task.answers[0]?.data).toEqual({ one: [{ value: expected }] });
  });

  it('is text where it is nested deeper than a request may be', async () => {
    const task = fake.asks(subject());
    let deep: unknown = 'end';
    for (let at = 0; at < 40; at++) deep = { deep };
    await holder({ stores: [memory('one', [deep])] }).once();
    const text = JSON.stringify(task.answers[0]?.data);
    expect(text).toContain('\\"end\\"');
    expect(/^(?:[^{]*\{){13}/.test(text.replace(/"(?:[^"\\]|\\.)*"/g, ''))).toBe(false);
  });

  it('has every kind of value, however deep it is nested', async () => {
    const task = fake.asks(subject());
    const inner = {
      map: new Map([['one', 2n]]),
      set: new Set([3]),
      bytes: Buffer.from('hi'),
      buffer: new ArrayBuffer(1),
    };
    let deep: unknown = inner;
    for (let at = 0; at < 8; at++) deep = [deep];
    await holder({ stores: [memory('one', [inner, deep])] }).once();
    const shown = { map: { one: '2' }, set: [3], bytes: 'aGk=', buffer: 'AA==' };
    const [flat, nested] = task.answers[0]?.data?.['one'] as [unknown, unknown[]];
    expect([flat, JSON.parse(String(nested.flat(Infinity)))]).toEqual([shown, shown]);
  });

  it('fails where a value contains itself', async () => {
    const task = fake.asks(subject());
    const self: Record<string, unknown> = {};
    self['self'] = self;
    await holder({ stores: [memory('one', [self])] }).once();
    expect(task.result).toBe('failed');
  });

  it.each([{ rows: 'none' }, { rows: [], left_out: -1 }, undefined])(
    'fails where export answers %p',
    async (given) => {
      const task = fake.asks(subject());
      await holder({ stores: [memory('one', [], { export: async () => given as never })] }).once();
      expect(task.result).toBe('failed');
    },
  );
});

describe('the columns of an export', () => {
  it('fail where without names no column: a secret would be exported', async () => {
    const task = fake.asks(known());
    const stores = holders.sql(database, { table: 'profiles', user: 'user_id', without: ['tokne'] });
    await holder({ stores }).once();
    expect(task.answers).toEqual([{ result: 'failed' }]);
    expect(errors.map(words)[0]).toContain('without names tokne');
  });

  it.each([
    { columns: ['a'], without: ['b'] },
    { columns: [] },
    { without: 'token' },
    { columns: ['a"; --'] },
  ])('are refused at the start: %j', (fields) => {
    const table = { table: 't', user: 'u', ...fields } as never;
    expect(() => holders.sql(database, table)).toThrow(TypeError);
  });

  it('are those of the store on a double of mysql2, which answers all digits and days as text', async () => {
    const asked: unknown[] = [];
    const mysql = {
      getConnection: async () => undefined,
      execute: async (given: unknown) => {
        asked.push(given);
        return [[{ id: '1', name: 'x' }], []];
      },
    };
    const [store] = holders.sql(mysql, { table: 't', user: 'u', without: ['id'] }) as [Store];
    expect(await store.export?.(subject(), ROOM)).toEqual({ rows: [{ name: 'x' }], left_out: 0 });
    expect(asked).toEqual([
      {
        ...{ supportBigNumbers: true, dateStrings: ['DATE'] },
        sql: 'SELECT * FROM `t` WHERE (`u` = ? AND CAST(`u` AS CHAR) = ?) LIMIT 1000',
      },
    ]);
  });
});

describe('stores of objects export what they find', () => {
  const found = [{ userId: '1', theme: 'dark', token: 'x' }];
  const fields = { name: 'profiles', user: 'userId', without: ['token'] };
  const asked: unknown[] = [];
  const find = async (given: unknown) => (asked.push(given), found);
  const [count, remove] = [async () => 1, async () => undefined];
  const cursor = (name: string) => (filter: unknown) => ({
    limit: (most: number) => ({ [name]: () => find({ filter, most }) }),
  });
  it.each<[string, Store, Store, unknown]>([
    [
      'typeorm',
      holders.typeorm({ count, delete: remove, find }, fields),
      holders.typeorm({ count, delete: remove }, fields),
      { where: { userId: '7' }, withDeleted: true, take: 1000 },
    ],
    [
      'prisma',
      holders.prisma({ count, deleteMany: remove, findMany: find }, fields),
      holders.prisma({ count, deleteMany: remove }, fields),
      { where: { userId: '7' }, take: 1000 },
    ],
    ...['toArray', 'lean'].map((name): [string, Store, Store, unknown] => [
      `mongo, by ${name}`,
      holders.mongo({ countDocuments: count, deleteMany: remove, find: cursor(name) }, fields),
      holders.mongo({ countDocuments: count, deleteMany: remove }, fields),
      { filter: { userId: '7' }, most: 1000 },
    ]),
  ])('%s', async (_name, store, without, expected) => {
    asked.length = 0;
    const exported = await store.export?.({ user_id: '7', guild_id: '8' }, ROOM);
    expect(exported).toEqual({ rows: [{ userId: '1', theme: 'dark' }], left_out: 0 });
    expect(asked).toEqual([expected]);
    expect(without.export).toBeUndefined();
  });
});

describe('holders.files exports', () => {
  it('names, sizes and small contents, and follows no link', async () => {
    const top = mkdtempSync(join(tmpdir(), 'lethe-exported-'));
    const { user_id } = subject();
    mkdirSync(join(top, user_id, 'deep'), { recursive: true });
    writeFileSync(join(top, user_id, 'deep', 'small'), 'abc');
    writeFileSync(join(top, user_id, 'large'), Buffer.alloc(40_000));
    symlinkSync('/etc/passwd', join(top, user_id, 'link'));
    const store = holders.files(top, (who) => who.user_id);
    const all = { user_id, guild_id: '1' };
    const { size } = lstatSync(join(top, user_id, 'link'));
    const small = { name: `${user_id}/deep/small`, size: 3, content: 'YWJj' };
    const large = { name: `${user_id}/large`, size: 40_000, left_out: 'content' };
    const link = { name: `${user_id}/link`, size, left_out: 'content' };
    expect(await store.export?.(all, ROOM)).toEqual({ rows: [small, large, link], left_out: 0 });
    expect(await store.export?.(all, { ...ROOM, rows: 1 })).toEqual({ rows: [small], left_out: 2 });
    expect(await store.export?.({ ...all, user_id: '9' }, ROOM)).toEqual({ rows: [], left_out: 0 });
    const outside = holders.files(top, (who) => `../${who.user_id}`);
    await expect(outside.export?.(all, ROOM)).rejects.toThrow(RangeError);
    rmSync(top, { recursive: true });
  });
});

describeWithRedis('holders.redis exports', () => {
  let server: RedisServer;
  beforeAll(async () => (server = await RedisServer.started()));
  afterAll(() => server.remove());

  it('the values of keys by their type, and says which are too large', async () => {
    const { client } = server;
    const { user_id: user } = subject();
    await client.set(`a:${user}:1string`, 'x');
    await client.hset(`a:${user}:2hash`, { name: 'Robin', 7: 'y' });
    await client.rpush(`a:${user}:3list`, 'one', 'two');
    await client.sadd(`a:${user}:4set`, 'only');
    await client.zadd(`a:${user}:5zset`, 1.5, 'member', '+inf', 'endless', '-inf', 'below');
    await client.xadd(`a:${user}:6stream`, '*', 'field', 'value');
    await client.rpush(`a:${user}:7long`, ...Array.from({ length: 1001 }, String));
    await client.set(`a:${user}1:other`, 'x');
    const expected = [
      { type: 'string', value: 'x' },
      { type: 'hash', value: { name: 'Robin', 7: 'y' } },
      { type: 'list', value: ['one', 'two'] },
      { type: 'set', value: ['only'] },
      { type: 'zset', value: { member: 1.5, endless: 'inf', below: '-inf' } },
      { type: 'stream', left_out: 'value' },
      { type: 'list', size: 1001, left_out: 'value' },
    ];
    const double = { sendCommand: ([command = '', ...args]: string[]) => client.call(command, args) };
    for (const each of [client, double]) {
      const store = holders.redis(each, { name: 'cache', keys: 'a:{user_id}:*' });
      const exported = (await store.export?.({ user_id: user, guild_id: '1' }, ROOM)) as { rows: object[] };
      expect(exported).toMatchObject({ rows: expected, left_out: 0 });
      expect(await store.export?.({ user_id: user, guild_id: '1' }, { ...ROOM, rows: 2 })).toMatchObject({
        left_out: 5,
      });
    }
  });
});
