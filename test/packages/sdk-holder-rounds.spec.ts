import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteDatabase as Database } from '@app/database';
import { Lethe } from '@lethe/sdk';
import {
  HolderError,
  type HolderOptions,
  holders,
  type Marks,
  runHolder,
  type Store,
  type Who,
} from '@lethe/sdk/holders';
import { FakeHolders } from '../support/fake-holders';
import { BOT_WIDE, snowflake, subject, type SubjectIds } from '../support/snowflakes';

// The loop of a holder, on the routes in memory. test/packages/sdk-holders.spec.ts has the service.

const NO_TIMERS = { set: () => undefined, clear: () => undefined };
const TABLES = [
  { table: 'messages', user: 'author_id', guild: 'guild_id' },
  { table: 'profiles', user: 'user_id' },
] as const;
const YES = { consent_version: '1.0' };

let fake: FakeHolders;
let lethe: Lethe;
let database: InstanceType<typeof Database>;
let errors: unknown[];

beforeEach(async () => {
  // Of a backoff, which is then no wait.
  jest.spyOn(Math, 'random').mockReturnValue(0);
  fake = await new FakeHolders().start();
  lethe = fake.client();
  errors = [];
  database = filled(new Database(':memory:'));
});
afterEach(() => {
  jest.restoreAllMocks();
  database.close();
});

function filled(given: InstanceType<typeof Database>): InstanceType<typeof Database> {
  given.exec(`CREATE TABLE messages (id INTEGER PRIMARY KEY, author_id TEXT, guild_id TEXT, text TEXT);
    CREATE TABLE profiles (user_id INTEGER PRIMARY KEY, theme TEXT)`);
  return given;
}

const stored = (): readonly Store[] => holders.sql(database, ...TABLES);
const holder = (options: Partial<HolderOptions> = {}, client: Lethe = lethe) =>
  runHolder(client, {
    ...{ key: 'database', stores: stored(), timers: NO_TIMERS, onError: (error) => errors.push(error) },
    ...options,
  });

/** A user with two messages in the guild and a profile, who has consented there. */
async function known(who: SubjectIds = subject()): Promise<SubjectIds> {
  await lethe.consents.request({ ...who, ...YES });
  await lethe.consents.accept({ ...who, ...YES });
  write(who);
  return who;
}

function write({ user_id, guild_id }: SubjectIds): void {
  for (const text of ['one', 'two'])
    database
      .prepare('INSERT INTO messages (author_id, guild_id, text) VALUES (?, ?, ?)')
      .run(user_id, guild_id, text);
  database.prepare('INSERT OR REPLACE INTO profiles VALUES (CAST(? AS INTEGER), ?)').run(user_id, 'dark');
}

const count = (table: string, column: string, id: string): number =>
  Number(
    (
      database
        .prepare(`SELECT count(*) AS found FROM ${table} WHERE CAST(${column} AS TEXT) = ?`)
        .get(id) as Found
    ).found,
  );
