import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DataSource, EntitySchema } from 'typeorm';
import { SqliteDatabase as Database } from '@app/database';
import { holders, type Store, type Who } from '@lethe/sdk/holders';
import { describeWithRedis, RedisServer } from '../support/redis-server';
import { BOT_WIDE } from '../support/snowflakes';

// The stores of @lethe/sdk/holders: SQLite, Redis and files as they are; MySQL, TypeORM, Prisma and MongoDB by doubles of
// their drivers. PostgreSQL has a suite of its own.

const WHO: Who = { user_id: '123456789012345678', guild_id: '223456789012345678' };
/** One digit longer, one shorter, and one that is the same floating-point number. */
const NEAR = ['1234567890123456789', '12345678901234567', '123456789012345680'];

const ROOM = { rows: 10, bytes: 1000 };
const never = async (): Promise<never> => Promise.reject(new Error('never'));

/** A row of EXPLAIN QUERY PLAN. */
interface Plan {
  readonly detail: string;
}

/** What a store finds, before and after it has erased. */
async function lifeOf(store: Store, who: Who = WHO): Promise<number[]> {
  const before = await store.count(who);
  await store.erase(who);
  return [before, await store.count(who)];
}

describe('holders.sql on SQLite', () => {
  let database: InstanceType<typeof Database>;
  beforeEach(() => (database = new Database(':memory:')));
  afterEach(() => database.close());
  const left = (): unknown[] =>
    database.prepare('SELECT CAST(user_id AS TEXT) FROM t ORDER BY 1').pluck().all();

  it.each([
    ['TEXT', (id: string) => id],
    ['INTEGER', (id: string) => BigInt(id)],
    ['', (id: string) => id],
    ['', (id: string) => BigInt(id)],
    ['NUMERIC', (id: string) => id],
  ])('finds an id in a column of the type "%s", and only this id (%p)', async (type, as) => {
    database.exec(`CREATE TABLE t (user_id ${type}, guild_id ${type})`);
    const insert = database.prepare('INSERT INTO t VALUES (?, ?)');
    for (const id of [WHO.user_id, ...NEAR]) insert.run(as(id), as(WHO.guild_id));
    insert.run(as(WHO.user_id), as(NEAR[0] ?? ''));
    const [store] = holders.sql(database, { table: 't', user: 'user_id', guild: 'guild_id' }) as [Store];
    expect(await lifeOf(store)).toEqual([1, 0]);
    expect(left()).toEqual([WHO.user_id, ...NEAR].sort());
    const [everywhere] = holders.sql(database, { table: 'main.t', user: 'user_id' }) as [Store];
    expect([store.everywhere, everywhere.everywhere]).toEqual([false, true]);
    expect(await lifeOf(everywhere)).toEqual([1, 0]);
    expect(left()).toEqual([...NEAR].sort());
    // The bot-wide scope, which a column of numbers holds as 0, and which a direct message has no guild for.
    for (const guild of [BOT_WIDE, WHO.guild_id]) insert.run(as(WHO.user_id), as(guild));
    for (const id of [WHO.user_id, ...NEAR]) insert.run(as(id), null);
    const botWide = { ...WHO, guild_id: BOT_WIDE };
    expect(await store.count(WHO)).toBe(1);
    expect(await store.export?.(botWide, ROOM)).toMatchObject({ rows: [{}, {}], left_out: 0 });
    expect(await lifeOf(store, botWide)).toEqual([2, 0]);
    expect(await lifeOf(store)).toEqual([1, 0]);
    expect(left()).toHaveLength(2 * NEAR.length);
  });

  it.each(['TEXT', 'INTEGER', ''])('finds it by the index of a column of the type "%s"', async (type) => {
    database.exec(`CREATE TABLE t (user_id ${type}, guild_id TEXT); CREATE INDEX of_user ON t (user_id)`);
    const plans: string[] = [];
    const explained = {
      prepare: (text: string) => {
        const explain = database.prepare(`EXPLAIN QUERY PLAN ${text}`);
        const statement = (...ids: string[]) => {
          plans.push(...(explain.all(...ids) as Plan[]).map(({ detail }) => detail));
          return database.prepare(text);
        };
        return {
          all: (...ids: string[]) => statement(...ids).all(...ids),
          run: (...ids: string[]) => statement(...ids).run(...ids),
        };
      },
    };
    await lifeOf(holders.sql(explained, { table: 't', user: 'user_id' })[0]!);
    expect(plans.filter((plan) => plan.startsWith('SEARCH'))).not.toEqual([]);
    expect(plans.filter((plan) => plan.startsWith('SCAN'))).toEqual([]);
  });

  it('takes the text 0 for no bot-wide scope, and 0 for no user', async () => {
    database.exec("CREATE TABLE t (user_id INTEGER, guild_id TEXT); INSERT INTO t VALUES (0, '0')");
    database.prepare('INSERT INTO t VALUES (?, ?)').run(BigInt(WHO.user_id), '0');
    const [store] = holders.sql(database, { table: 't', user: 'user_id', guild: 'guild_id' }) as [Store];
    expect(await lifeOf(store, { ...WHO, guild_id: BOT_WIDE })).toEqual([0, 0]);
    expect(await lifeOf(store, { user_id: BOT_WIDE, guild_id: '0', everyGuild: true })).toEqual([0, 0]);
    expect(left()).toHaveLength(2);
  });

  it.each(['user_idd', 'order'])('fails for a column that is not there: %s', async (user) => {
    database.exec('CREATE TABLE t (user_id TEXT)');
    const [store] = holders.sql(database, { table: 't', user }) as [Store];
    await expect(store.count(WHO)).rejects.toThrow(/no such column/);
    await expect(store.erase(WHO)).rejects.toThrow(/no such column/);
  });

  it('quotes names that are words of SQL', async () => {
    database.exec('CREATE TABLE "order" ("group" TEXT)');
    database.prepare('INSERT INTO "order" VALUES (?)').run(WHO.user_id);
    expect(await lifeOf(holders.sql(database, { table: 'order', user: 'group' })[0]!)).toEqual([1, 0]);
  });

  it.each(['t; DROP TABLE t', 't"', 't`', 'a.b.c', '', '1t', "t'", 't --', 'x'.repeat(64)])(
    'refuses the name %p',
    (name) => {
      expect(() => holders.sql(database, { table: name, user: 'user_id' })).toThrow(TypeError);
      expect(() => holders.sql(database, { table: 't', user: name })).toThrow(TypeError);
      expect(() => holders.sql(database, { table: 't', user: 'user_id', guild: name })).toThrow(TypeError);
    },
  );

  it('finds nobody in a column of floating-point numbers, where one number is several ids', async () => {
    database.exec('CREATE TABLE t (user_id REAL)');
    database.prepare('INSERT INTO t VALUES (?)').run(NEAR[2]);
    const [store] = holders.sql(database, { table: 't', user: 'user_id' }) as [Store];
    expect(await lifeOf(store)).toEqual([0, 0]);
    expect(left()).toHaveLength(1);
  });

  it('fails inside of a transaction of the bot, which may be rolled back after the answer', async () => {
    database.exec('CREATE TABLE t (user_id TEXT)');
    const [store] = holders.sql(database, { table: 't', user: 'user_id' }) as [Store];
    database.exec('BEGIN');
    await expect(store.count(WHO)).rejects.toThrow(/in a transaction/);
    await expect(store.erase(WHO)).rejects.toThrow(/in a transaction/);
    database.exec('COMMIT');
    expect(await store.count(WHO)).toBe(0);
  });

  it('fails there too on a driver that does not say so, as node:sqlite before Node.js 22.16', async () => {
    database.exec('CREATE TABLE t (user_id TEXT)');
    database.prepare('INSERT INTO t VALUES (?)').run(WHO.user_id);
    const silent = { prepare: (text: string) => database.prepare(text) };
    const [store, wrong] = holders.sql(
      silent,
      { table: 't', user: 'user_id' },
      { table: 'missing', user: 'user_id' },
    ) as [Store, Store];
    database.exec('BEGIN');
    await expect(store.count(WHO)).rejects.toThrow(/in a transaction/);
    await expect(store.erase(WHO)).rejects.toThrow(/in a transaction/);
    await expect(store.export?.(WHO, ROOM)).rejects.toThrow(/in a transaction/);
    expect(database.inTransaction).toBe(true);
    database.exec('ROLLBACK');
    await expect(wrong.count(WHO)).rejects.toThrow(/no such table/);
    expect(await store.export?.(WHO, ROOM)).toEqual({ rows: [{ user_id: WHO.user_id }], left_out: 0 });
    expect(await lifeOf(store)).toEqual([1, 0]);
    expect(database.inTransaction).toBe(false);
  });

  it('keeps its notes in one table, each list for itself', async () => {
    const [store] = holders.sql(database, { table: 't', user: 'user_id' }) as [Store];
    await notesOf(store);
    expect(database.prepare('SELECT list, name, note FROM lethe_holder').all()).toEqual([
      { list: 'other', name: 'one', note: 'kept' },
    ]);
  });

  it('keeps notes of a holder and a store whose names are long, in the column as it is', async () => {
    database.exec('CREATE TABLE t (user_id TEXT)');
    const { marks } = holders.sql(database, { table: 't', user: 'user_id' })[0]!;
    const [one, other] = [`${'k'.repeat(100)}/${'s'.repeat(64)}`, `${'k'.repeat(100)}/${'s'.repeat(63)}`];
    for (const list of [one, other]) await marks?.put(list, 'since', list.slice(-64));
    for (const list of [one, other]) {
      expect(await marks?.get(list, 'since')).toBe(list.slice(-64));
      expect(await marks?.all(list)).toEqual(new Map([['since', list.slice(-64)]]));
    }
    await marks?.remove(one, ['since']);
    expect(await marks?.get(one, 'since')).toBeUndefined();
    // As lethe-client writes it. SQLite has always taken it whole.
    expect(database.prepare('SELECT list FROM lethe_holder').pluck().all()).toEqual([other]);
  });

  it('takes a DatabaseSync of node:sqlite by its shape, and refuses what is no database', () => {
    const shape = { prepare: (text: string) => database.prepare(text) };
    expect(holders.sql(shape, { table: 't', user: 'user_id' })).toHaveLength(1);
    for (const wrong of [{}, undefined, { promise: () => undefined, execute: () => undefined }])
      expect(() => holders.sql(wrong as never, { table: 't', user: 'user_id' })).toThrow(TypeError);
  });

  it.each([
    ['a connection of mysql2', { execute: never, query: never, prepare: never }, 'createPool()'],
    ['a Client of pg', { query: never, connect: never }, 'new pg.Pool()'],
  ])('refuses %s, on which the bot may roll an erasure back', (_name, connection, made) => {
    expect(() => holders.sql(connection as never, { table: 't', user: 'user_id' })).toThrow(
      `Give the pool that ${made} makes.`,
    );
  });
});

