import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bot } from '../support/bot';
import { type ScriptRun } from '../support/child-script';
import { databaseUnavailable } from '@app/database';
import { SubjectDataHolders } from '@app/subjects';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { engine, newDatabase, type TestDatabase } from '../support/database';
import { digestsOf, storedIds } from '../support/digests';
import { atDepth } from '../support/depth';
import { expectFailure } from '../support/expected';
import { adminHere, ServiceHere } from '../support/here';
import { keysOf, keyTable, SavedDatabase } from '../support/saved-database';
import { subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

const build = useBuild();
const LETHE_MASTER_KEY = Buffer.alloc(32, 'test').toString('base64');
const ZEROS = '0'.repeat(20);

let directory: string;
let path: string;
let database: TestDatabase;
let service: ServiceHere;
let bot: Bot;
let saved: SavedDatabase | undefined;

const environment = (): Record<string, string> => ({ DATABASE_URL: database.url, LETHE_MASTER_KEY });
const admin = (...args: string[]): Promise<ScriptRun> => adminHere(args, environment());
const ledger = (): string => join(directory, 'ledger.ndjson');
const keys = (): TestDatabase => keysOf(database, directory);
const newProcess = (): ChildService => new ChildService(build.directory, path, environment());

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  path = join(directory, 'lethe.db');
  database = await newDatabase(directory);
  service = await new ServiceHere(database, environment()).start();
  bot = await Bot.register(service.url, { webhook_url: 'http://127.0.0.1:59999/hook' });
  await bot.hasCategory('profile');
});
afterEach(async () => {
  await service.end();
  await saved?.drop();
  saved = undefined;
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

async function person(): Promise<SubjectIds> {
  const who = subject();
  await bot.hasConsent(who);
  await bot.hasData(who, 'profile', { value: `secret of ${who.user_id}` });
  return who;
}

/** A backup of everything; the service continues after it. */
async function backup(): Promise<void> {
  await service.end();
  saved = await SavedDatabase.of(database, path);
  await service.start();
}

async function rowsOf(table: string, who: SubjectIds): Promise<number> {
  const { guild_id, user_id } = storedIds(await digestsOf(database, environment()), bot.id, who);
  const sql = `SELECT 1 FROM ${table} WHERE bot_id = ? AND guild_id = ? AND user_id = ?`;
  return (await database.rows(sql, bot.id, guild_id, user_id)).length;
}

/** `shown` are the ids in the status of the erasure. */
async function expectGone(who: SubjectIds, requestId: string, shown = who): Promise<void> {
  expectFailure(await bot.export(who), 404, 'not_found');
  for (const table of ['subjects', 'consents', 'consent_history', 'user_data'])
    expect([table, await rowsOf(table, who)]).toEqual([table, 0]);
  const entries = await keys().rows<{ key_id: string }>(
    `SELECT key_id FROM ${keyTable('erasure_ledger')} WHERE request_id = ?`,
    requestId,
  );
  expect(entries).toEqual([{ key_id: expect.any(String) }]);
  const key = `SELECT 1 FROM ${keyTable('subject_keys')} WHERE id = ?`;
  expect(await keys().rows(key, entries[0]?.key_id ?? '')).toEqual([]);
  const query = `user_id=${who.user_id}&guild_id=${who.guild_id}`;
  const { events } = (await bot.get<{ events: Event[] }>(`/audit/events?${query}`)).data;
  expect(events.length).toBeGreaterThan(1);
  for (const { event_type: type, details, erased } of events)
    if (type !== 'deletion_completed') expect([type, details, erased]).toEqual([type, null, true]);
  expect((await bot.get(`/gdpr/forget-status/${requestId}`)).data).toMatchObject({
    ...shown,
    status: 'completed',
    deleted_categories: ['profile'],
  });
}

interface Event {
  readonly event_type: string;
  readonly details: object | null;
  readonly erased?: true;
}

/** Waits until every event is in a batch, so that the verifier looks at it. */
async function allSealed(): Promise<void> {
  const unsealed = `SELECT 1 FROM audit_events e WHERE NOT EXISTS
    (SELECT 1 FROM audit_heads h WHERE h.bot_id = e.bot_id AND h.last_seq >= e.seq)`;
  await until(async () => (await database.rows(unsealed)).length === 0);
}

async function expectVerified(): Promise<void> {
  expect(await admin('audit:verify')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Every log is what was sealed'),
  });
}

const calls = (): Promise<{ event: string }[]> => database.rows('SELECT event FROM webhook_deliveries');

describe('a start on a restored backup of data and keys', () => {
  it('erases again the users in the imported ledger, destroys their restored keys, and leaves other users unchanged', async () => {
    const [gone, stays] = [await person(), await person()];
    await backup();
    const requestId = await bot.hasForgotten(gone);
    await service.end();
    const exported = await admin('ledger:export', '--out', ledger());
    expect(exported).toMatchObject({ code: 0, stdout: '', stderr: '1 erasures were written.\n' });
    expect(statSync(ledger()).mode & 0o777).toBe(0o600);
    for (const id of [gone.user_id, gone.guild_id]) expect(readFileSync(ledger(), 'utf8')).not.toContain(id);

    await saved?.restore();
    const imported = await admin('ledger:import', '--in', ledger());
    // Its key stays until the start, which reads from it the ids for the webhook.
    expect(imported.stderr).toContain(
      '1 erasures were added, 0 were known, 0 are too old to count; 0 restored keys were destroyed.',
    );
    expect((await admin('ledger:import', '--in', ledger())).stderr).toContain(
      '0 erasures were added, 1 were',
    );
    await service.start();

    await expectGone(gone, requestId);
    const asked = `user_id=${gone.user_id}&guild_id=${gone.guild_id}&event_type=deletion_completed`;
    expect((await bot.get<{ events: object[] }>(`/audit/events?${asked}`)).data.events).toMatchObject([
      { source: 'service', details: { request_id: requestId, reapplied: true } },
    ]);
    expect(await calls()).toEqual([{ event: 'user_forgotten' }]);
    expect((await bot.export<{ data: object }>(stays)).data.data).toEqual({
      profile: { value: `secret of ${stays.user_id}` },
    });
  });

  it('puts an erasure on record whose subject is not held, and does not look for it again', async () => {
    await backup();
    const late = await person();
    const requestId = await bot.hasForgotten(late);
    await service.end();
    await admin('ledger:export', '--out', ledger());
    await saved?.restore();
    await admin('ledger:import', '--in', ledger());
    await service.start();
    const status = (): Promise<unknown> =>
      bot.get(`/gdpr/forget-status/${requestId}`).then(({ data }) => data);
    const shown = { status: 'completed', user_id: ZEROS, guild_id: ZEROS, deleted_categories: [] };
    expect(await status()).toMatchObject(shown);
    await service.end();
    await service.start();
    expect(await database.rows('SELECT id FROM deletion_requests')).toEqual([{ id: requestId }]);
  });

  it('does not erase a user who came back after an erasure that the backup holds', async () => {
    const who = await person();
    await bot.hasForgotten(who);
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'anew' });
    await backup();
    await service.end();
    await admin('ledger:export', '--out', ledger());
    await saved?.restore();
    await admin('ledger:import', '--in', ledger());
    await service.start();
    expect((await bot.export<{ data: object }>(who)).data.data).toEqual({ profile: { value: 'anew' } });
  });

  it('skips an erasure that retention has removed: a user who came back since is kept', async () => {
    const who = await person();
    await bot.hasForgotten(who);
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'anew' });
    await service.end();
    await keys().run(`UPDATE ${keyTable('erasure_ledger')} SET erased_at = '2020-01-01T00:00:00.000Z'`);
    expect((await admin('ledger:export', '--out', ledger())).code).toBe(0);
    expect((await admin('ledger:import', '--in', ledger())).stderr).toContain(
      '0 erasures were added, 0 were known, 1 are too old',
    );
    await database.run('DELETE FROM deletion_requests');
    await service.start();
    expect((await bot.export<{ data: object }>(who)).data.data).toEqual({ profile: { value: 'anew' } });
  });

  it('skips the erasures of a deleted bot', async () => {
    const who = await person();
    await bot.hasForgotten(who);
    await bot.delete(`/bots/${bot.id}`);
    await service.end();
    await service.start();
    expect(await database.rows('SELECT id FROM deletion_requests')).toEqual([]);
  });

  it('killed in the middle of it continues at the next start, and erases every user once', async () => {
    const people: SubjectIds[] = [];
    for (let count = 0; count < atDepth(15, 40); count++) people.push(await person());
    await backup();
    const requests = new Map<SubjectIds, string>();
    for (const who of people) requests.set(who, await bot.hasForgotten(who));
    await service.end();
    await admin('ledger:export', '--out', ledger());
    await saved?.restore();
    await admin('ledger:import', '--in', ledger());
    const child = newProcess();
    const refused = child.refused();
    const completed = (): Promise<object[]> =>
      database.rows(`SELECT 1 FROM deletion_requests WHERE status = 'completed'`);
    await child.untilOf(async () => (await completed()).length > 0, 1);
    await child.end('SIGKILL');
    await refused;
    await database.run('DELETE FROM job_leases');
    await service.start();
    await until(async () => (await completed()).length === people.length);
    for (const [who, requestId] of requests) await expectGone(who, requestId);
    const done = `SELECT 1 FROM audit_events WHERE event_type = 'deletion_completed'`;
    expect(await database.rows(done)).toHaveLength(people.length);
  });
});

