import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allMigrations, keysPath } from '@app/database';
import { Client } from 'pg';
import { type Moment, runScript, type ScriptRun } from '../support/child-script';
import type { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { bareDatabase, newDatabase, sqliteFile, type TestDatabase } from '../support/database';
import { fill, type Filled, FILLED_SETTINGS, fillStandings } from '../support/filled';
import { someOf } from '../support/depth';
import { adminHere } from '../support/here';
import { migrateUp } from '../support/migrating';
import { Service } from '../support/service';
import { until } from '../support/until';

const LETHE_MASTER_KEY = Buffer.alloc(32, 'moved').toString('base64');

const UNSEALED = `SELECT 1 FROM audit_events
  WHERE seq > COALESCE((SELECT last_seq FROM audit_heads WHERE bot_id = audit_events.bot_id), 0)`;

const build = useBuild();
const directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
const grown = join(directory, 'grown.db');
let filled: Filled;
let path: string;
let source: TestDatabase;
let target: TestDatabase;

beforeAll(async () => {
  const service = await serviceOn(sqliteFile(grown));
  filled = await fill(service);
  await fillStandings(filled, service);
  await until(async () => (await service.database.rows(UNSEALED)).length === 0);
  await stopped(service);
  writeFileSync(`${grown}.key`, `${LETHE_MASTER_KEY}\n`, { mode: 0o600 });
});
beforeEach(async () => {
  path = join(directory, 'lethe.db');
  copyGrown();
  source = sqliteFile(path);
  target = await newDatabase(directory);
});
afterEach(async () => {
  await target.drop();
  await source.drop();
});
afterAll(() => rmSync(directory, { recursive: true }));

async function onBareTarget(): Promise<void> {
  await target.drop();
  target = await bareDatabase(directory);
}

async function serviceOn(database: TestDatabase): Promise<Service> {
  const service = new Service({ ...FILLED_SETTINGS, DATABASE_URL: database.url, LETHE_MASTER_KEY });
  service.database = database;
  return service.start();
}

async function stopped(service: Service): Promise<void> {
  await service.app.close();
  rmSync(service.directory, { recursive: true });
}

/** The data and its keys, as they were filled, with the master key in a file beside them. */
function copyGrown(): void {
  copyFileSync(grown, path);
  copyFileSync(keysPath(grown), keysPath(path));
  copyFileSync(`${grown}.key`, `${path}.key`);
}

const move = (from = source.url, to = target.url, ...more: readonly string[]): Promise<ScriptRun> =>
  adminHere(['db:move', '--from', from, '--to', to, ...more], {});

/** In a process of its own, which `kill` ends. */
const moveApart = (kill?: Moment): Promise<ScriptRun> =>
  runScript(build, 'admin', ['db:move', '--from', source.url, '--to', target.url], {}, kill);

async function answersOf(database: TestDatabase): Promise<Readonly<Record<string, string>>> {
  const service = await serviceOn(database);
  try {
    return await filled.answers(service.url);
  } finally {
    await stopped(service);
  }
}

const digest = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** No server listens there. */
const NOWHERE = 'postgres://lethe@127.0.0.1:1/lethe';

/** A key that no move has written. */
const FOREIGN_KEY = `INSERT INTO keys.service_keys (name, id, sealed, created_at) VALUES ('a', 'b', 'c', 'd')`;

async function refused(message: string | RegExp, from?: string, to?: string, exit = 1): Promise<void> {
  const { code, output } = await move(from, to);
  expect(output).toMatch(message);
  expect(output).not.toMatch(/\n\s+at /);
  expect(output).not.toContain('lethe:lethe');
  expect(code).toBe(exit);
}

describe('npm run admin -- db:move', () => {
  it('moves a grown SQLite file to PostgreSQL: every GET answers the same, and the file is as it was', async () => {
    const files = [path, keysPath(path)];
    const untouched = files.map(digest);
    const answers = await answersOf(sqliteFile(path));
    copyGrown();
    await onBareTarget();
    const { code, output } = await moveApart();
    expect(output).toMatch(/verifying audit_events: \d+ rows\n/);
    expect(output).toMatch(/verifying the sealed logs: \d+ events\n/);
    expect(output).toMatch(
      /\n2 sealed logs with [1-9]\d* events were verified in the target; 0 events are not sealed/,
    );
    expect(output).toContain('LETHE_MASTER_KEY');
    expect(output).toContain(`${path}.key`);
    expect(output).not.toContain('lethe:lethe');
    expect(code).toBe(0);
    expect(files.map(digest)).toStrictEqual(untouched);
    expect((await target.tables()).map(({ name }) => name)).not.toContain('lethe_move');
    // A table without statistics has -1 rows.
    const unplanned = await target.rows(
      `SELECT oid::regclass AS name FROM pg_class WHERE relkind IN ('r', 'p') AND reltuples < 0
         AND relnamespace IN ('public'::regnamespace, 'keys'::regnamespace)`,
    );
    expect(unplanned).toStrictEqual([]);
    expect(await answersOf(target)).toStrictEqual(answers);
  });

  it('carries over the newest time on record and no other lease, so that the target notices a clock that was set back', async () => {
    const clock = { name: 'clock', locked_by: null, locked_until: '2026-02-03T04:05:06.789Z' };
    await source.run('DELETE FROM job_leases');
    for (const name of ['clock', 'evidence-retention'])
      await source.run('INSERT INTO job_leases (name, locked_until) VALUES (?, ?)', name, clock.locked_until);
    expect(await move()).toMatchObject({ code: 0 });
    expect(await target.rows('SELECT name, locked_by, locked_until FROM job_leases')).toStrictEqual([clock]);
  });

  it.each([
    ['the target of --to, whatever server the settings name', () => ['--to', target.url], () => NOWHERE],
    ['the server behind the pooler, without --to', () => [], () => target.url],
  ])('moves into %s', async (_, to, direct) => {
    const settings = { DATABASE_URL: NOWHERE, DATABASE_DIRECT_URL: direct() };
    const { code, output } = await adminHere(['db:move', '--from', source.url, ...to()], settings);
    expect(output).toContain(`to PostgreSQL, ${new URL(target.url).host}`);
    expect(code).toBe(0);
  });

  it('puts the next audit event behind all that were moved, and has a way back: a backup from before it, beside the ledger of PostgreSQL, forgets who was erased since', async () => {
    await move();
    const [{ seq }] = (await source.rows<{ seq: number }>('SELECT MAX(seq) AS seq FROM audit_events')) as [
      { seq: number },
    ];
    expect(await target.rows(`SELECT nextval('audit_events_seq') AS seq`)).toStrictEqual([{ seq: seq + 1 }]);
    const [bot, who, stays] = [filled.bots[0]!, filled.subjects[2]!, filled.subjects[3]!];
    const on = async (database: TestDatabase, act: (there: Bot) => Promise<unknown>): Promise<void> => {
      const service = await serviceOn(database);
      try {
        await act(bot.at(service));
      } finally {
        await stopped(service);
      }
    };
    await on(target, (there) => there.hasForgotten(who));
    const ledger = join(directory, 'ledger.ndjson');
    const admin = (args: readonly string[], { url }: TestDatabase) =>
      adminHere(args, { DATABASE_URL: url, LETHE_MASTER_KEY });
    expect(await admin(['ledger:export', '--out', ledger], target)).toMatchObject({ code: 0 });
    expect(await admin(['ledger:import', '--in', ledger], source)).toMatchObject({ code: 0 });
    await on(source, async (there) => {
      expect((await there.export(who)).status).toBe(404);
      expect((await there.export(stays)).status).toBe(200);
    });
  });

  const moments: readonly Moment[] = [
    { at: 'CREATE TABLE .*webhook_attempts', count: 1 },
    { at: 'INSERT INTO lethe_move', count: 1 },
    { at: 'INSERT INTO "bots"', count: 1 },
    { at: 'INSERT INTO lethe_move', count: 3 },
    { at: '^COMMIT', count: 9 },
    { at: 'DECLARE moved', count: 4 },
    { at: '^ANALYZE', count: 1 },
    { at: 'DROP TABLE lethe_move', count: 1 },
  ];
  it.each(someOf(moments, 3))(
    'goes on after kill -9 before statement $count of /$at/, and doubles nothing',
    async (moment) => {
      if (moment.at.startsWith('CREATE')) await onBareTarget();
      expect(await moveApart(moment)).toMatchObject({ code: null, output: expect.stringContaining('HELD') });
      const { code, output } = await move();
      if (moment.at.startsWith('DECLARE'))
        expect(output).toMatch(/An interrupted move continues: it has moved [1-9]\d* rows\./);
      expect(output).toContain('and equal those of the source');
      expect(code).toBe(0);
      for (const { name } of await source.tables()) {
        if (name === 'migrations' || name === 'job_leases') continue;
        const count = `SELECT COUNT(*) AS count FROM ${name}`;
        expect([name, await target.rows(count)]).toStrictEqual([name, await source.rows(count)]);
      }
    },
  );

  it('keeps services and another source from the target until it has ended, and continues with the next batch', async () => {
    await moveApart({ at: 'DECLARE moved', count: 2 });
    await refused('was begun and not finished', sqliteFile(grown).url);
    await expect(serviceOn(target).then(stopped)).rejects.toThrow(
      'is being filled by npm run admin -- db:move',
    );
    const begun = await target.rows<{ name: string }>(`SELECT name FROM lethe_move WHERE rows > 0`);
    expect(begun.length).toBeGreaterThan(5);
    const { output } = await moveApart({ at: 'INSERT INTO "(bots|audit_events)"' });
    expect(output).not.toContain('HELD');
  });

  it('keeps services from a target that has tables and no rows, and refuses one in which rows were written since', async () => {
    await onBareTarget();
    // The first one asks whether the source has keys. The second one, behind the schema, asks whether the target is empty.
    const killed = await moveApart({ at: 'SELECT COUNT.*FROM "', count: 2 });
    expect(killed).toMatchObject({ code: null, output: expect.stringContaining('HELD') });
    expect(await target.rows('SELECT 1 FROM bots')).toStrictEqual([]);
    await expect(serviceOn(target).then(stopped)).rejects.toThrow(
      'is being filled by npm run admin -- db:move',
    );
    await target.run(FOREIGN_KEY);
    await refused('already has data, for example in keys.service_keys');
    await target.run(`DELETE FROM keys.service_keys WHERE name = 'a'`);
    const { code, output } = await move();
    expect(output).toContain('and equal those of the source');
    expect(code).toBe(0);
  });

  it.each([
    ['has taken effect', 'COMMIT'],
    ['has not', 'ROLLBACK'],
  ])(
    'says that its outcome is unknown where the connection is lost in the last commit, and ends with the next run: the commit %s',
    async (_, outcome) => {
      const query = Client.prototype.query as (this: Client, ...given: unknown[]) => unknown;
      let isLast = false;
      const losing = jest.spyOn(Client.prototype, 'query').mockImplementation(function (
        this: Client,
        ...given: unknown[]
      ) {
        isLast ||= given[0] === 'DROP TABLE lethe_move';
        if (!isLast || given[0] !== 'COMMIT') return query.apply(this, given);
        const ended = query.call(this, outcome) as Promise<unknown>;
        return ended.then(() => Promise.reject(new Error('Connection terminated unexpectedly')));
      });
      await refused('the move may have ended or not. Run this again before a service starts').finally(() =>
        losing.mockRestore(),
      );
      const { code, output } = await move();
      expect(output).toContain('and equal those of the source');
      expect(code).toBe(0);
      await target.run(FOREIGN_KEY);
      await refused('already has data, for example in keys.');
    },
  );

  const changes = [
    [
      'one changed text',
      `UPDATE user_data SET value = value || ' ' WHERE ctid = (SELECT MIN(ctid) FROM user_data)`,
    ],
    ['one missing row', `DELETE FROM consents WHERE ctid = (SELECT MIN(ctid) FROM consents)`],
    ['one null', `UPDATE deletion_requests SET completed_at = NULL WHERE completed_at IS NOT NULL`],
    [
      'one count',
      `UPDATE audit_counts SET total = total + 1 WHERE ctid = (SELECT MIN(ctid) FROM audit_counts)`,
    ],
  ] as const;
  it.each(someOf(changes, 3))('finds %s in the target', async (_, change) => {
    await moveApart({ at: 'DECLARE moved', count: 1 });
    await target.run(change);
    const { code, output } = await move();
    expect(code).toBe(1);
    expect(output).toMatch(
      /(user_data|consents|deletion_requests|audit_counts) differs: \d+ rows in the source/,
    );
    await expect(serviceOn(target).then(stopped)).rejects.toThrow('is being filled');
  });
});

describe('what PostgreSQL refuses of npm run admin -- db:move', () => {
  /** A trigger that runs `body` before each row of `bots`. */
  async function beforeBots(body: string): Promise<void> {
    await target.run(
      `CREATE OR REPLACE FUNCTION before_bots() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN NEW; END $$`,
    );
    await target.run(
      'CREATE OR REPLACE TRIGGER before_bots BEFORE INSERT ON bots FOR EACH ROW EXECUTE FUNCTION before_bots()',
    );
  }

  it('is no statement that takes longer than the database allows by default', async () => {
    const all = ['statement', 'lock', 'idle_in_transaction_session', 'idle_session', 'transaction'];
    // Servers before 17 do not know the last one.
    const known = await target.rows<{ name: string }>(
      `SELECT name FROM pg_settings WHERE name IN (${all.map((each) => `'${each}_timeout'`).join(', ')})`,
    );
    const limits = known.map((row) => row.name);
    const name = new URL(target.url).pathname.slice(1);
    for (const limit of limits) await target.run(`ALTER DATABASE ${name} SET ${limit} = '1h'`);
    const isLimited = limits.map((limit) => `current_setting('${limit}') <> '0'`).join(' OR ');
    await beforeBots(`IF ${isLimited} THEN RAISE EXCEPTION 'limited'; END IF`);
    expect(await move()).toMatchObject({ code: 0 });
  });

  it.each([
    [
      '53100',
      /^The disk of the PostgreSQL server is full \(53100\)\. Make room there, then run this again: it/m,
    ],
    ['53200', /^The PostgreSQL server lacks memory, .* \(53200\)\. Run this again: it continues/m],
    ['57014', /^PostgreSQL has cancelled a statement of the move \(57014\)\. Run this again: it continues/m],
    ['57P01', /^The connection to PostgreSQL was lost \(57P01\)\. Run this again: it continues/m],
  ])('is named: %s, and the next run continues', async (code, message) => {
    await beforeBots(`RAISE EXCEPTION 'x' USING ERRCODE = '${code}'`);
    await refused(message);
    await target.run('DROP TRIGGER before_bots ON bots');
    expect(await move()).toMatchObject({ code: 0 });
  });

  const THIRD = '(bot_id, key) = (SELECT bot_id, key FROM categories ORDER BY bot_id, key LIMIT 1 OFFSET 2)';
  it.each([
    ['a text that is too long', `created_at = 's3cr3t, twenty-five letters'`, /is longer than .* \(22001\)/],
    ['a fraction', 'retention_days = 13.5', /a value is no whole number \(22P02\)/],
    ['a NUL character', `label_de = 's3cr3t' || char(0)`, /a text holds a NUL character, .* \(22021\)/],
  ])(
    'is a row with %s, which is named without its value, and moved once it is corrected',
    async (_, change, reason) => {
      await source.run(`UPDATE categories SET ${change} WHERE ${THIRD}`);
      const { code, output } = await move();
      const [message = ''] =
        /^The target refuses row 3 of categories in the order of the key: .*/m.exec(output) ?? [];
      expect(message).toMatch(reason);
      expect(output).not.toMatch(/s3cr3t|13\.5/);
      expect(code).toBe(1);
      const [, query = ''] = /there: (SELECT .*)/.exec(message) ?? [];
      const row = await source.rows(`SELECT * FROM categories WHERE ${THIRD}`);
      expect(await source.rows(query)).toStrictEqual(row);
      copyGrown();
      expect(await move()).toMatchObject({
        code: 0,
        output: expect.stringContaining('An interrupted move continues'),
      });
    },
  );

  it('is a row that breaks a rule of its table, or rows that do so together', async () => {
    await target.run('CREATE UNIQUE INDEX one_bot ON bots ((1))');
    await refused(/^The target refuses row 2 of bots .*: another row has the same values, .* \(23505\)\. /m);
    await target.run('DROP INDEX one_bot');
    await target.run(
      `CREATE FUNCTION together() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF (SELECT COUNT(*) FROM bots) > 1 AND (SELECT COUNT(*) FROM added) > 1 THEN RAISE EXCEPTION 'x' USING ERRCODE = '23514'; END IF;
         RETURN NULL; END $$`,
    );
    await target.run(
      'CREATE TRIGGER together AFTER INSERT ON bots REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION together()',
    );
    await refused(
      /^The target refuses rows 1 to \d+ of bots .*: a rule of the table \(23514\)\. .* LIMIT \d+ OFFSET 0$/m,
    );
  });
});

describe('the sealed logs of npm run admin -- db:move', () => {
  const changed = `UPDATE audit_events SET created_at = '2020-01-01T00:00:00.000Z' WHERE seq = (SELECT MIN(seq) FROM audit_events)`;

  it('are verified in the target: a source with a changed event is moved, and no service starts on it before its faults are accepted', async () => {
    await source.run(changed);
    const refusing = await move();
    expect(refusing.output).toMatch(/\S+, batch 1, event \d+: .*\n/);
    expect(refusing.output).toMatch(
      /The sealed logs have [1-9]\d* faults.* run it again with --accept-faults\.\n$/,
    );
    expect(refusing.code).toBe(1);
    await expect(serviceOn(target).then(stopped)).rejects.toThrow('is being filled');
    const accepted = await move(source.url, target.url, '--accept-faults');
    expect(accepted.output).toContain('The rows are those of the source, so it has them, too.');
    expect(accepted.code).toBe(0);
    await serviceOn(target).then(stopped);
  });

  it('need the master key: without it, and with another one, no row is moved', async () => {
    rmSync(`${path}.key`);
    await refused(`There is no key file ${path}.key`);
    writeFileSync(`${path}.key`, `${Buffer.alloc(32, 'other').toString('base64')}\n`, { mode: 0o600 });
    await refused('were encrypted with another master key');
    expect(await target.rows('SELECT 1 FROM bots')).toStrictEqual([]);
    expect((await target.tables()).map(({ name }) => name)).not.toContain('lethe_move');
  });

  it('are none before the first start, which needs no master key', async () => {
    const empty = sqliteFile(join(directory, 'empty.db'));
    await migrateUp(empty, allMigrations());
    const { code, output } = await move(empty.url);
    expect(output).toContain('0 rows are in the target');
    expect(code).toBe(0);
    await empty.drop();
  });
});

describe('npm run admin -- db:move refuses', () => {
  it('a source that a service is using', async () => {
    const service = await serviceOn(source);
    await refused(/Another process is using .*lethe\.db/);
    await stopped(service);
  });

  it('a source that is not there, and makes none', async () => {
    await refused('There is no file', `sqlite:${join(directory, 'none.db')}`);
    expect(() => readFileSync(join(directory, 'none.db'))).toThrow('ENOENT');
  });

  it('a source without its keys', async () => {
    rmSync(keysPath(path));
    await refused('is missing or empty: restore it from its backup');
  });

  it('a source that needs migrations', async () => {
    const old = sqliteFile(join(directory, 'old.db'));
    await migrateUp(old, allMigrations().slice(0, -1));
    await refused(/The source .* Run npm run admin -- db:migrate/, old.url);
    await old.drop();
  });

  it('a source of a newer Lethe', async () => {
    await source.run(`INSERT INTO migrations (timestamp, name) VALUES (9, 'Newer9')`);
    await refused('was written by a newer Lethe');
  });

  it('a target that a service is using, and then one that has data of its own', async () => {
    const service = new Service();
    await service.start();
    await service.registerBot();
    await refused('A process of Lethe is using PostgreSQL', undefined, service.database.url);
    await service.app.close();
    await refused('already has data, for example in keys.service_keys', undefined, service.database.url);
    await service.remove();
  });

  it('a target without tables whose keys are in use, and leaves no mark', async () => {
    await target.run('DROP SCHEMA public CASCADE');
    await target.run('CREATE SCHEMA public');
    await target.run(FOREIGN_KEY);
    await refused('holds the keys of an installation');
    expect((await target.tables()).map(({ name }) => name)).not.toContain('lethe_move');
  });

  it('a target whose schema differs', async () => {
    const other = await newDatabase(directory);
    await other.run('ALTER TABLE servers ADD COLUMN more text');
    await refused('The schema of the target is not the one of this Lethe', undefined, other.url);
    await other.drop();
  });

  it('a wrong password, without repeating it', async () => {
    await refused(
      'user or password is wrong',
      undefined,
      target.url.replace('lethe:lethe@', 'lethe:s3cr3t-pw@'),
    );
    const { output } = await move(undefined, target.url.replace('lethe:lethe@', 'lethe:s3cr3t-pw@'));
    expect(output).not.toContain('s3cr3t-pw');
  });

  it('every other direction', async () => {
    const file = `sqlite:${join(directory, 'x.db')}`;
    await refused('must be postgres://', undefined, 'mysql://lethe:lethe@x/y', 2);
    await refused('must be postgres://', undefined, file, 2);
    await refused('--from must be sqlite:PATH', target.url, file, 2);
    await refused('--from must be sqlite:PATH', target.url, target.url, 2);
  });
});