/** Puts, replaces and removes notes, and leaves one. */
async function notesOf({ marks }: Store): Promise<void> {
  if (marks === undefined) throw new Error('no marks');
  expect(await marks.all('list/one')).toEqual(new Map());
  expect(await marks.get('list/one', 'one')).toBeUndefined();
  await marks.put('list/one', 'one', 'first');
  await marks.put('list/one', 'one', 'second');
  await marks.put('list/one', 'two', 'of two');
  await marks.put('other', 'one', 'kept');
  expect([await marks.get('list/one', 'one'), await marks.get('list/one', 'three')]).toEqual([
    'second',
    undefined,
  ]);
  expect(await marks.all('list/one')).toEqual(
    new Map([
      ['one', 'second'],
      ['two', 'of two'],
    ]),
  );
  await marks.remove('list/one', ['one', 'two', 'unknown']);
  expect([await marks.all('list/one'), await marks.all('other')]).toEqual([
    new Map(),
    new Map([['one', 'kept']]),
  ]);
}

describe('holders.sql on a double of mysql2', () => {
  /** What mysql2/promise answers, with the placeholders and quotes of MySQL, which SQLite understands too. */
  const double = (database: InstanceType<typeof Database>) => ({
    texts: [] as string[],
    async execute(text: string, values: string[]): Promise<[unknown, unknown]> {
      this.texts.push(text);
      if (text.includes('information_schema'))
        return [database.prepare('SELECT 1 AS found FROM sqlite_master WHERE name = ?').all(...values), []];
      const statement = database.prepare(text.replaceAll('AS CHAR', 'AS TEXT'));
      return statement.reader ? [statement.all(...values), []] : [statement.run(...values), undefined];
    },
    query: never,
    getConnection: never,
  });

  it('compares ids as texts too, since MySQL compares a text and a number as floating-point numbers', async () => {
    const database = new Database(':memory:');
    database.exec('CREATE TABLE t (user_id TEXT, guild_id TEXT)');
    database.prepare('INSERT INTO t VALUES (?, ?)').run(WHO.user_id, WHO.guild_id);
    const mysql = double(database);
    const [store] = holders.sql(mysql, { table: 't', user: 'user_id', guild: 'guild_id' }) as [Store];
    expect(await lifeOf(store)).toEqual([1, 0]);
    expect(mysql.texts[1]).toBe(
      'DELETE FROM `t` WHERE (`user_id` = ? AND CAST(`user_id` AS CHAR) = ?) AND (`guild_id` = ? AND CAST(`guild_id` AS CHAR) = ?)',
    );
    await store.count({ ...WHO, guild_id: BOT_WIDE });
    expect(mysql.texts[3]).toBe(
      'SELECT count(*) AS found FROM `t` WHERE (`user_id` = ? AND CAST(`user_id` AS CHAR) = ?) AND ' +
        '((`guild_id` = ? AND CAST(`guild_id` AS CHAR) = ?) OR ' +
        `(\`guild_id\` = '${BOT_WIDE}' AND CAST(\`guild_id\` AS CHAR) = '0') OR \`guild_id\` IS NULL)`,
    );
    await notesOf(store);
    database.close();
  });
});