interface Found {
  readonly found: number;
}
const rowsOf = ({ user_id }: SubjectIds): number[] => [
  count('messages', 'author_id', user_id),
  count('profiles', 'user_id', user_id),
];
/** Holds who awaits it until it is opened. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}
const words = (error: unknown): string => (error as Error).message;

/** All but the clock. */
const TIMERS: FakeTimersConfig['doNotFake'] = [
  ...(['nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
  ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
];

describe('the declaration of a holder', () => {
  it('is made when it is missing, and left alone when it is there', async () => {
    await holder().once();
    await holder().once();
    expect(fake.holders.get('database')).toMatchObject({
      kind: 'pull',
      covers: ['messages', 'profiles'],
      label_de: 'database',
    });
    expect(fake.calls.filter((call) => /^(POST|PUT)/.test(call))).toEqual(
      ['POST /bots/register', 'POST /holders'].slice(1),
    );
  });

  it('is made again where the service has lost it, as by a backup from before the declaration', async () => {
    const loop = holder();
    await loop.once();
    const declared = fake.holders.get('database');
    fake.holders.clear();
    const who = await known();
    fake.refused.set('POST /holders', 403);
    await expect(loop.once()).rejects.toThrow(/not declared.*lacks the scope admin.*lethe holders push/);
    fake.refused.clear();
    await lethe.privacy.forget(who);
    expect(errors).toEqual([]);
    expect(await loop.once()).toMatchObject({ answered: 1, failed: 0 });
    expect(fake.holders.get('database')).toEqual(declared);
    expect(rowsOf(who)).toEqual([0, 0]);
    await loop.once();
    expect(errors.map(words)).toEqual([
      expect.stringMatching(
        /^The holder database was not known to the service.*compare your users with GET \/users/,
      ),
    ]);
    // Any other fault is not about the declaration.
    fake.calls.length = 0;
    fake.refused.set('GET /holders/{key}/tasks', 503);
    await expect(loop.once()).rejects.toMatchObject({ status: 503 });
    expect(new Set(fake.calls)).toEqual(new Set(['GET /holders/{key}/tasks']));
  });

  it('is reported as lost also where another key has made it again', async () => {
    const loop = holder();
    await loop.once();
    const declared = [...fake.holders];
    fake.holders.clear();
    fake.refused.set('POST /holders', 403);
    await expect(loop.once()).rejects.toThrow(/lacks the scope admin/);
    for (const [key, one] of declared) fake.holders.set(key, one);
    await loop.once();
    await loop.once();
    expect(errors.map(words)).toEqual([expect.stringContaining('was not known to the service')]);
  });

  it('is not made by a dry run', async () => {
    await expect(holder({ dryRun: true }).once()).rejects.toThrow(
      'run lethe holders push before, which erases nothing. Lethe answered: No such holder.',
    );
    expect(fake.holders.size).toBe(0);
  });

  it('follows the stores and the key', async () => {
    await holder().once();
    const { privateKey } = generateKeyPairSync('ed25519');
    await holder({ stores: stored().slice(1), label_en: 'Data', privateKey }).once();
    expect(fake.holders.get('database')).toMatchObject({
      ...{
        covers: ['profiles'],
        label_en: 'Data',
        public_key: expect.stringMatching(/^[\w-]{43}$/) as string,
      },
    });
  });

  it('keeps the labels that were declared elsewhere, and changes only those that are given', async () => {
    const declared = { label_de: 'Datenbank des Bots', label_en: 'Database of the bot' };
    await lethe.holders.register({ key: 'database', kind: 'pull', ...declared, covers: ['messages'] });
    await holder().once();
    expect(fake.holders.get('database')).toMatchObject({ ...declared, covers: ['messages', 'profiles'] });
    fake.calls.length = 0;
    await holder().once();
    expect(fake.calls.filter((call) => call.startsWith('PUT'))).toEqual([]);
    await holder({ label_en: 'Data' }).once();
    expect(fake.holders.get('database')).toMatchObject({ ...declared, label_en: 'Data' });
  });

  it('says what to do where the key lacks the scope admin', async () => {
    fake.refused.set('POST /holders', 403);
    await expect(holder().once()).rejects.toThrow(/lacks the scope admin.*lethe holders push/);
  });

  it.each([
    [403, /declared otherwise.*lacks the scope admin.*lethe holders push/],
    [409, /declared otherwise.*The test refuses this call/],
  ])('that may not be changed (%i) is reported once, and its tasks are done', async (status, said) => {
    await holder({ stores: stored().slice(0, 1) }).once();
    fake.refused.set('PUT /holders/{key}', status);
    const who = await known();
    await lethe.privacy.forget(who);
    const loop = holder();
    expect(await loop.once()).toMatchObject({ answered: 1, found: { messages: 2, profiles: 1 } });
    expect(rowsOf(who)).toEqual([0, 0]);
    await loop.once();
    expect(errors.map(words)).toEqual([expect.stringMatching(said)]);
    fake.refused.clear();
    await loop.once();
    expect(fake.holders.get('database')).toMatchObject({ covers: ['messages', 'profiles'] });
  });

  it('by whose public key no answer could be verified erases nothing, so that no count is lost', async () => {
    await holder().once();
    fake.refused.set('PUT /holders/{key}', 403);
    const who = await known();
    await lethe.privacy.forget(who);
    const { privateKey } = generateKeyPairSync('ed25519');
    await expect(holder({ privateKey }).once()).rejects.toThrow(/another public key.*lacks the scope admin/);
    expect(rowsOf(who)).toEqual([2, 1]);
    fake.refused.clear();
    expect(await holder({ privateKey }).once()).toMatchObject({ found: { messages: 2, profiles: 1 } });
  });

  it('that the service does not answer for ends the round', async () => {
    await holder().once();
    fake.refused.set('PUT /holders/{key}', 503);
    await expect(holder({ label_en: 'Data' }).once()).rejects.toThrow('The test refuses this call');
  });

  it('is left to the process that was faster', async () => {
    const slow = fake.client((async (address: string, init: RequestInit) => {
      if (init.method === 'POST' && !fake.holders.has('database')) await holder().once();
      return fake.fetch(address, init);
    }) as typeof globalThis.fetch);
    expect(await holder({}, slow).once()).toMatchObject({ answered: 0 });
  });

  it.each([
    ['no store', { stores: [] }],
    [
      'a store without a name',
      { stores: [{ name: '', count: async () => 0, erase: async () => undefined }] },
    ],
    ['two stores of one name', { stores: [...stored0(), ...stored0()] }],
    ['a key of another kind', { privateKey: 'secret text' }],
    ...[
      ...['never', '01.12.2026', '2027-02-30', 'in 2001', '2032-01-01T00:00', '+010000-01-01', ''],
      ...[new Date(NaN), new Date(Date.UTC(10_000, 0, 1))],
    ].map((until): [string, Partial<HolderOptions>] => [
      `a basis with ${String(until)} as its end`,
      { stores: [{ ...stored0()[0]!, keeps: { basis: 'law', until } }] },
    ]),
    ['a pause of no time', { everySeconds: 0 }],
  ] satisfies [string, Partial<HolderOptions>][])(
    'is refused with %s, without its secret',
    (_name, options) => {
      expect(() => holder(options)).toThrow(/must|has|called|needs/);
      expect(() => holder(options)).not.toThrow('secret text');
    },
  );
});

/** A store in memory. */
function stored0(): Store[] {
  return [{ name: 'memory', count: async () => 0, erase: async () => undefined }];
}

describe('a task', () => {
  it('is answered with what was found: only of this user, and only in this guild', async () => {
    const [who, other] = [await known(), await known()];
    const elsewhere = { ...who, guild_id: snowflake() };
    write(elsewhere);
    await lethe.privacy.forget(who);
    const round = await holder().once();
    expect(round).toEqual({ answered: 1, failed: 0, repeated: 0, found: { messages: 2, profiles: 1 } });
    expect(fake.tasks[0]?.answers).toEqual([{ result: 'erased', counts: { messages: 2, profiles: 1 } }]);
    expect([rowsOf(who), rowsOf(other)]).toEqual([
      [2, 0],
      [2, 1],
    ]);
    expect(count('messages', 'guild_id', elsewhere.guild_id)).toBe(2);
    expect(errors).toEqual([]);
  });

  it('about a user without rows is answered with nothing', async () => {
    const who = subject();
    await lethe.consents.request({ ...who, ...YES });
    await lethe.privacy.forget(who);
    await holder().once();
    expect(fake.tasks[0]?.answers).toEqual([{ result: 'nothing', counts: { messages: 0, profiles: 0 } }]);
  });

  it('is one of many pages, each answered once', async () => {
    for (let at = 0; at < 5; at++) await lethe.privacy.forget(await known());
    const loop = holder();
    expect(await loop.once()).toMatchObject({ answered: 5 });
    expect(await loop.once()).toMatchObject({ answered: 0 });
    expect(fake.tasks.map(({ answers }) => answers.length)).toEqual([1, 1, 1, 1, 1]);
  });

  it('leaves a table without a guild while a consent is in force in another guild, and erases it with the last', async () => {
    const who = await known();
    const elsewhere = await known({ ...who, guild_id: snowflake() });
    await lethe.privacy.forget(who);
    await holder().once();
    expect(rowsOf(who)).toEqual([2, 1]);
    expect(fake.tasks[0]?.answers).toEqual([{ result: 'erased', counts: { messages: 2 } }]);
    await lethe.privacy.forget(elsewhere);
    await holder().once();
    expect(rowsOf(who)).toEqual([0, 0]);
  });

  it('erases of a store with both the names of the guild alone, and the others with the last consent', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lethe-mixed-'));
    const who = await known();
    const elsewhere = await known({ ...who, guild_id: snowflake() });
    const nameOf = ({ user_id, guild_id }: Who) => [`${guild_id}-${user_id}.txt`, `${user_id}.png`];
    for (const name of [...nameOf(who), ...nameOf(elsewhere)]) writeFileSync(join(folder, name), 'x');
    const stores = [holders.files(folder, nameOf, { name: 'files' })];
    const left = () =>
      readdirSync(folder)
        .filter((name) => !name.startsWith('.'))
        .sort();
    await lethe.privacy.forget(who);
    await holder({ stores }).once();
    expect(left()).toEqual(nameOf(elsewhere).sort());
    expect(fake.tasks[0]?.answers).toEqual([{ result: 'erased', counts: { files: 1 } }]);
    for (const name of nameOf(who)) writeFileSync(join(folder, name), 'x');
    // As after a restore: nothing is known of the erasure.
    rmSync(join(folder, '.lethe-holder'), { recursive: true });
    await holder({ stores }).once();
    expect(left()).toEqual(nameOf(elsewhere).sort());
    await lethe.privacy.forget(elsewhere);
    await holder({ stores }).once();
    expect(left()).toEqual([]);
    expect(fake.tasks[1]?.answers).toEqual([{ result: 'erased', counts: { files: 2 } }]);
    rmSync(folder, { recursive: true });
  });

  it('fails in every round where the folder of files is missing, which the holder does not make', async () => {
    const top = mkdtempSync(join(tmpdir(), 'lethe-missing-'));
    const who = await known();
    const elsewhere = await known({ ...who, guild_id: snowflake() });
    const names = [
      ({ user_id, guild_id }: Who) => `${guild_id}-${user_id}.txt`,
      ({ user_id }: Who) => `${user_id}.png`,
    ];
    const stores = names.map((nameOf, at) => holders.files(join(top, 'avtars'), nameOf, { name: `${at}` }));
    await lethe.privacy.forget(who);
    await lethe.privacy.forget(await known());
    const loop = holder({ stores });
    for (let round = 0; round < 2; round++) {
      await loop.once();
      await holder({ stores }).once();
      expect(readdirSync(top)).toEqual([]);
    }
    expect(fake.tasks.map(({ result }) => result)).toEqual(['failed', 'failed']);
    expect(errors.map(words)).toContainEqual(expect.stringMatching(/^0: ENOENT/));
    // The disk is mounted: it is done after all.
    mkdirSync(join(top, 'avtars'));
    writeFileSync(join(top, 'avtars', names[0]!(who)), 'x');
    await holder({ stores }).once();
    expect(fake.tasks.map(({ result }) => result)).toEqual(['erased', 'nothing']);
    expect((await lethe.consents.status(elsewhere)).status).toBe('accepted');
    rmSync(top, { recursive: true });
  });

  it('of the bot-wide scope erases what has no guild, and leaves the guild whose consent is in force', async () => {
    const who = await known();
    const botWide = await known({ ...who, guild_id: BOT_WIDE });
    const insert = database.prepare('INSERT INTO messages (author_id, guild_id) VALUES (?, NULL)');
    insert.run(who.user_id);
    const other = fake.asks(who);
    await lethe.privacy.forget(botWide);
    await holder().once();
    expect(other.answers[0]?.data?.['messages']).toHaveLength(2);
    expect(fake.tasks[1]?.answers).toEqual([{ result: 'erased', counts: { messages: 3 } }]);
    expect(rowsOf(who)).toEqual([2, 1]);
    insert.run(who.user_id);
    await lethe.privacy.forget(await known({ ...who, guild_id: BOT_WIDE }));
    await lethe.privacy.forget(await known({ ...who, guild_id: snowflake() }));
    const keeps = { basis: 'Art. 17(3)(b) GDPR', until: '2999-01-01' };
    await holder({ stores: stored().map((store) => ({ ...store, keeps })) }).once();
    expect(fake.tasks.slice(2).map(({ answers }) => answers[0]?.counts)).toEqual([
      { messages: 3 },
      { messages: 2 },
    ]);
  });

  it('erases a table without a guild though another guild was only asked, or has withdrawn', async () => {
    const who = await known();
    const withdrawn = await known({ ...who, guild_id: snowflake() });
    await lethe.consents.revoke(withdrawn);
    await lethe.consents.request({ ...who, guild_id: snowflake(), ...YES });
    await lethe.privacy.forget(who);
    await holder().once();
    expect(count('profiles', 'user_id', who.user_id)).toBe(0);
  });

  it('is answered with kept and its basis, and the other stores are erased', async () => {
    const [messages, profiles] = stored() as [Store, Store];
    const keeps = { basis: 'Art. 17(3)(b) GDPR', until: new Date(Date.UTC(2999, 0, 1)) };
    const who = await known();
    await lethe.privacy.forget(who);
    await holder({ stores: [{ ...messages, keeps }, profiles] }).once();
    const kept = { basis: keeps.basis, until: '2999-01-01T00:00:00.000Z' };
    expect(fake.tasks[0]?.answers).toEqual([{ result: 'kept', counts: { messages: 2, profiles: 1 }, kept }]);
    expect(rowsOf(who)).toEqual([2, 0]);
  });

  it.each([true, false])(
    'fails where what is kept was erased with another table by its cascade (listed first: %s)',
    async (isFirst) => {
      database.exec(`PRAGMA foreign_keys = ON;
        CREATE TABLE invoices (user_id INTEGER REFERENCES profiles ON DELETE CASCADE)`);
      const who = await known();
      database.prepare('INSERT INTO invoices VALUES (?)').run(BigInt(who.user_id));
      const keeps = { basis: 'Art. 17(3)(b) GDPR', until: '2999-01-01' };
      const invoices = holders.sql(database, { table: 'invoices', user: 'user_id', keeps });
      const stores = isFirst ? [...invoices, ...stored()] : [...stored(), ...invoices];
      await lethe.privacy.forget(who);
      const loop = holder({ stores });
      await loop.once();
      const counts = { invoices: 0, messages: 2, profiles: 1 };
      expect(fake.tasks[0]?.answers).toEqual([{ result: 'failed', counts }]);
      expect(errors.map(words)).toEqual([
        expect.stringMatching(/^invoices: Only 0 of 1 kept rows are left.*ON DELETE CASCADE/),
      ]);
      await loop.once();
      await loop.once();
      expect(fake.tasks[0]?.answers[1]).toEqual({ result: 'erased', counts });
    },
  );

  it.each([
    [196, 2],
    [197, 1],
    [198, 0],
  ])(
    'is answered with as many whole characters of the bases as the service takes (%i of one unit)',
    async (units, cakes) => {
      const [messages, profiles] = stored() as [Store, Store];
      const keeps = (basis: string) => ({ keeps: { basis, until: '2999-01-01' } });
      await lethe.privacy.forget(await known());
      const stores = [
        { ...messages, ...keeps('x'.repeat(units)) },
        { ...profiles, ...keeps('🎂🎂') },
      ];
      await holder({ stores }).once();
      const { basis } = fake.tasks[0]?.answers[0]?.kept ?? {};
      expect(basis).toBe(`${'x'.repeat(units)}; ${'🎂'.repeat(cakes)}`);
    },
  );

  it('is answered with kept by a store that is written as a class, whose accessors are on its prototype', async () => {
    class Messages implements Store {
      private readonly inner = stored()[0]!;
      readonly name = 'messages';
      get keeps() {
        return { basis: 'Art. 17(3)(b) GDPR', until: '2999-01-01' };
      }
      get everywhere() {
        return this.inner.everywhere!;
      }
      get marks() {
        return this.inner.marks!;
      }
      count(given: Who) {
        return this.inner.count(given);
      }
      erase(given: Who) {
        return this.inner.erase(given);
      }
    }
    const who = await known();
    await lethe.privacy.forget(who);
    await holder({ stores: [new Messages()] }).once();
    expect(fake.tasks[0]?.answers).toMatchObject([{ result: 'kept', counts: { messages: 2 } }]);
    expect(rowsOf(who)).toEqual([2, 1]);
  });

  it('leaves a store that is written as a class and belongs to the user everywhere, while another consent is in force', async () => {
    class Profiles {
      readonly name = 'profiles';
      get everywhere() {
        return true;
      }
      count = async () => 1;
      erase = async () => Promise.reject(new Error('never'));
    }
    const who = await known();
    await known({ ...who, guild_id: snowflake() });
    await lethe.privacy.forget(who);
    await holder({ stores: [new Profiles()] }).once();
    expect(fake.tasks[0]?.answers).toEqual([{ result: 'nothing', counts: {} }]);
  });

  it('that was answered with kept is no reason to erase what the user gave since, once the time is over', async () => {
    const kept = (until: string) => [{ ...stored()[0]!, keeps: { basis: 'Art. 17(3)(b) GDPR', until } }];
    const who = await known();
    await lethe.privacy.forget(who);
    await holder({ stores: kept('2999-01-01') }).once();
    await known(who);
    expect(await holder({ stores: kept('2020-01-01') }).once()).toMatchObject({ repeated: 0 });
    expect(rowsOf(who)).toEqual([4, 1]);
  });

  it.each([
    ['spares what the user gave since', true, 0, [4, 1]],
    ['erases what was kept of a user who is not back', false, 1, [0, 1]],
  ])(
    'that a version without notes answered with kept %s, once the time is over',
    async (_name, isBack, repeated, rows) => {
      const kept = (until: string) => [{ ...stored()[0]!, keeps: { basis: 'Art. 17(3)(b) GDPR', until } }];
      const who = await known();
      await lethe.privacy.forget(who);
      await holder({ stores: kept('2999-01-01') }).once();
      database.exec("DELETE FROM lethe_holder WHERE name <> 'since'");
      if (isBack) await known(who);
      expect(await holder({ stores: kept('2020-01-01') }).once()).toMatchObject({ repeated });
      expect(rowsOf(who)).toEqual(rows);
      if (isBack) await lethe.consents.revoke(who);
      expect(await holder({ stores: kept('2020-01-01') }).once()).toMatchObject({ repeated: 0 });
    },
  );

  it('is answered with kept also where the bot may only read, and the notes that are missing are reported', async () => {
    const [messages, profiles] = stored() as [Store, Store];
    const keeps = { basis: 'Art. 17(3)(b) GDPR', until: '2999-01-01' };
    const put = { put: () => Promise.reject(new Error('a read-only database')) };
    const marks = Object.assign(Object.create(messages.marks!) as Marks, put);
    const who = await known();
    await lethe.privacy.forget(who);
    const stores = [{ ...messages, keeps, marks }, profiles];
    expect(await holder({ stores }).once()).toMatchObject({ answered: 1 });
    expect(fake.tasks[0]?.answers).toMatchObject([{ result: 'kept', counts: { messages: 2, profiles: 1 } }]);
    expect(errors.map(words)).toContain('messages: a read-only database');
    expect(rowsOf(who)).toEqual([2, 0]);
    // The notes of the other store move on.
    expect(database.prepare("SELECT list FROM lethe_holder WHERE name = 'since'").all()).toEqual([
      { list: 'database/profiles' },
    ]);
  });

  it('erases what is kept once the time is over', async () => {
    const keeps = { basis: 'Art. 17(3)(b) GDPR', until: '2020-01-01' };
    const who = await known();
    await lethe.privacy.forget(who);
    await holder({ stores: stored().map((store) => ({ ...store, keeps })) }).once();
    expect(rowsOf(who)).toEqual([0, 0]);
  });

  it('is signed: the JWS has the answer, and no id of a user', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const who = await known();
    await lethe.privacy.forget(who);
    const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    await holder({ privateKey: pem }).once();
    const [answer] = fake.tasks[0]?.answers ?? [];
    const [head, payload] = (answer?.statement ?? '')
      .split('.')
      .map((part) => Buffer.from(part, 'base64url'));
    expect(JSON.parse(String(head))).toEqual({ alg: 'EdDSA', typ: 'lethe-holder-answer+jwt' });
    expect(JSON.parse(String(payload))).toEqual({
      ...{ bot_id: fake.botId, holder: 'database', task_id: fake.tasks[0]?.task_id, result: 'erased' },
      ...{ counts: { messages: 2, profiles: 1 }, kept: null, at: expect.stringMatching(/Z$/) as string },
    });
    expect(String(payload)).not.toContain(who.user_id);
  });

  it('that another process has answered, or that has ended, is no error', async () => {
    const [one, other] = [await known(), await known()];
    await lethe.privacy.forget(one);
    await lethe.privacy.forget(other);
    const [first, second] = fake.tasks;
    const racing = fake.client((async (address: string, init: RequestInit) => {
      if (address.endsWith('/acknowledge')) {
        if (first !== undefined) first.result = 'kept';
        fake.tasks.splice(fake.tasks.indexOf(second!), 1);
      }
      return fake.fetch(address, init);
    }) as typeof globalThis.fetch);
    expect(await holder({}, racing).once()).toMatchObject({ answered: 2, failed: 0 });
    expect(errors).toEqual([]);
  });

  it('that two processes do at once is answered with what the first one found', async () => {
    await lethe.privacy.forget(await known());
    const [erasing, answering] = [gate(), gate()];
    const isAnswer = (address: string) => address.endsWith('/acknowledge');
    const first = fake.client((async (address: string, init: RequestInit) => {
      if (isAnswer(address)) {
        erasing.open();
        await answering.opened;
      }
      return fake.fetch(address, init);
    }) as typeof globalThis.fetch);
    const second = fake.client((async (address: string, init: RequestInit) => {
      const answer = await fake.fetch(address, init);
      if (isAnswer(address)) answering.open();
      return answer;
    }) as typeof globalThis.fetch);
    // It has the task, and looks when the first process has erased.
    const stores = stored().map((store): Store => ({
      ...store,
      count: (who) => erasing.opened.then(() => store.count(who)),
    }));
    const rounds = await Promise.all([holder({}, first).once(), holder({ stores }, second).once()]);
    expect(rounds).toMatchObject([{ answered: 1 }, { answered: 1 }]);
    const answer = { result: 'erased', counts: { messages: 2, profiles: 1 } };
    expect(fake.tasks[0]?.answers).toEqual([answer, answer]);
  });

  it('that a process without one of the stores has answered is done in this store with the next one', async () => {
    const [own, other] = [holder(), holder({ stores: stored().slice(1) })];
    await own.once();
    const who = await known();
    await lethe.privacy.forget(who);
    await other.once();
    expect(rowsOf(who)).toEqual([2, 0]);
    await lethe.privacy.forget(await known());
    fake.tasks[1]!.created_at = '2026-01-01T02:00:00.000Z';
    const round = { answered: 1, failed: 0, found: { messages: 2, profiles: 1 } };
    expect(await own.once()).toEqual({ ...round, repeated: 1 });
    expect(rowsOf(who)).toEqual([0, 0]);
    expect(fake.tasks.map(({ answers }) => answers.length)).toEqual([1, 1]);
    // The user comes back.
    write(who);
    const calls = fake.calls.length;
    expect(await own.once()).toMatchObject({ answered: 0, repeated: 0 });
    expect(fake.calls.slice(calls)).toEqual(['GET /holders/{key}/tasks']);
    expect(await holder().once()).toMatchObject({ answered: 0, repeated: 0 });
    expect([rowsOf(who), errors]).toEqual([[2, 1], []]);
  });

  it('whose ids the service has lost holds up neither the notes nor what another process has answered', async () => {
    await lethe.privacy.forget(await known());
    Object.assign(fake.tasks[0]!, { user_id: '0'.repeat(20), guild_id: '0'.repeat(20) });
    const own = holder();
    await own.once();
    const who = await known();
    await lethe.privacy.forget(who);
    fake.tasks[1]!.created_at = '2026-01-01T02:00:00.000Z';
    await holder({ stores: stored().slice(1) }).once();
    await lethe.privacy.forget(await known());
    fake.tasks[2]!.created_at = '2026-01-01T04:00:00.000Z';
    expect(await own.once()).toMatchObject({ answered: 1, failed: 1, repeated: 1 });
    expect(rowsOf(who)).toEqual([0, 0]);
    const since = database.prepare("SELECT DISTINCT note FROM lethe_holder WHERE name = 'since'").all();
    expect(since).toEqual([{ note: '2026-01-01T04:00:00.000Z' }]);
  });

  it('that such a process answers while this one begins is done here too', async () => {
    const other = holder({ stores: stored().slice(1) });
    await holder().once();
    const who = await known();
    await lethe.privacy.forget(who);
    let isListed = false;
    const client = fake.client((async (address: string, init: RequestInit) => {
      const answer = await fake.fetch(address, init);
      if (isListed || !address.includes('/tasks')) return answer;
      isListed = true;
      await other.once();
      await lethe.privacy.forget(await known());
      fake.tasks[1]!.created_at = '2026-01-01T02:00:00.000Z';
      return answer;
    }) as typeof globalThis.fetch);
    expect(await holder({}, client).once()).toMatchObject({ answered: 1, repeated: 1 });
    expect(rowsOf(who)).toEqual([0, 0]);
  });

  it('that failed here, and that a process without this store has answered, is done here', async () => {
    const who = await known();
    let fails = true;
    const stores = stored().map((store): Store => ({
      ...store,
      count: async (about) => {
        if (fails && store.name === 'messages') throw new Error('away');
        return store.count(about);
      },
    }));
    const own = holder({ stores });
    await own.once();
    await lethe.privacy.forget(who);
    await lethe.privacy.forget(await known());
    fake.tasks[1]!.created_at = '2026-01-01T02:00:00.000Z';
    expect(await own.once()).toMatchObject({ failed: 2 });
    await holder({ stores: stored().slice(1) }).once();
    expect(rowsOf(who)).toEqual([2, 0]);
    fails = false;
    await lethe.privacy.forget(await known());
    fake.tasks[2]!.created_at = '2026-01-01T04:00:00.000Z';
    expect(await own.once()).toMatchObject({ answered: 1, repeated: 2 });
    expect(rowsOf(who)).toEqual([0, 0]);
  });

  it('that a process began which ended is answered by another one with what the first one found', async () => {
    const other = holder();
    await other.once();
    await lethe.privacy.forget(await known());
    fake.refused.set('POST /holders/{key}/tasks/{id}/acknowledge', 503);
    await expect(holder().once()).rejects.toMatchObject({ status: 503 });
    fake.refused.clear();
    await other.once();
    expect(fake.tasks[0]?.answers).toEqual([{ result: 'erased', counts: { messages: 2, profiles: 1 } }]);
  });

  it('of the bot-wide scope means every guild, unless a consent is in force in one', async () => {
    const who = await known({ ...subject(), guild_id: BOT_WIDE });
    const inGuild = await known({ ...who, guild_id: snowflake() });
    await lethe.privacy.forget(who);
    await holder().once();
    expect(rowsOf(who)).toEqual([2, 1]);
    const other = await known({ ...subject(), guild_id: BOT_WIDE });
    write({ ...other, guild_id: inGuild.guild_id });
    await lethe.privacy.forget(other);
    await holder().once();
    expect(fake.tasks[1]?.answers).toEqual([{ result: 'erased', counts: { messages: 4, profiles: 1 } }]);
    expect([rowsOf(other), rowsOf(who)]).toEqual([
      [0, 0],
      [2, 1],
    ]);
  });

  it.each([
    ['has only asked', async (guild: SubjectIds) => lethe.consents.request({ ...guild, ...YES })],
    ['has a withdrawn consent', async (guild: SubjectIds) => lethe.consents.revoke(await known(guild))],
  ])('of the bot-wide scope leaves the rows of guilds while one %s', async (_name, holdsIn) => {
    const who = await known({ ...subject(), guild_id: BOT_WIDE });
    const elsewhere = { ...who, guild_id: snowflake() };
    write(elsewhere);
    const made = await holdsIn({ ...who, guild_id: snowflake() }).then(() => rowsOf(who)[0]!);
    await lethe.privacy.forget(who);
    await holder().once();
    // What belongs to the user everywhere is erased: no guild has a reason to keep it.
    expect(rowsOf(who)).toEqual([made - 2, 0]);
    expect(count('messages', 'guild_id', elsewhere.guild_id)).toBe(2);
  });

  it('whose ids the service has lost is no erasure', async () => {
    await lethe.privacy.forget(await known());
    Object.assign(fake.tasks[0]!, { user_id: '0'.repeat(20), guild_id: '0'.repeat(20) });
    expect(await holder().once()).toMatchObject({ failed: 1 });
    expect(fake.tasks[0]?.result).toBe('failed');
    expect(errors.map(words)[0]).toContain('lost the ids');
  });

  it.each([{ user_id: '../*' }, { guild_id: '*' }, { task_id: '../../../outside' }])(
    'of a service that answers %p reaches no store',
    async (wrong) => {
      const called: string[] = [];
      const mark = async (): Promise<never> => Promise.reject(new Error(called.push('note') + ' notes'));
      const store: Store = {
        name: 'cache',
        count: async () => called.push('count'),
        erase: async () => void called.push('erase'),
        marks: {
          all: async () => new Map(),
          get: async () => undefined,
          put: mark,
          remove: async () => undefined,
        },
      };
      await lethe.privacy.forget(await known());
      Object.assign(fake.tasks[0]!, wrong);
      await holder({ stores: [store] })
        .once()
        .catch(() => undefined);
      Object.assign(fake.tasks[0]!, { result: 'erased' });
      await holder({ stores: [store] })
        .once()
        .catch(() => undefined);
      expect(called.filter((call) => call !== 'note')).toEqual([]);
      expect(errors.map(words)[0]).toMatch(/no answer of Lethe/);
    },
  );
});