describe('a start on restored data beside the present keys', () => {
  it('erases again without any import, and the audit log stays what was sealed', async () => {
    const [gone, stays] = [await person(), await person()];
    await allSealed();
    await backup();
    const requestId = await bot.hasForgotten(gone);
    await service.end();
    await saved?.restore(['data']);
    // No one can read the events of the erased user, whether they are erased again yet or not.
    await expectVerified();
    await service.start();
    // The ids ended with the key: the bot cannot learn them.
    await expectGone(gone, requestId, { user_id: ZEROS, guild_id: ZEROS });
    expect(await calls()).toEqual([]);
    expect((await bot.export<{ data: object }>(stays)).data.data).toEqual({
      profile: { value: `secret of ${stays.user_id}` },
    });
    await allSealed();
    await service.end();
    await expectVerified();
  });

  it('does not cover what was tampered with: a removed subject, a removed key, another type of event', async () => {
    const [gone, stays] = [await person(), await person()];
    await allSealed();
    await backup();
    await bot.hasForgotten(gone);
    await service.end();
    await saved?.restore(['data']);
    await service.start();
    await allSealed();
    await service.end();
    const ids = storedIds(await digestsOf(database, environment()), bot.id, stays);
    const [row] = await database.rows<{ key_id: string }>(
      'SELECT key_id FROM subjects WHERE user_id = ?',
      ids.user_id,
    );
    await database.run('DELETE FROM subjects WHERE user_id = ?', ids.user_id);
    expect((await admin('audit:verify')).stdout).toContain('no erasure of the user is on record');
    await database.run(
      'INSERT INTO subjects (bot_id, guild_id, user_id, key_id) VALUES (?, ?, ?, ?)',
      ...[bot.id, ids.guild_id, ids.user_id, row?.key_id ?? ''],
    );
    await expectVerified();
    // The end of the erasure that was done again is the evidence: without it the events before it have none.
    const tampered = `substr(details, 1, 40) || CASE substr(details, 41, 1) WHEN 'A' THEN 'B' ELSE 'A' END || substr(details, 42)`;
    await database.run(
      `UPDATE audit_events SET details = ${tampered} WHERE event_type = 'deletion_completed'`,
    );
    expect((await admin('audit:verify')).stdout).toContain('no erasure of the user is on record');
  });
});