describeWithRedis('holders.redis', () => {
  let server: RedisServer;
  beforeAll(async () => (server = await RedisServer.started()));
  afterAll(() => server.remove());
  beforeEach(async () => void (await server.client.flushall()));

  const { user_id: user, guild_id: guild } = WHO;

  it('erases the keys of the user in the guild, by name or by a walk, and no other', async () => {
    const own = [`profile:${guild}:${user}`, `cool:${guild}:${user}:a`, `cool:${guild}:${user}:b:c`];
    const others = [
      ...NEAR.map((id) => `profile:${guild}:${id}`),
      ...NEAR.map((id) => `cool:${guild}:${id}:a`),
      ...[`profile:1:${user}`, `cool:1:${user}:a`, `cool:${guild}:${user}`, `xcool:${guild}:${user}:a`],
    ];
    for (const key of [...own, ...others]) await server.client.set(key, 'x');
    const store = holders.redis(server.client, {
      name: 'cache',
      keys: ['profile:{guild_id}:{user_id}', 'cool:{guild_id}:{user_id}:*'],
    });
    expect(await lifeOf(store)).toEqual([3, 0]);
    expect((await server.client.keys('*')).sort()).toEqual(others.sort());
    expect(store.everywhere).toBe(false);
  });

  it('knows which of its patterns have no guild', async () => {
    const keys = ['cool:{guild_id}:{user_id}', 'profile:{user_id}'];
    for (const key of [`cool:${guild}:${user}`, `profile:${user}`]) await server.client.set(key, 'x');
    const store = holders.redis(server.client, { name: 'cache', keys });
    expect(store.everywhere).toBe('partly');
    expect(await store.count({ ...WHO, isLast: true })).toBe(2);
    // As from a store around it that hands on the ids alone.
    expect(await store.count(WHO)).toBe(1);
    await store.erase(WHO);
    expect(await server.client.keys('*')).toEqual([`profile:${user}`]);
  });

  it('erases in every guild for a user who has left the bot-wide scope', async () => {
    for (const key of [`a:1:${user}`, `a:2:${user}`, `a:1:${NEAR[0]}`]) await server.client.set(key, 'x');
    const store = holders.redis(server.client, { name: 'all', keys: 'a:{guild_id}:{user_id}' });
    expect(await lifeOf(store, { ...WHO, everyGuild: true })).toEqual([2, 0]);
    expect(await server.client.keys('*')).toEqual([`a:1:${NEAR[0]}`]);
  });

  it('takes digits alone for a guild, and no key of another user in which the id comes later', async () => {
    const other = `a:1:${NEAR[0]}:${user}`;
    for (const key of [`a:1:${user}`, other, `a::${user}`]) await server.client.set(key, 'x');
    const store = holders.redis(server.client, { name: 'all', keys: 'a:{guild_id}:{user_id}' });
    expect(await lifeOf(store, { ...WHO, everyGuild: true })).toEqual([1, 0]);
    expect((await server.client.keys('*')).sort()).toEqual([other, `a::${user}`].sort());
  });

  it('keeps the notes of two stores apart of which one name begins the other', async () => {
    const { marks } = holders.redis(server.client, { name: 'cache', keys: '{user_id}' });
    await marks?.put('bot/cache', 'one', 'own');
    await marks?.put('bot/cache of images', 'since', '2026-01-01T00:00:00.000Z');
    expect(await marks?.all('bot/cache')).toEqual(new Map([['one', 'own']]));
    expect([...((await marks?.all('bot/cache of images')) ?? [])]).toHaveLength(1);
  });

  it('takes brackets, question marks and backslashes as they are', async () => {
    const key = `[a]?\\:${user}:1`;
    for (const each of [key, `ab\\:${user}:1`, `a?:${user}:1`]) await server.client.set(each, 'x');
    const store = holders.redis(server.client, { name: 'odd', keys: '[a]?\\:{user_id}:*' });
    expect([await lifeOf(store), store.everywhere]).toEqual([[1, 0], true]);
    expect(await server.client.exists(key)).toBe(0);
    expect(await server.client.dbsize()).toBe(2);
  });

  it('counts a key once that two patterns name, and finds thousands', async () => {
    const keys = Array.from({ length: 3000 }, (_, at) => [`many:${user}:${at}`, 'x']).flat();
    await server.client.mset(keys);
    const store = holders.redis(server.client, {
      name: 'many',
      keys: ['many:{user_id}:*', 'many:{user_id}:7'],
    });
    expect(await lifeOf(store)).toEqual([3000, 0]);
  });

  it('works behind a keyPrefix of ioredis, also one with signs of a pattern', async () => {
    const prefixed = server.client.duplicate({ keyPrefix: 'b*t:' });
    await prefixed.set(`user:${user}:a`, 'x');
    await prefixed.set(`user:${user}`, 'x');
    await server.client.set(`bot:user:${user}:a`, 'x');
    await server.client.set(`user:${user}:a`, 'x');
    const store = holders.redis(prefixed, { name: 'prefixed', keys: ['user:{user_id}:*', 'user:{user_id}'] });
    expect(await lifeOf(store)).toEqual([2, 0]);
    expect((await server.client.keys('*')).sort()).toEqual([`bot:user:${user}:a`, `user:${user}:a`]);
    await notesOf(store);
    prefixed.disconnect();
  });

  /** What a client makes of its keys: the first argument of each command but SCAN. */
  const behind =
    (prefix: string) =>
    (command: string, [key = '', ...args]: string[]) =>
      server.client.call(command, [command.toLowerCase() === 'scan' ? key : prefix + key, ...args]);
  it.each([
    [
      'ioredis before 5.9.0, which prefixes keys of commands in small letters alone',
      (keyPrefix: string) => ({
        options: { keyPrefix },
        call: (command: string, args: string[]) =>
          behind(command === command.toLowerCase() ? keyPrefix : '')(command, args),
      }),
    ],
    [
      'node-redis, whose sendCommand prefixes no key',
      (keyPrefix: string) => ({
        options: { keyPrefix },
        sendCommand: ([command = '', ...args]: string[]) => behind('')(command, args),
      }),
    ],
    [
      'a pool of node-redis',
      (keyPrefix: string) => ({
        _keyPrefix: Buffer.from(keyPrefix),
        sendCommand: ([command = '', ...args]: string[]) => behind('')(command, args),
      }),
    ],
  ])('works behind a keyPrefix of %s', async (_name, clientOf) => {
    for (const prefix of ['b*t:', ''])
      for (const key of [`user:${user}`, `walk:${user}:a`]) await server.client.set(prefix + key, 'own');
    const client = clientOf('b*t:');
    for (const keys of ['user:{user_id}', 'walk:{user_id}:*']) {
      const store = holders.redis(client, { name: 'prefixed', keys });
      expect(await store.export?.(WHO, { rows: 10, bytes: 1000 })).toMatchObject({
        rows: [{ type: 'string', value: 'own' }],
      });
      expect(await lifeOf(store)).toEqual([1, 0]);
    }
    expect((await server.client.keys('*')).sort()).toEqual([`user:${user}`, `walk:${user}:a`]);
    await notesOf(holders.redis(client, { name: 'prefixed', keys: '{user_id}' }));
    expect(await server.client.hgetall('b*t:lethe_holder')).toEqual({ 'other one': 'kept' });
    expect(await server.client.exists('lethe_holder')).toBe(0);
  });

  it('works with a double of node-redis, whose commands are lists', async () => {
    await server.client.set(`user:${user}:a`, 'x');
    const double = { sendCommand: ([command = '', ...args]: string[]) => server.client.call(command, args) };
    const store = holders.redis(double, { name: 'double', keys: 'user:{user_id}:*' });
    expect(await lifeOf(store)).toEqual([1, 0]);
    await notesOf(store);
    expect(await server.client.hgetall('lethe_holder')).toEqual({ 'other one': 'kept' });
  });

  it.each(['all:*', 'a:{user_id}*', '*{user_id}', '{guild_id}{user_id}', 'a1{user_id}', '{user_id}0'])(
    'refuses the pattern %s, which names other users',
    (keys) => {
      expect(() => holders.redis(server.client, { name: 'wrong', keys })).toThrow(TypeError);
    },
  );

  it('refuses an empty list of patterns, by which every user would have nothing', () => {
    expect(() => holders.redis(server.client, { name: 'none', keys: [] })).toThrow(/no pattern/);
  });

  it('refuses a cluster, of which it would see one part', () => {
    const cluster = { isCluster: true, call: async () => undefined };
    expect(() => holders.redis(cluster, { name: 'cluster', keys: '{user_id}' })).toThrow(/each master/);
  });
});