describe('a store that fails', () => {
  it('is answered with failed, keeps no other store and no other task, and is reported without ids', async () => {
    const [one, other] = [await known(), await known()];
    await lethe.privacy.forget(one);
    await lethe.privacy.forget(other);
    const broken: Store = {
      name: 'broken',
      count: async ({ user_id }) => {
        if (user_id === one.user_id)
          throw Object.assign(new Error(`no user ${user_id} here`), { code: '42P01' });
        return 0;
      },
      erase: async () => undefined,
    };
    const round = await holder({ stores: [broken, ...stored()] }).once();
    expect(round).toMatchObject({ answered: 1, failed: 1 });
    expect(fake.tasks.map(({ answers }) => answers)).toEqual([
      [{ result: 'failed', counts: { messages: 2, profiles: 1 } }],
      [{ result: 'erased', counts: { broken: 0, messages: 2, profiles: 1 } }],
    ]);
    expect([rowsOf(one), rowsOf(other)]).toEqual([
      [0, 0],
      [0, 0],
    ]);
    const [error] = errors as [HolderError];
    expect(error).toBeInstanceOf(HolderError);
    expect({ ...error, message: error.message }).toMatchObject({
      ...{
        message: 'broken: no user … here',
        store: 'broken',
        code: '42P01',
        task_id: fake.tasks[0]?.task_id,
      },
    });
  });

  it('by erasing nothing is found by the second look', async () => {
    const [messages] = stored() as [Store];
    await lethe.privacy.forget(await known());
    await holder({ stores: [{ ...messages, erase: async () => undefined }] }).once();
    expect(fake.tasks[0]?.answers).toEqual([{ result: 'failed', counts: {} }]);
    expect(errors.map(words)).toEqual(['messages: The second look still finds 2 of 2.']);
  });

  it('by no number of rows is no erasure', async () => {
    await lethe.privacy.forget(await known());
    await holder({ stores: [{ ...stored0()[0]!, count: async () => undefined as never }] }).once();
    expect(fake.tasks[0]?.result).toBe('failed');
  });

  it('by never answering holds no other store, no other task and no end of the loop', async () => {
    const [one, other] = [await known(), await known()];
    await lethe.privacy.forget(one);
    await lethe.privacy.forget(other);
    const never = new Promise<never>(() => undefined);
    const silent: Store = {
      name: 'silent',
      count: ({ user_id }) => (user_id === one.user_id ? never : Promise.resolve(0)),
      erase: async () => undefined,
    };
    const loop = holder({ stores: [silent, ...stored()], storeTimeoutSeconds: 1 });
    expect(await loop.once()).toMatchObject({ answered: 1, failed: 1 });
    expect(errors.map(words)).toEqual(['silent: The store has not answered within 1 seconds.']);
    expect([rowsOf(one), rowsOf(other)].flat()).toEqual([0, 0, 0, 0]);
    const ending = holder({ stores: [silent], storeTimeoutSeconds: 1 });
    const round = ending.once().catch((error: Error) => error.name);
    await ending.stop();
    expect(await round).toBe('AbortError');
  });

  it('is tried again after one, three, seven rounds, and then erased', async () => {
    let tries = 0;
    const broken: Store = {
      name: 'broken',
      count: async () => {
        tries += 1;
        if (tries < 4) throw new Error('database is gone');
        return 0;
      },
      erase: async () => undefined,
    };
    await lethe.privacy.forget(await known());
    const loop = holder({ stores: [broken] });
    const triesAfter: number[] = [];
    for (let round = 0; round < 15; round++) {
      await loop.once();
      triesAfter.push(tries);
    }
    expect(triesAfter).toEqual([1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 4]);
    expect(fake.tasks[0]?.answers.map(({ result }) => result)).toEqual([
      'failed',
      'failed',
      'failed',
      'nothing',
    ]);
  });

  it.each([
    ['spares what the user gave since in the others, which are done', true, [2, 1]],
    ['erases again in the others what came since of a user who is not back', false, [0, 0]],
  ])('%s, and answers what the first attempt found', async (_name, isBack, rows) => {
    const broken: Store = { ...stored0()[0]!, count: async () => Promise.reject(new Error('away')) };
    const who = await known();
    await lethe.privacy.forget(who);
    await holder({ stores: [...stored(), broken] }).once();
    if (isBack) await known(who);
    else write(who);
    const dry = { task_id: fake.tasks[0]?.task_id, act: 'erase', result: 'failed', dryRun: true };
    const seen: unknown[] = [];
    const onTask = (task: unknown): unknown => seen.push(task);
    await holder({ stores: [...stored(), broken], dryRun: true, onTask }).once();
    const counts = { messages: 2, profiles: 1 };
    expect(seen).toEqual([{ ...dry, counts }]);
    for (let start = 0; start < 2; start++) await holder({ stores: [...stored(), broken] }).once();
    expect(rowsOf(who)).toEqual(rows);
    expect(await holder({ stores: [...stored(), ...stored0()] }).once()).toMatchObject({ answered: 1 });
    expect(fake.tasks[0]?.answers.at(-1)).toEqual({ result: 'erased', counts: { ...counts, memory: 0 } });
    expect(rowsOf(who)).toEqual(rows);
  });

  const away: Store = {
    ...stored0()[0]!,
    name: 'away',
    count: async () => Promise.reject(new Error('away')),
  };

  it('does not spare in a store that was only kept what was there before', async () => {
    const kept = (year: number): Store[] =>
      stored().map((store) => ({ ...store, keeps: { basis: 'law', until: `${year}-01-01` } }));
    const who = await known();
    await lethe.privacy.forget(who);
    await holder({ stores: [...kept(2999), away] }).once();
    await known(who);
    await holder({ stores: [...kept(2020), away] }).once();
    expect(rowsOf(who)).toEqual([0, 0]);
    expect(fake.tasks[0]?.answers.at(-1)?.counts).toEqual({ messages: 4, profiles: 1 });
    // Now they are erased, and what is given since is spared.
    write(who);
    await holder({ stores: [...kept(2020), away] }).once();
    expect(rowsOf(who)).toEqual([2, 1]);
  });

  it('spares what is given after an erasure that found nothing in a store that was kept before', async () => {
    const [messages] = stored() as [Store];
    const who = await known();
    database.exec('DELETE FROM messages');
    await lethe.privacy.forget(who);
    const kept = (year: number) => [{ ...messages, keeps: { basis: 'law', until: `${year}-01-01` } }, away];
    await holder({ stores: kept(2999) }).once();
    await holder({ stores: kept(2020) }).once();
    await known(who);
    await holder({ stores: kept(2020) }).once();
    expect(rowsOf(who)[0]).toBe(2);
  });

  it('does not spare what a restore has brought back while the bot ran', async () => {
    const who = await known();
    await lethe.privacy.forget(who);
    const loop = holder({ stores: [...stored(), away] });
    await loop.once();
    expect(rowsOf(who)).toEqual([0, 0]);
    // A backup from before the erasure has its rows, and not its notes.
    database.exec('DELETE FROM lethe_holder');
    await known(who);
    // The next round waits, and the one after it tries again.
    for (let round = 0; round < 2; round++) await loop.once();
    expect(rowsOf(who)).toEqual([0, 0]);
  });

  it('is a refusal of the service for one task alone', async () => {
    await lethe.privacy.forget(await known());
    await holder().once();
    await lethe.privacy.forget(await known());
    fake.refused.set(`POST /holders/{key}/tasks/{id}/acknowledge`, 400);
    expect(await holder().once()).toMatchObject({ answered: 0, failed: 1 });
    expect(errors).toHaveLength(1);
  });

  it('is none where the service does not say where else the user has consented: the round ends', async () => {
    await lethe.privacy.forget(await known());
    const loop = holder();
    fake.refused.set('GET /users', 503);
    await expect(loop.once()).rejects.toMatchObject({ status: 503 });
    fake.refused.clear();
    expect(await loop.once()).toMatchObject({ answered: 1, failed: 0 });
    expect(fake.tasks[0]?.answers).toEqual([{ result: 'erased', counts: { messages: 2, profiles: 1 } }]);
    expect(errors).toEqual([]);
  });

  it('at a start is none where the service does not say where else the user has consented: the round ends', async () => {
    const who = await known();
    await lethe.privacy.forget(who);
    await holder({ stores: stored().slice(1) }).once();
    write(who);
    const loop = holder();
    fake.refused.set('GET /users', 503);
    await expect(loop.once()).rejects.toMatchObject({ status: 503 });
    fake.refused.clear();
    expect(await loop.once()).toMatchObject({ repeated: 1 });
    expect([rowsOf(who), errors]).toEqual([[0, 1], []]);
  });

  it('is none where the service limits a call: it waits, and leaves requests for the users from then on', async () => {
    for (let at = 0; at < 5; at++) await lethe.privacy.forget(await known());
    let answers = 0;
    const limiting = fake.client((async (address: string, init: RequestInit) => {
      if (!address.endsWith('/acknowledge') || ++answers !== 3) return fake.fetch(address, init);
      const error = { code: 'rate_limit_exceeded', message: 'slow' };
      return Response.json({ success: false, error }, { status: 429, headers: { 'retry-after': '59' } });
    }) as typeof globalThis.fetch);
    const waits: number[] = [];
    const { setTimeout: set } = globalThis;
    jest.spyOn(globalThis, 'setTimeout').mockImplementation((run: () => void, ms = 0) => {
      const seconds = Math.floor(ms / 1000);
      // The others limit the time of a call or of a store.
      const isWait = [59, 5].includes(seconds);
      if (isWait) waits.push(seconds);
      return set(run, isWait ? 0 : ms);
    });
    const loop = holder({ stores: stored().slice(0, 1) }, limiting);
    expect(await loop.once()).toMatchObject({ answered: 5 });
    await lethe.privacy.forget(await known());
    // A new round knows of no limit.
    expect(await loop.once()).toMatchObject({ answered: 1 });
    expect(waits).toEqual([59, 5, 5]);
    expect(errors).toEqual([]);
  });

  it('ends the round where it is the service, and the next one does the rest', async () => {
    await lethe.privacy.forget(await known());
    const loop = holder();
    fake.refused.set(`POST /holders/{key}/tasks/{id}/acknowledge`, 503);
    await expect(loop.once()).rejects.toMatchObject({ status: 503 });
    fake.refused.clear();
    expect(await loop.once()).toMatchObject({ answered: 1 });
    expect(fake.tasks[0]?.answers).toEqual([{ result: 'erased', counts: { messages: 2, profiles: 1 } }]);
  });
});

