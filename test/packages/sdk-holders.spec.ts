import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteDatabase as Database } from '@app/database';
import { Lethe } from '@lethe/sdk';
import { verifyFinalCertificate } from '@lethe/sdk/evidence';
import { type HolderOptions, holders, runHolder } from '@lethe/sdk/holders';
import { BANS } from '../support/sdk-places';
import { useService } from '../support/shared-service';
import { BOT_WIDE, snowflake, subject, type SubjectIds } from '../support/snowflakes';

// A bot with a SQLite of its own, and the service: what is erased in Lethe is erased in the bot.

const service = useService();
const directory = mkdtempSync(join(tmpdir(), 'lethe-holders-'));
const NO_TIMERS = { set: () => undefined, clear: () => undefined };
const YES = { consent_version: '1.0' };
const { privateKey } = generateKeyPairSync('ed25519');

let lethe: Lethe;
let database: InstanceType<typeof Database>;
let key: string;
let errors: unknown[];
let files = 0;

beforeEach(async () => {
  const bot = await service.registerBot();
  ({ key } = bot);
  lethe = new Lethe({ url: service.url, key });
  errors = [];
  database = new Database(join(directory, `bot${(files += 1)}.db`));
  database.exec(`CREATE TABLE xp (member_id TEXT, guild_id TEXT, points INTEGER);
    CREATE TABLE profiles (user_id INTEGER PRIMARY KEY, theme TEXT)`);
});
afterEach(() => {
  jest.restoreAllMocks();
  database.close();
  expect(errors).toEqual([]);
});
afterAll(() => rmSync(directory, { recursive: true }));

const holder = (options: Partial<HolderOptions> = {}, client = lethe) =>
  runHolder(client, {
    ...{ key: 'database', label_de: 'Datenbank', label_en: 'Database', timers: NO_TIMERS, privateKey },
    stores: holders.sql(
      database,
      { table: 'xp', user: 'member_id', guild: 'guild_id' },
      { table: 'profiles', user: 'user_id' },
    ),
    onError: (error) => errors.push(error),
    ...options,
  });

/** A user who has consented, with two rows in the bot. */
async function known(who: SubjectIds = subject()): Promise<SubjectIds> {
  await lethe.consents.request({ ...who, ...YES });
  await lethe.consents.accept({ ...who, ...YES });
  database.prepare('INSERT INTO xp VALUES (?, ?, 1)').run(who.user_id, who.guild_id);
  database.prepare('INSERT OR IGNORE INTO profiles VALUES (?, ?)').run(BigInt(who.user_id), 'dark');
  return who;
}

const rowsOf = ({ user_id }: SubjectIds): unknown[] =>
  ['xp WHERE member_id', 'profiles WHERE user_id'].map((where) =>
    database.prepare(`SELECT count(*) FROM ${where} = ?`).pluck().get(user_id),
  );

/** What the evidence of an erasure says about the holders. */
async function coverageOf(id: string): Promise<unknown> {
  return (await lethe.privacy.status(id)).coverage;
}