describe('holders.files', () => {
  let top: string;
  let folder: string;
  beforeEach(() => {
    top = mkdtempSync(join(tmpdir(), 'lethe-files-'));
    folder = join(top, 'avatars');
    mkdirSync(join(folder, WHO.guild_id), { recursive: true });
    writeFileSync(join(top, 'secret'), 'x');
  });
  afterEach(() => rmSync(top, { recursive: true }));

  it('erases the files and folders of a user, and no other', async () => {
    const guild = join(folder, WHO.guild_id);
    writeFileSync(join(guild, `${WHO.user_id}.png`), 'x');
    mkdirSync(join(guild, WHO.user_id, 'deep'), { recursive: true });
    writeFileSync(join(guild, NEAR[0] ?? ''), 'x');
    const store = holders.files(folder, ({ user_id, guild_id }) => [
      `${guild_id}/${user_id}.png`,
      join(guild_id, user_id),
      `${guild_id}/${user_id}.gif`,
    ]);
    expect([store.name, store.everywhere]).toEqual(['avatars', false]);
    expect(await lifeOf(store)).toEqual([2, 0]);
    expect(readdirSync(guild)).toEqual([NEAR[0]]);
  });

  it('finds the files of every guild, also of one that Lethe does not know, and of no other user', async () => {
    const { user_id } = WHO;
    const names = [`1/${user_id}.png`, `2/${user_id}.png`, `3/b-3-${user_id}/a.png`, `${user_id}.png`];
    const others = [`1/${NEAR[0]}.png`, `x/${user_id}.png`, `2/${user_id}.gif`, `3/b-x-${user_id}/a.png`];
    for (const name of [...names, ...others]) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), 'x');
    }
    const store = holders.files(folder, (who) => [
      `./${who.guild_id}/${who.user_id}.png`,
      `${who.guild_id}/b-${who.guild_id}-${who.user_id}`,
      `${who.user_id}.png`,
    ]);
    const botWide = { ...WHO, guild_id: BOT_WIDE, isLast: true };
    expect(await store.count(botWide)).toBe(1);
    expect(await store.export?.({ ...botWide, everyGuild: true }, ROOM)).toMatchObject({
      rows: [{}, {}, {}, {}],
    });
    expect(await lifeOf(store, { ...botWide, everyGuild: true })).toEqual([4, 0]);
    const left = readdirSync(folder, { recursive: true }).map(String);
    expect(others.filter((name) => !left.includes(name))).toEqual([]);
  });

  it.each([
    ['a digest of its guild', (who: Who) => `${who.user_id}-${Number(who.guild_id) % 97}`],
    ['its guild beside a digit', (who: Who) => who.guild_id + who.user_id],
  ])('fails for the files of every guild with a name that has %s', async (_name, nameOf) => {
    const everyGuild = { ...WHO, guild_id: BOT_WIDE, everyGuild: true };
    await expect(holders.files(folder, nameOf).count(everyGuild)).rejects.toThrow(/where everyGuild is true/);
    // The bot has the names itself.
    const own = (who: Who) =>
      who.everyGuild === true ? [`a-${who.user_id}`, `b-${who.user_id}`] : nameOf(who);
    writeFileSync(join(folder, `b-${WHO.user_id}`), 'x');
    expect(await lifeOf(holders.files(folder, own), everyGuild)).toEqual([1, 0]);
  });

  it('takes a name as done that is missing by then, as one in a folder that was erased before it', async () => {
    mkdirSync(join(folder, WHO.user_id));
    for (const name of [join(WHO.user_id, 'a.png'), `${WHO.user_id}.json`])
      writeFileSync(join(folder, name), 'x');
    const store = holders.files(folder, ({ user_id }) => [
      user_id,
      join(user_id, 'a.png'),
      `${user_id}.json`,
    ]);
    expect(await lifeOf(store)).toEqual([3, 0]);
    expect(readdirSync(folder)).toEqual([WHO.guild_id]);
  });

  it('passes over a note that another process has removed since the list was read', async () => {
    const { marks } = holders.files(folder, ({ user_id }) => user_id);
    await marks?.put('one', 'a', 'note');
    const [list = ''] = readdirSync(join(folder, '.lethe-holder'));
    symlinkSync('nowhere', join(folder, '.lethe-holder', list, 'b'));
    expect(await marks?.all('one')).toEqual(new Map([['a', 'note']]));
  });

  it('erases the names without a guild only where it is said that the consent is the last one', async () => {
    const names = ({ user_id, guild_id }: Who) => [join(guild_id, user_id), user_id];
    for (const name of names(WHO)) writeFileSync(join(folder, name), 'x');
    const store = holders.files(folder, names);
    expect([store.everywhere, await store.count({ ...WHO, isLast: true })]).toEqual(['partly', 2]);
    // As from a store around it that hands on the ids alone.
    expect(await lifeOf(store)).toEqual([1, 0]);
    expect(await lifeOf(store, { ...WHO, isLast: true })).toEqual([1, 0]);
  });

  it.each([
    ['a name that leads up', ({ user_id }: Who) => `../${user_id}`],
    ['an absolute name', ({ user_id }: Who) => join(tmpdir(), user_id)],
    ['the folder itself', ({ user_id }: Who) => `${user_id}/..`],
    ['its own notes', ({ user_id }: Who) => `${user_id}/../.lethe-holder`],
    ['a name with NUL', ({ user_id }: Who) => `${user_id}\0`],
  ])('refuses %s', async (_name, nameOf) => {
    const store = holders.files(folder, nameOf);
    await expect(store.count(WHO)).rejects.toThrow(RangeError);
    await expect(store.erase(WHO)).rejects.toThrow(RangeError);
    expect(readdirSync(top).sort()).toEqual(['avatars', 'secret']);
  });

  it('removes a link and not what it leads to, and follows none out of the folder', async () => {
    symlinkSync(join(top, 'secret'), join(folder, WHO.user_id));
    symlinkSync(top, join(folder, 'out'));
    expect(await lifeOf(holders.files(folder, ({ user_id }) => user_id))).toEqual([1, 0]);
    expect(lstatSync(join(top, 'secret')).isFile()).toBe(true);
    writeFileSync(join(top, WHO.user_id), 'x');
    const outside = holders.files(folder, ({ user_id }) => `out/${user_id}`);
    await expect(outside.count(WHO)).rejects.toThrow(RangeError);
    expect(lstatSync(join(top, WHO.user_id)).isFile()).toBe(true);
  });

  it('fails where the folder is missing, which may be a disk that is not mounted', async () => {
    const store = holders.files(join(top, 'missing'), ({ user_id }) => user_id);
    await expect(store.count(WHO)).rejects.toThrow(/ENOENT/);
    for (const act of [() => store.marks?.all('one'), () => store.marks?.get('one', 'two')])
      await expect(act()).rejects.toThrow(/ENOENT/);
    await expect(store.marks?.put('one', 'two', 'note')).rejects.toThrow(/ENOENT/);
    expect(readdirSync(top).sort()).toEqual(['avatars', 'secret']);
    symlinkSync(join(top, 'unmounted'), join(top, 'missing'));
    await expect(store.count(WHO)).rejects.toThrow(/ENOENT/);
  });

  it('belongs to the user everywhere where no name depends on the guild, and is refused where none depends on the user', () => {
    expect(holders.files(folder, ({ user_id }) => user_id, { name: 'pictures' })).toMatchObject({
      ...{ name: 'pictures', everywhere: true },
    });
    expect(() => holders.files(folder, ({ guild_id }) => guild_id)).toThrow(TypeError);
  });

  it.each([
    ['the beginning of an id', ({ user_id }: Who) => user_id.slice(0, 6)],
    ['the end of an id', ({ user_id }: Who) => user_id.slice(-6)],
    ['a number that has lost digits', ({ user_id }: Who) => String(Number(user_id))],
    ['one name of all users among others', ({ user_id }: Who) => ['all', user_id]],
  ])('refuses %s, which names the files of other users', (_name, nameOf) => {
    expect(() => holders.files(folder, nameOf)).toThrow(TypeError);
  });

  it('keeps its notes below the folder', async () => {
    await notesOf(holders.files(folder, ({ user_id }) => user_id));
    expect(readdirSync(folder)).toContain('.lethe-holder');
  });
});