describe('a bot that is killed', () => {
  it('before or after any step erases again without harm, and answers as if nothing had happened', async () => {
    let steps = 0;
    for (let fatal = 1; ; fatal++) {
      database.exec('DELETE FROM messages; DELETE FROM profiles; DROP TABLE IF EXISTS lethe_holder');
      fake = await new FakeHolders().start();
      lethe = fake.client();
      const [who, other] = [await known(), await known()];
      await lethe.privacy.forget(who);
      steps = 0;
      const step = async <T>(act: () => Promise<T>): Promise<T> => {
        if ((steps += 1) >= fatal) throw new Error('killed');
        const answer = await act();
        if ((steps += 1) >= fatal) throw new Error('killed');
        return answer;
      };
      const mortal = fake.client(((address: string, init: RequestInit) =>
        step(() => fake.fetch(address, init))) as typeof globalThis.fetch);
      const stores = stored().map((store): Store => {
        const { marks } = store;
        return {
          ...store,
          count: (given) => step(() => store.count(given)),
          erase: (given) => step(() => store.erase(given)),
          marks: {
            all: (list) => step(() => marks!.all(list)),
            get: (...given) => step(() => marks!.get(...given)),
            put: (...given) => step(() => marks!.put(...given)),
            remove: (...given) => step(() => marks!.remove(...given)),
          },
        };
      });
      const reached = await holder({ stores }, mortal)
        .once()
        .then(
          () => steps >= fatal,
          () => true,
        );
      if (!reached) break;
      expect(await holder().once()).toMatchObject({ failed: 0 });
      expect({ fatal, rows: [rowsOf(who), rowsOf(other)] }).toEqual({
        fatal,
        rows: [
          [0, 0],
          [2, 1],
        ],
      });
      // A process that is dead answers nothing, but the step before may have been the answer that a store failed.
      const final = fake.tasks[0]?.answers.filter(({ result }) => result !== 'failed') ?? [];
      expect({ fatal, final }).toEqual({
        fatal,
        final: [{ result: 'erased', counts: { messages: 2, profiles: 1 } }],
      });
    }
    expect(steps).toBeGreaterThan(30);
  });
});