describe('a backup that is made amid an erasure', () => {
  const ended = (): Promise<void> =>
    until(
      async () =>
        (await database.rows(`SELECT 1 FROM deletion_requests WHERE status = 'processing'`)).length === 0,
    );

  it('is erased to the end after the restore, and the log is what was sealed', async () => {
    const [gone, stays] = [await person(), await person()];
    await allSealed();
    const counts = jest.spyOn(SubjectDataHolders.prototype, 'count').mockRejectedValue(databaseUnavailable());
    const { details } = (await bot.post('/gdpr/forget-user', gone)).error;
    await allSealed();
    await service.end();
    counts.mockRestore();
    const { status, request_id: id } = details as { status: string; request_id: string };
    expect(status).toBe('processing');
    // Otherwise the next process leaves it to the one that began it.
    await database.run(`UPDATE deletion_requests SET created_at = '2026-01-01T00:00:00.000Z'`);
    saved = await SavedDatabase.of(database, path);
    await service.start();
    await ended();
    await service.end();
    await admin('ledger:export', '--out', ledger());
    await saved.restore();
    await admin('ledger:import', '--in', ledger());
    await expectVerified();
    await service.start();
    await ended();
    await expectGone(gone, id);
    expect((await bot.export<{ data: object }>(stays)).data.data).toEqual({
      profile: { value: `secret of ${stays.user_id}` },
    });
    await allSealed();
    await service.end();
    await expectVerified();
  });
});

if (engine === 'sqlite') {
  it('restored keys beside the present data are destroyed by the import of the ledger', async () => {
    const [gone, stays] = [await person(), await person()];
    await backup();
    const requestId = await bot.hasForgotten(gone);
    await service.end();
    await admin('ledger:export', '--out', ledger());
    await saved?.restore(['keys']);
    expect((await admin('ledger:import', '--in', ledger())).stderr).toContain(
      '1 restored keys were destroyed',
    );
    await service.start();
    await expectGone(gone, requestId);
    expect((await bot.export<{ data: object }>(stays)).data.data).toEqual({
      profile: { value: `secret of ${stays.user_id}` },
    });
  });
} else
  it('of several processes that start at once one erases again, and none answers before', async () => {
    const people: SubjectIds[] = [];
    for (let count = 0; count < 20; count++) people.push(await person());
    await backup();
    const requests = new Map<SubjectIds, string>();
    for (const who of people) requests.set(who, await bot.hasForgotten(who));
    await service.end();
    await admin('ledger:export', '--out', ledger());
    await saved?.restore();
    await admin('ledger:import', '--in', ledger());
    const others = [newProcess(), newProcess(), newProcess()];
    await Promise.race(others.map((one) => one.start()));
    for (const [who] of requests) expect(await rowsOf('user_data', who)).toBe(0);
    const completed = `SELECT 1 FROM deletion_requests WHERE status = 'completed'`;
    await until(async () => (await database.rows(completed)).length === people.length);
    const done = `SELECT 1 FROM audit_events WHERE event_type = 'deletion_completed'`;
    expect(await database.rows(done)).toHaveLength(people.length);
    for (const one of others) await one.end('SIGKILL');
  });
