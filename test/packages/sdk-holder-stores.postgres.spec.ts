import { Client, Pool } from 'pg';
import { holders, type Store, type Who } from '@lethe/sdk/holders';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bareDatabase, type TestDatabase } from '../support/database';
import { BOT_WIDE } from '../support/snowflakes';

// holders.sql on a PostgreSQL of a bot, with the driver pg.

const WHO: Who = { user_id: '123456789012345678', guild_id: '223456789012345678' };
const NEAR = ['1234567890123456789', '12345678901234567', '123456789012345680'];

describe('holders.sql on PostgreSQL', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lethe-holder-'));
  let database: TestDatabase;
  let pool: Pool;
  beforeAll(async () => {
    database = await bareDatabase(directory);
    pool = new Pool({ connectionString: database.url });
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
    rmSync(directory, { recursive: true });
  });
  beforeEach(async () => void (await pool.query('DROP TABLE IF EXISTS t, lethe_holder')));

  it.each(['text', 'bigint', 'varchar(20)', 'numeric', 'char(24)'])(
    'finds an id in a column of the type %s, and only this id',
    async (type) => {
      await pool.query(`CREATE TABLE t (user_id ${type}, guild_id ${type})`);
      for (const id of [WHO.user_id, ...NEAR])
        await pool.query('INSERT INTO t VALUES ($1, $2)', [id, WHO.guild_id]);
      await pool.query('INSERT INTO t VALUES ($1, $2)', [WHO.user_id, NEAR[0]]);
      const [inGuild, everywhere] = holders.sql(
        pool,
        { table: 't', user: 'user_id', guild: 'guild_id' },
        { table: 'public.t', user: 'user_id' },
      ) as [Store, Store];
      for (const store of [inGuild, everywhere]) {
        expect(await store.count(WHO)).toBe(1);
        await store.erase(WHO);
        expect(await store.count(WHO)).toBe(0);
      }
      const { rows } = await pool.query<{ id: string }>('SELECT trim(user_id::text) AS id FROM t ORDER BY 1');
      expect(rows.map(({ id }) => id)).toEqual([...NEAR].sort());
      // The bot-wide scope, which a column of numbers holds as 0, and which a direct message has no guild for.
      for (const guild of [BOT_WIDE, WHO.guild_id, null])
        await pool.query('INSERT INTO t VALUES ($1, $2)', [WHO.user_id, guild]);
      const botWide = { ...WHO, guild_id: BOT_WIDE };
      expect([await inGuild.count(botWide), await inGuild.count(WHO)]).toEqual([2, 1]);
      await inGuild.erase(botWide);
      expect([await inGuild.count(botWide), await inGuild.count(WHO)]).toEqual([0, 1]);
    },
  );

  it('exports rows with all digits of numbers, and with days as days', async () => {
    await pool.query('CREATE TABLE t (user_id bigint, born date, seen timestamptz, more jsonb, token text)');
    await pool.query(`INSERT INTO t VALUES ($1, '2000-02-29', '2026-01-01T12:00:00+02', '{"a":[1]}', 'x')`, [
      WHO.user_id,
    ]);
    const room = { rows: 10, bytes: 1000 };
    const exported = async (fields: object) =>
      holders.sql(pool, { table: 't', user: 'user_id', ...fields })[0]?.export?.(WHO, room);
    const row = { user_id: WHO.user_id, born: '2000-02-29', seen: new Date('2026-01-01T10:00:00Z') };
    expect(await exported({ without: ['token'] })).toEqual({
      rows: [{ ...row, more: { a: [1] } }],
      left_out: 0,
    });
    expect(await exported({ columns: ['born'] })).toEqual({ rows: [{ born: '2000-02-29' }], left_out: 0 });
    await expect(exported({ without: ['tokne'] })).rejects.toThrow('tokne');
    await expect(exported({ columns: ['tokne'] })).rejects.toThrow('does not exist');
  });

  it('fails for a table or column that is not there, and for ids of another type', async () => {
    await pool.query('CREATE TABLE t (user_id uuid)');
    for (const [table, user] of [
      ['missing', 'user_id'],
      ['t', 'author'],
      ['t', 'user_id'],
    ] as const)
      await expect(holders.sql(pool, { table, user })[0]?.count(WHO)).rejects.toThrow();
  });

  it('keeps its notes in one table, which two processes may make at once', async () => {
    const other = new Pool({ connectionString: database.url });
    const stores = [pool, pool, other].map((each) => holders.sql(each, { table: 't', user: 'user_id' })[0]);
    await Promise.all(stores.map(async (store, at) => store?.marks?.put('list', String(at), 'note')));
    expect(await stores[0]?.marks?.all('list')).toEqual(new Map(['0', '1', '2'].map((at) => [at, 'note'])));
    await stores[2]?.marks?.put('list', '0', 'second');
    await stores[2]?.marks?.remove('list', ['1', '2']);
    const long = `${'k'.repeat(100)}/${'s'.repeat(64)}`;
    await stores[2]?.marks?.put(long, '0', 'long');
    expect(await stores[0]?.marks?.get(long, '0')).toBe('long');
    expect(await stores[0]?.marks?.all('list')).toEqual(new Map([['0', 'second']]));
    await other.end();
  });

  it('refuses a Client, on which a transaction of the bot could take an erasure back', async () => {
    const connected = await pool.connect();
    for (const each of [new Client({ connectionString: database.url }), connected])
      expect(() => holders.sql(each as never, { table: 't', user: 'user_id' })).toThrow('new pg.Pool()');
    connected.release();
  });

  it('is made again after a restore that has removed the table', async () => {
    const marks = holders.sql(pool, { table: 't', user: 'user_id' })[0]?.marks;
    await marks?.put('list', '0', 'note');
    await pool.query('DROP TABLE lethe_holder');
    expect(await marks?.all('list')).toEqual(new Map());
    await expect(marks?.put('list', '0', 'note')).rejects.toThrow(/lethe_holder/);
    await marks?.put('list', '0', 'note');
    expect(await marks?.all('list')).toEqual(new Map([['0', 'note']]));
  });
});