describe('holders of objects, on doubles of their drivers', () => {
  /** Rows, and a filter by equal fields, as TypeORM, Prisma and MongoDB have it. */
  class Rows {
    rows: Record<string, unknown>[] = [
      { userId: WHO.user_id, guildId: WHO.guild_id },
      { userId: BigInt(WHO.user_id), guildId: BigInt(WHO.guild_id) },
      { userId: WHO.user_id, guildId: '1' },
      { userId: '1', guildId: WHO.guild_id },
    ];
    private fits = (filter: Record<string, unknown>) => (row: Record<string, unknown>) =>
      Object.entries(filter).every(([name, value]) => row[name] === value);
    countBy = async (where: object) => this.rows.filter(this.fits({ ...where })).length;
    /** As TypeORM: what is deleted softly is counted by `withDeleted` alone. */
    withDeleted: unknown;
    delete = async (where: object) =>
      void (this.rows = this.rows.filter((row) => !this.fits({ ...where })(row)));
    countDocuments = (filter: object) => this.countBy(filter);
    count = ({ where, ...more }: { where: object }) => {
      this.withDeleted = (more as { withDeleted?: boolean }).withDeleted;
      return this.countBy(where);
    };
  }

  const fields = { name: 'profiles', user: 'userId', guild: 'guildId' } as const;
  it.each([
    ['typeorm', (rows: Rows, more: object) => holders.typeorm(rows, { ...fields, ...more })],
    [
      'prisma',
      (rows: Rows, more: object) =>
        holders.prisma(
          { count: rows.count, deleteMany: ({ where }: { where: object }) => rows.delete(where) },
          { ...fields, ...more },
        ),
    ],
    [
      'mongo',
      (rows: Rows, more: object) =>
        holders.mongo(
          { countDocuments: rows.countDocuments, deleteMany: rows.delete },
          { ...fields, ...more },
        ),
    ],
  ])('holders.%s erases by user and guild, with ids of the type of the store', async (_name, make) => {
    const rows = new Rows();
    expect(await lifeOf(make(rows, {}))).toEqual([1, 0]);
    expect(await lifeOf(make(rows, { as: BigInt }))).toEqual([1, 0]);
    expect(rows.rows).toEqual([
      { userId: WHO.user_id, guildId: '1' },
      { userId: '1', guildId: WHO.guild_id },
    ]);
    const everywhere = make(rows, { guild: undefined });
    expect([everywhere.everywhere, await lifeOf(everywhere)]).toEqual([true, [1, 0]]);
    expect(rows.withDeleted).toBe(_name === 'typeorm' ? true : undefined);
    for (const as of [() => undefined, () => null, Number]) {
      await expect(make(rows, { as }).count(WHO)).rejects.toThrow(TypeError);
      await expect(make(rows, { as }).erase(WHO)).rejects.toThrow(TypeError);
    }
    expect(rows.rows).toHaveLength(1);
  });

  it.each([
    ['may be null', false, 2],
    ['is never null, for which Prisma refuses the filter', true, 1],
  ])('holders.prisma finds what has no guild by a field that %s', async (_name, isNeverNull, found) => {
    const rows = new Rows();
    rows.rows = [BOT_WIDE, null, WHO.guild_id].map((guildId) => ({ userId: WHO.user_id, guildId }));
    const faults: Error[] = [];
    const invalid = Object.assign(new Error('must not be null'), {
      [Symbol.toStringTag]: 'PrismaClientValidationError',
    });
    const asked = <T>({ guildId }: Record<string, unknown>, act: () => T): T => {
      if (guildId === null && faults[0] !== undefined) throw faults[0];
      if (typeof guildId === 'object' && (isNeverNull || guildId !== null)) throw invalid;
      return act();
    };
    const delegate = {
      count: async ({ where }: { where: Record<string, unknown> }) => asked(where, () => rows.countBy(where)),
      deleteMany: async ({ where }: { where: Record<string, unknown> }) =>
        asked(where, () => rows.delete(where)),
    };
    const store = holders.prisma(delegate, fields);
    expect(await store.count(WHO)).toBe(1);
    expect(await lifeOf(store, { ...WHO, guild_id: BOT_WIDE })).toEqual([found, 0]);
    expect(rows.rows).toHaveLength(3 - found);
    // Another fault says nothing about the field.
    faults.push(new Error('no connection'));
    await expect(store.count({ ...WHO, guild_id: BOT_WIDE })).rejects.toThrow('no connection');
  });

  it('holders.mongo finds what has no guild, of the bot-wide scope alone', async () => {
    const botWide = { ...WHO, guild_id: BOT_WIDE };
    const filters: unknown[] = [];
    const counts = [2, 3, 0];
    const collection = {
      countDocuments: async (filter: object) => (filters.push(filter), counts.shift() ?? 0),
      deleteMany: async (filter: object) => void filters.push(filter),
      find: (filter: object) => ({
        limit: (most: number) => ({
          toArray: async () => (filters.push({ ...filter, most }), Array.from({ length: 2 }, () => ({}))),
        }),
      }),
    };
    const store = holders.mongo(collection, fields);
    const [zeros, none] = [BOT_WIDE, null].map((guildId) => ({ userId: WHO.user_id, guildId }));
    expect(await store.count(botWide)).toBe(5);
    await store.erase(botWide);
    expect(await store.export?.(botWide, ROOM)).toMatchObject({ rows: [{}, {}, {}, {}], left_out: 0 });
    expect(filters).toEqual([
      ...[zeros, none, zeros, none],
      ...[
        { ...zeros, most: 10 },
        { ...none, most: 8 },
      ],
    ]);
    filters.length = 0;
    await store.count(WHO);
    await store.count({ ...botWide, everyGuild: true });
    expect(filters).toEqual([{ userId: WHO.user_id, guildId: WHO.guild_id }, { userId: WHO.user_id }]);
    // Where the first filter has filled the list, the second is only counted.
    filters.length = 0;
    counts.push(4, 5);
    expect(await store.export?.(botWide, { ...ROOM, rows: 2 })).toMatchObject({ left_out: 7 });
    expect(filters).toEqual([{ ...zeros, most: 2 }, zeros, none]);
  });

  it('holders.mongo refuses a field that the schema of a Mongoose model lacks, which would be left out of the filter', () => {
    /** As Mongoose, it finds a path itself, or a parent of it that is Mixed. */
    class Schema {
      private readonly paths: Record<string, string> = { userId: 'String', guildId: 'String', meta: 'Mixed' };
      path(name: string): string | undefined {
        const { [name.split('.')[0] ?? '']: parent } = this.paths;
        return this.paths[name] ?? (parent === 'Mixed' ? parent : undefined);
      }
    }
    const rows = new Rows();
    const model = {
      ...{ countDocuments: rows.countDocuments, deleteMany: rows.delete },
      schema: new Schema(),
    };
    expect(holders.mongo(model, fields).everywhere).toBe(false);
    expect(holders.mongo(model, { ...fields, user: 'meta.user' }).name).toBe(fields.name);
    for (const wrong of [{ user: 'userID' }, { guild: 'guild' }, { user: 'alias' }, { user: 'nested' }])
      expect(() => holders.mongo(model, { ...fields, ...wrong })).toThrow(/has no field .*Model\.collection/);
  });
});