describe('a bot whose database was restored from a backup', () => {
  const restored = (dump: Buffer): void => {
    database.close();
    database = new Database(dump);
  };

  it('erases at its start every user again who was erased after it, and no other', async () => {
    const [before, after, never] = [await known(), await known(), await known()];
    await lethe.privacy.forget(before);
    await holder().once();
    const dump = database.serialize();
    await lethe.privacy.forget(after);
    await holder().once();
    // The user comes back: the backup has nothing of it.
    await known(before);
    restored(dump);
    write(before);
    expect(rowsOf(after)).toEqual([2, 1]);
    expect(await holder().once()).toMatchObject({ answered: 0, repeated: 2 });
    expect([rowsOf(before), rowsOf(after), rowsOf(never)]).toEqual([
      [2, 1],
      [0, 0],
      [2, 1],
    ]);
    expect(fake.tasks.map(({ answers }) => answers.length)).toEqual([1, 1]);
    expect(await holder().once()).toMatchObject({ repeated: 0 });
  });

  it('erases again what failed first and was done later than a newer task', async () => {
    const [slow, quick] = [await known(), await known()];
    await lethe.privacy.forget(slow);
    await lethe.privacy.forget(quick);
    const [messages, profiles] = stored() as [Store, Store];
    const loop = holder({
      stores: [
        {
          ...messages,
          erase: async (who) =>
            who.user_id === slow.user_id && database.inTransaction === false && isBroken
              ? Promise.reject(new Error('locked'))
              : messages.erase(who),
        },
        profiles,
      ],
    });
    let isBroken = true;
    // Far apart, so that the hour of grace covers neither.
    fake.tasks[0]!.created_at = '2026-01-01T00:00:00.000Z';
    fake.tasks[1]!.created_at = '2026-02-01T00:00:00.000Z';
    await loop.once();
    const dump = database.serialize();
    isBroken = false;
    for (let round = 0; round < 2; round++) await loop.once();
    expect(fake.tasks.map(({ result }) => result)).toEqual(['erased', 'erased']);
    restored(dump);
    expect(rowsOf(slow)).toEqual([2, 0]);
    await holder().once();
    expect(rowsOf(slow)).toEqual([0, 0]);
  });

  it('erases again though the backup is older than the holder', async () => {
    const who = await known();
    const dump = database.serialize();
    await lethe.privacy.forget(who);
    await holder().once();
    restored(dump);
    expect(await holder().once()).toMatchObject({ repeated: 2 });
    expect(rowsOf(who)).toEqual([0, 0]);
  });

  it.each([
    ['erases again what was kept, once the time is over', '2020-01-01', 1, [0, 1]],
    ['leaves what has to be kept', '2999-01-01', 0, [2, 1]],
  ])('%s', async (_name, until, repeated, rows) => {
    const stores = () => [{ ...stored()[0]!, keeps: { basis: 'Art. 17(3)(b) GDPR', until } }];
    const who = await known();
    const dump = database.serialize();
    await lethe.privacy.forget(who);
    await holder({ stores: stores() }).once();
    restored(dump);
    expect(await holder({ stores: stores() }).once()).toMatchObject({ repeated });
    expect(rowsOf(who)).toEqual(rows);
  });

  it('erases again where nothing has to be kept any more, though another store keeps and the user is back', async () => {
    const stores = () => {
      const [messages, profiles] = stored() as [Store, Store];
      const until = (time: string) => ({ keeps: { basis: 'Art. 17(3)(b) GDPR', until: time } });
      return [
        { ...messages, ...until('2020-01-01') },
        { ...profiles, ...until('2999-01-01') },
      ];
    };
    await lethe.privacy.forget(await known());
    fake.tasks[0]!.created_at = '2026-01-01T00:00:00.000Z';
    await holder({ stores: stores() }).once();
    const who = await known();
    const dump = database.serialize();
    await lethe.privacy.forget(who);
    fake.tasks[1]!.created_at = '2026-02-01T00:00:00.000Z';
    await holder({ stores: stores() }).once();
    expect(fake.tasks[1]!.result).toBe('kept');
    restored(dump);
    await known(who);
    expect(await holder({ stores: stores() }).once()).toMatchObject({ repeated: 1 });
    expect(rowsOf(who)).toEqual([0, 1]);
  });

  it('tries it again where the store fails, before it takes the erasures as done', async () => {
    const who = await known();
    const dump = database.serialize();
    await lethe.privacy.forget(who);
    await holder().once();
    restored(dump);
    let isBroken = true;
    const stores = stored().map((store): Store => ({
      ...store,
      erase: (given) => (isBroken ? Promise.reject(new Error('locked')) : store.erase(given)),
    }));
    const loop = holder({ stores });
    expect(await loop.once()).toMatchObject({ repeated: 0 });
    isBroken = false;
    await loop.once();
    expect(await loop.once()).toMatchObject({ repeated: 2 });
    expect(rowsOf(who)).toEqual([0, 0]);
  });

  it.each(['by a task', 'in the store, once it is removed'])(
    'erases again what was erased while its notes had a time to come, %s',
    async (where) => {
      const [first, second] = [await known(), await known()];
      await lethe.privacy.forget(first);
      if (where === 'by a task') fake.tasks[0]!.created_at = '2099-01-01T00:00:00.000Z';
      await holder().once();
      if (where !== 'by a task')
        database.exec("UPDATE lethe_holder SET note = '2099-01-01T00:00:00.000Z' WHERE name = 'since'");
      const dump = database.serialize();
      await lethe.privacy.forget(second);
      // After the time of this computer, and before that of the note.
      fake.tasks[1]!.created_at = '2098-01-01T00:00:00.000Z';
      await holder().once();
      restored(dump);
      if (where !== 'by a task') {
        errors.length = 0;
        expect(await holder().once()).toMatchObject({ repeated: 0 });
        expect(errors.map(words)).toEqual(
          ['messages', 'profiles'].map(
            (name) =>
              expect.stringMatching(`^${name}: .*remove the note since of database/${name} `) as string,
          ),
        );
        database.exec("DELETE FROM lethe_holder WHERE name = 'since'");
      }
      expect(await holder().once()).toMatchObject({ repeated: 2 });
      expect(rowsOf(second)).toEqual([0, 0]);
    },
  );

  it('repeats no erasure while the own clock is behind its notes, says so, and looks again', async () => {
    const [who, elsewhere] = [await known(), await known()];
    await lethe.privacy.forget(who);
    fake.tasks[0]!.created_at = '2026-01-01T00:00:00.000Z';
    await holder().once();
    await lethe.privacy.forget(await known());
    fake.tasks[1]!.created_at = '2026-01-03T00:00:00.000Z';
    await holder().once();
    // Rows of which Lethe knows nothing.
    write(who);
    await lethe.privacy.forget(elsewhere);
    fake.tasks[2]!.created_at = '2026-01-05T00:00:00.000Z';
    jest.useFakeTimers({ now: Date.parse('2025-12-31T00:00:00.000Z'), doNotFake: TIMERS });
    const loop = holder();
    expect(await loop.once()).toMatchObject({ answered: 1, repeated: 0 });
    expect(rowsOf(elsewhere)).toEqual([0, 0]);
    expect(errors.map(words)).toEqual(
      ['messages', 'profiles'].map(
        (name) =>
          expect.stringMatching(
            `^${name}: Its notes say that all is done up to 2026-01-03T00:00:00.000Z, a time to come`,
          ) as string,
      ),
    );
    jest.useRealTimers();
    for (let round = 0; round < 2; round++) expect(await loop.once()).toMatchObject({ repeated: 0 });
    expect(rowsOf(who)).toEqual([2, 1]);
    const dump = database.serialize();
    await lethe.privacy.forget(who);
    fake.tasks[3]!.created_at = '2026-01-07T00:00:00.000Z';
    await loop.once();
    restored(dump);
    expect(await holder().once()).toMatchObject({ repeated: 2 });
    expect([rowsOf(who), errors.length]).toEqual([[0, 0], 2]);
  });

  it('repeats by notes of a clock that is a little ahead, as of another machine', async () => {
    await lethe.privacy.forget(await known());
    fake.tasks[0]!.created_at = '2026-01-01T00:00:00.000Z';
    await holder().once();
    database
      .prepare("UPDATE lethe_holder SET note = ? WHERE name = 'since'")
      .run(new Date(Date.now() + 600_000).toISOString());
    const who = await known();
    const dump = database.serialize();
    await lethe.privacy.forget(who);
    fake.tasks[1]!.created_at = new Date().toISOString();
    await holder().once();
    restored(dump);
    expect(await holder().once()).toMatchObject({ repeated: 2 });
    expect([rowsOf(who), errors]).toEqual([[0, 0], []]);
  });

  it('spares a user who came back also after a round whose own clock was behind', async () => {
    const who = await known();
    await lethe.privacy.forget(who);
    await lethe.privacy.forget(await known());
    fake.tasks.forEach((task, at) => (task.created_at = `2026-01-0${2 * at + 1}T00:00:00.000Z`));
    await holder().once();
    await known(who);
    await lethe.privacy.forget(await known());
    jest.useFakeTimers({ now: Date.parse('2025-12-31T00:00:00.000Z'), doNotFake: TIMERS });
    await holder().once();
    jest.useRealTimers();
    expect(await holder().once()).toMatchObject({ repeated: 0 });
    expect(count('profiles', 'user_id', who.user_id)).toBe(1);
  });

  it('keeps few notes: those of the last hour', async () => {
    for (let at = 0; at < 4; at++) await lethe.privacy.forget(await known());
    fake.tasks.forEach((task, at) => (task.created_at = `2026-01-0${at + 1}T00:00:00.000Z`));
    await holder().once();
    const notes = database.prepare('SELECT list, name FROM lethe_holder ORDER BY list').all();
    const last = fake.tasks[3]?.task_id;
    expect(notes).toHaveLength(4);
    expect(notes).toEqual(
      expect.arrayContaining([
        ...['messages', 'profiles'].flatMap((name) =>
          [last, 'since'].map((note) => ({ list: `database/${name}`, name: note })),
        ),
      ]),
    );
  });
});