describe('a bot with a SQLite of its own', () => {
  it('is erased end to end: rows, coverage, and a final certificate with the signature of the bot', async () => {
    await holder().once();
    const [who, other] = [await known(), await known()];
    const { request_id: id, ...erasure } = await lethe.privacy.forget(who);
    expect(await coverageOf(id)).toMatchObject({
      complete: false,
      holders: [{ key: 'database', result: 'pending' }],
    });
    expect(await holder().once()).toEqual({
      answered: 1,
      failed: 0,
      repeated: 0,
      found: { xp: 1, profiles: 1 },
    });
    expect([rowsOf(who), rowsOf(other)]).toEqual([
      [0, 0],
      [1, 1],
    ]);
    expect(await coverageOf(id)).toMatchObject({
      complete: true,
      holders: [{ key: 'database', label_de: 'Datenbank', label_en: 'Database', result: 'erased' }],
    });
    const { certificate } = await lethe.privacy.finalCertificate(id);
    const keys = await lethe.publicKeys();
    const subjectOf = {
      salt: String(erasure.certificate_salt),
      botId: (await lethe.bots.me()).id,
      userId: who.user_id,
    };
    const verified = verifyFinalCertificate(certificate, keys, { ...subjectOf, guildId: who.guild_id });
    expect(verified.holders).toMatchObject([
      {
        key: 'database',
        result: 'erased',
        counts: { xp: 1, profiles: 1 },
        signed_at: expect.any(String) as string,
      },
    ]);
    expect(() =>
      verifyFinalCertificate(certificate, keys, { ...subjectOf, guildId: other.guild_id }),
    ).toThrow();
    expect(await holder().once()).toMatchObject({ answered: 0, repeated: 0 });
    expect(
      database
        .prepare('SELECT list, name, note FROM lethe_holder')
        .all()
        .map((row) => JSON.stringify(row))
        .join(),
    ).not.toContain(who.user_id);
  });

  it('keeps a profile until the last guild is erased', async () => {
    await holder().once();
    const who = await known();
    const elsewhere = await known({ ...who, guild_id: snowflake() });
    await lethe.privacy.forget(who);
    await holder().once();
    expect(rowsOf(who)).toEqual([1, 1]);
    await lethe.privacy.forgetEverywhere({ user_id: elsewhere.user_id });
    await holder().once();
    expect(rowsOf(who)).toEqual([0, 0]);
  });

  it('spares a server of which Lethe keeps a value without a consent, until that server is erased too', async () => {
    await holder().once();
    await lethe.categories.register(BANS);
    const who = subject();
    await lethe.data.submit({ ...who, category: 'bans', data: { nickname: 'Robin' } });
    database.prepare('INSERT INTO xp VALUES (?, ?, 1)').run(who.user_id, who.guild_id);
    database.prepare('INSERT INTO profiles VALUES (?, ?)').run(BigInt(who.user_id), 'dark');
    const { request_id: id } = await lethe.privacy.forget({ ...who, guild_id: BOT_WIDE });
    await holder().once();
    expect(rowsOf(who)).toEqual([1, 1]);
    expect((await lethe.data.values(who)).values).toHaveProperty('bans');
    expect(await coverageOf(id)).toMatchObject({ complete: true, holders: [{ result: 'nothing' }] });
    await lethe.privacy.forgetEverywhere({ user_id: who.user_id });
    await holder().once();
    expect(rowsOf(who)).toEqual([0, 0]);
  });

  it.each([true, false])(
    'is erased in servers of which Lethe knows nothing, by an erasure everywhere (held in another one: %s)',
    async (isHeld) => {
      await holder().once();
      const who = subject();
      if (isHeld) await known(who);
      for (let server = 0; server < 4; server++)
        database.prepare('INSERT INTO xp VALUES (?, ?, 1)').run(who.user_id, snowflake());
      database.prepare('INSERT OR IGNORE INTO profiles VALUES (?, ?)').run(BigInt(who.user_id), 'dark');
      const { requests } = await lethe.privacy.forgetEverywhere({ user_id: who.user_id });
      expect(requests).toHaveLength(isHeld ? 2 : 1);
      await holder().once();
      expect(rowsOf(who)).toEqual([0, 0]);
      for (const { request_id } of requests)
        expect(await coverageOf(request_id)).toMatchObject({ complete: true });
    },
  );

  it('answers with nothing, with kept, and with failed', async () => {
    await holder().once();
    const keeps = { basis: 'Art. 17(3)(b) GDPR', until: '2999-01-01T00:00:00.000Z' };
    const ids = [];
    for (const who of [subject(), await known(), await known()])
      ids.push((await lethe.privacy.forget(who)).request_id);
    const [none = '', keeping = '', failing = ''] = ids;
    const stores = holders.sql(database, { table: 'xp', user: 'member_id', guild: 'guild_id', keeps });
    const third = (await lethe.holders.tasks({ key: 'database' }).toArray()).find(
      ({ task_id }) => task_id === failing,
    );
    const broken = {
      ...{ name: 'broken', erase: async () => undefined },
      count: async ({ user_id }: { user_id: string }) =>
        user_id === third?.user_id ? Promise.reject(new Error('away')) : 0,
    };
    expect(await holder({ stores: [stores, broken] }).once()).toMatchObject({ answered: 2, failed: 1 });
    expect(errors.splice(0).map((error) => (error as Error).message)).toEqual(['broken: away']);
    expect(await coverageOf(none)).toMatchObject({ complete: true, holders: [{ result: 'nothing' }] });
    expect(await coverageOf(keeping)).toMatchObject({
      complete: true,
      holders: [{ result: 'kept', kept: keeps }],
    });
    expect(await coverageOf(failing)).toMatchObject({ complete: false, holders: [{ result: 'failed' }] });
    expect(await holder({ stores }).once()).toMatchObject({ answered: 1 });
    expect(await coverageOf(failing)).toMatchObject({ complete: true });
  });

  it('runs with a key of the scopes read and write once it is declared, and says what to do before', async () => {
    const { api_key: other } = await lethe.keys.create({ scopes: ['read', 'write'] });
    const limited = new Lethe({ url: service.url, key: other });
    await expect(holder({}, limited).once()).rejects.toThrow('lethe holders push');
    await holder().once();
    const who = await known();
    await lethe.privacy.forget(who);
    expect(await holder({}, limited).once()).toMatchObject({ answered: 1 });
    expect(rowsOf(who)).toEqual([0, 0]);
  });

  it('that is killed before or after any call is erased and answered once more', async () => {
    // Of a backoff, which is then no wait.
    jest.spyOn(Math, 'random').mockReturnValue(0);
    await holder().once();
    let deaths = 0;
    for (let fatal = 1, isReached = true; isReached; fatal++) {
      const who = await known();
      const { request_id: id } = await lethe.privacy.forget(who);
      let calls = 0;
      const dying = (async (...given: Parameters<typeof globalThis.fetch>) => {
        if ((calls += 1) >= fatal) throw new TypeError('killed');
        const answer = await fetch(...given);
        if ((calls += 1) >= fatal) throw new TypeError('killed');
        return answer;
      }) as typeof globalThis.fetch;
      const mortal = new Lethe({ url: service.url, key, fetch: dying, retries: 0 });
      await holder({ onError: () => undefined }, mortal)
        .once()
        .catch(() => undefined);
      isReached = calls >= fatal;
      deaths += Number(isReached);
      await holder().once();
      expect({ fatal, rows: rowsOf(who) }).toEqual({ fatal, rows: [0, 0] });
      expect(await coverageOf(id)).toMatchObject({ complete: true, holders: [{ result: 'erased' }] });
    }
    // Before and after: the declaration, two walks, the id of the bot, the guilds of the user, the answer.
    expect(deaths).toBeGreaterThanOrEqual(10);
  });

  it('erases again by itself after its database was restored from a backup', async () => {
    await holder().once();
    const [who, other] = [await known(), await known()];
    const dump = database.serialize();
    const { request_id: id } = await lethe.privacy.forget(who);
    await holder().once();
    database.close();
    database = new Database(dump);
    expect(rowsOf(who)).toEqual([1, 1]);
    expect(await holder().once()).toMatchObject({ answered: 0, repeated: 2 });
    expect([rowsOf(who), rowsOf(other)]).toEqual([
      [0, 0],
      [1, 1],
    ]);
    expect(await coverageOf(id)).toMatchObject({ complete: true });
    expect(await holder().once()).toMatchObject({ repeated: 0 });
  });
});