describe('holders.typeorm on TypeORM itself', () => {
  interface Note {
    readonly id: number;
    readonly userId: string;
    readonly guildId: string | null;
  }
  const Notes = new EntitySchema<Note>({
    name: 'note',
    columns: {
      id: { type: 'integer', primary: true },
      userId: { type: 'text' },
      guildId: {
        type: 'text',
        nullable: true,
        transformer: { to: (value: unknown) => value, from: (value: unknown) => value },
      },
    },
  });
  let source: DataSource;
  beforeEach(async () => {
    source = await new DataSource({
      ...{ type: 'better-sqlite3', database: ':memory:', entities: [Notes], synchronize: true },
    } as never).initialize();
    const guilds = [BOT_WIDE, null, null, WHO.guild_id];
    await source
      .getRepository(Notes)
      .insert([
        ...guilds.map((guildId, id) => ({ id, userId: WHO.user_id, guildId })),
        { id: 9, userId: '1', guildId: null },
      ]);
  });
  afterEach(() => source.destroy());
  const stored = (): Store =>
    holders.typeorm(source.getRepository(Notes), { name: 'notes', user: 'userId', guild: 'guildId' });
  const ids = async (): Promise<number[]> => (await source.getRepository(Notes).find()).map(({ id }) => id);

  it('finds what has no guild, of the bot-wide scope alone', async () => {
    const store = stored();
    const botWide = { ...WHO, guild_id: BOT_WIDE };
    expect(await store.export?.(botWide, ROOM)).toMatchObject({
      rows: [{ id: 0 }, { id: 1 }, { id: 2 }],
      left_out: 0,
    });
    expect(await lifeOf(store, botWide)).toEqual([3, 0]);
    expect(await ids()).toEqual([3, 9]);
    expect(await lifeOf(store)).toEqual([1, 0]);
    expect(await ids()).toEqual([9]);
  });

  it('fails inside of a transaction of the bot, which SQLite has on the same connection', async () => {
    const store = stored();
    const runner = source.createQueryRunner();
    await runner.startTransaction();
    for (const act of [() => store.count(WHO), () => store.erase(WHO), () => store.export?.(WHO, ROOM)])
      await expect(act()).rejects.toThrow(/in a transaction/);
    await runner.rollbackTransaction();
    expect(await lifeOf(store)).toEqual([1, 0]);
  });
});