describe('a table without a guild that was left', () => {
  it('keeps at the next start what the user gave who came back, though the other consent has ended since', async () => {
    const who = await known();
    const elsewhere = await known({ ...who, guild_id: snowflake() });
    await lethe.privacy.forget(who);
    await holder().once();
    await lethe.consents.revoke(elsewhere);
    await known(who);
    expect(await holder().once()).toMatchObject({ repeated: 0 });
    expect(rowsOf(who)[1]).toBe(1);
  });

  it('at a start, after a restore, is left as well', async () => {
    const who = await known();
    const elsewhere = await known({ ...who, guild_id: snowflake() });
    const dump = database.serialize();
    await lethe.privacy.forget(who);
    await holder().once();
    database.close();
    database = new Database(dump);
    await holder().once();
    await lethe.consents.revoke(elsewhere);
    await known(who);
    await holder().once();
    expect(rowsOf(who)[1]).toBe(1);
  });
});

describe('a store that is declared later', () => {
  it('is erased of those who were forgotten before, but of no user who came back', async () => {
    const [left, back] = [await known(), await known()];
    await lethe.privacy.forget(left);
    await lethe.privacy.forget(back);
    await holder({ stores: stored().slice(1) }).once();
    await known(back);
    await holder().once();
    expect([rowsOf(left), rowsOf(back)]).toEqual([
      [0, 0],
      [4, 1],
    ]);
    await holder().once();
    expect(rowsOf(back)).toEqual([4, 1]);
  });
});

describe('a dry run', () => {
  it('counts, and changes nothing here or in Lethe', async () => {
    const who = await known();
    await holder().once();
    await lethe.privacy.forget(who);
    const before = database.serialize();
    fake.calls.length = 0;
    const seen: unknown[] = [];
    const round = await holder({ dryRun: true, onTask: (task) => seen.push(task) }).once();
    expect(round).toMatchObject({ answered: 1, found: { messages: 2, profiles: 1 } });
    const task_id = fake.tasks[0]?.task_id;
    const counts = { messages: 2, profiles: 1 };
    expect(seen).toEqual([{ task_id, act: 'erase', result: 'erased', counts, dryRun: true }]);
    expect(fake.calls.filter((call) => !call.startsWith('GET'))).toEqual([]);
    expect(database.serialize().equals(before)).toBe(true);
  });

  it('on a new database makes no table', async () => {
    fake.holders.set('database', {});
    await holder({ dryRun: true }).once();
    expect(database.prepare("SELECT name FROM sqlite_master WHERE name = 'lethe_holder'").all()).toEqual([]);
  });
});

describe('the loop', () => {
  /** Timers that a test lets run out. */
  class Timers {
    readonly waits: number[] = [];
    readonly cleared: unknown[] = [];
    private run: (() => void) | undefined;
    set = (run: () => void, ms: number): number => {
      this.run = run;
      return this.waits.push(ms);
    };
    clear = (timer: unknown): void => void this.cleared.push(timer);
    async elapse(loop: { once(): Promise<unknown> }): Promise<void> {
      const planned = this.waits.length;
      this.run?.();
      await loop.once().catch(() => undefined);
      while (this.waits.length === planned) await new Promise(setImmediate);
    }
  }

  it('begins at once, and pauses for a minute; longer where the service does not answer', async () => {
    const timers = new Timers();
    const loop = holder({ timers });
    await timers.elapse(loop);
    fake.refused.set('GET /holders/{key}/tasks', 503);
    for (let round = 0; round < 5; round++) await timers.elapse(loop);
    fake.refused.clear();
    await timers.elapse(loop);
    expect(timers.waits.map((ms) => ms / 1000)).toEqual([0, 60, 120, 240, 480, 900, 900, 60]);
    expect(errors).toHaveLength(5);
    await loop.stop();
    expect(timers.cleared).toEqual([8]);
  });

  it('does one round at a time', async () => {
    await lethe.privacy.forget(await known());
    const loop = holder();
    const [one, other] = await Promise.all([loop.once(), loop.once()]);
    expect(one).toBe(other);
    expect(fake.tasks[0]?.answers).toHaveLength(1);
  });

  it('stops between two stores, and does nothing more', async () => {
    await lethe.privacy.forget(await known());
    const [messages, profiles] = stored() as [Store, Store];
    let stopped: Promise<void> | undefined;
    const stopping: Store = {
      ...messages,
      erase: async (who) => {
        stopped = loop.stop();
        await messages.erase(who);
      },
    };
    const loop = holder({ stores: [stopping, { ...profiles, everywhere: false }] });
    await expect(loop.once()).rejects.toMatchObject({ name: 'AbortError' });
    await stopped;
    expect(rowsOf(fake.tasks[0]!)).toEqual([0, 1]);
    expect(fake.tasks[0]?.answers).toEqual([]);
    await expect(loop.once()).rejects.toMatchObject({ name: 'AbortError' });
    await holder().once();
    expect(fake.tasks[0]?.answers).toEqual([{ result: 'erased', counts: { messages: 2, profiles: 1 } }]);
  });

  it('stops while it waits for the API key of a function that never answers', async () => {
    const client = new Lethe({
      ...{ url: 'http://lethe.test', fetch: fake.fetch, key: () => new Promise<string>(() => undefined) },
    });
    const loop = holder({}, client);
    const round = loop.once();
    const ended = expect(round).rejects.toMatchObject({ name: 'AbortError' });
    await loop.stop();
    await ended;
  });

  it('is not ended by a function of the bot that fails', async () => {
    await lethe.privacy.forget(await known());
    const loop = holder({
      stores: [{ ...stored0()[0]!, count: async () => -1 }],
      onError: () => {
        throw new Error('of the log');
      },
    });
    expect(await loop.once()).toMatchObject({ failed: 1 });
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('of the bot');
      },
    ],
    ['rejects', () => Promise.reject(new Error('of the bot'))],
  ])('is not ended by an onTask that %s, which is reported', async (_how, onTask) => {
    await lethe.privacy.forget(await known());
    await lethe.privacy.forget(await known());
    expect(await holder({ onTask: onTask }).once()).toMatchObject({ answered: 2 });
    expect(errors.map(words)).toEqual(['of the bot', 'of the bot']);
  });
});
