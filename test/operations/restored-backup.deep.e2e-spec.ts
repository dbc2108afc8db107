import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Bot } from '../support/bot';
import { databaseUnavailable } from '@app/database';
import { SubjectDataHolders } from '@app/crypto';
import { useBuild } from '../support/build';
import { killedAt } from '../support/child-script';
import { engine } from '../support/database';
import { digestsOf, storedIds } from '../support/digests';
import { expectFailure } from '../support/expected';
import { useInstallation } from '../support/installation';
import { SavedDatabase } from '../support/saved-database';
import { subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

const lethe = useInstallation({ build: useBuild() });
const ZEROS = '0'.repeat(20);
let bot: Bot;
let saved: SavedDatabase | undefined;

const ledger = (): string => join(lethe.directory, 'ledger.ndjson');

beforeEach(async () => {
  bot = await lethe.withBot({ webhook_url: 'http://127.0.0.1:8088/closed' });
});
afterEach(async () => {
  await saved?.drop();
  saved = undefined;
});

/** A backup of everything; the service continues after it. */
async function backup(): Promise<void> {
  await lethe.service.end();
  saved = await SavedDatabase.of(lethe.database, lethe.path);
  await lethe.service.start();
}

async function rowsOf(table: string, who: SubjectIds): Promise<number> {
  const { guild_id, user_id } = storedIds(await digestsOf(lethe.database, lethe.environment), bot.id, who);
  const sql = `SELECT 1 FROM ${table} WHERE bot_id = ? AND guild_id = ? AND user_id = ?`;
  return (await lethe.database.rows(sql, bot.id, guild_id, user_id)).length;
}

interface KeyRow {
  readonly id: string;
  readonly sealed: string;
}

const keyRows = (): Promise<KeyRow[]> => lethe.database.rows('SELECT id, sealed FROM keys.subject_keys');

/** As keys of a later backup have them. */
async function bringBack(rows: readonly KeyRow[]): Promise<void> {
  const present = new Set((await keyRows()).map(({ id }) => id));
  const add = 'INSERT INTO keys.subject_keys (id, sealed) VALUES (?, ?)';
  for (const { id, sealed } of rows) if (!present.has(id)) await lethe.database.run(add, id, sealed);
}

/** `shown` are the ids in the status of the erasure. */
async function expectGone(who: SubjectIds, requestId: string, shown = who): Promise<void> {
  expectFailure(await bot.export(who), 404, 'not_found');
  for (const table of ['subjects', 'consents', 'consent_history', 'user_data'])
    expect([table, await rowsOf(table, who)]).toEqual([table, 0]);
  const entries = await lethe.database.rows<{ key_id: string }>(
    `SELECT key_id FROM keys.erasure_ledger WHERE request_id = ?`,
    requestId,
  );
  expect(entries).toEqual([{ key_id: expect.any(String) }]);
  const key = `SELECT 1 FROM keys.subject_keys WHERE id = ?`;
  expect(await lethe.database.rows(key, entries[0]?.key_id ?? '')).toEqual([]);
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

async function expectVerified(): Promise<void> {
  expect(await lethe.admin('audit:verify')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Every log is what was sealed'),
  });
}

const calls = (): Promise<{ event: string }[]> => lethe.database.rows('SELECT event FROM webhook_deliveries');

describe('a start on a restored backup of data and keys', () => {
  it('erases again the users in the imported ledger, destroys their restored keys, and leaves other users unchanged', async () => {
    const [gone, stays] = [await bot.hasUser(), await bot.hasUser()];
    await backup();
    const requestId = await bot.hasForgotten(gone);
    await lethe.service.end();
    const exported = await lethe.admin('ledger:export', '--out', ledger());
    expect(exported).toMatchObject({ code: 0, stdout: '', stderr: '1 erasure was written.\n' });
    expect(statSync(ledger()).mode & 0o777).toBe(0o600);
    for (const id of [gone.user_id, gone.guild_id]) expect(readFileSync(ledger(), 'utf8')).not.toContain(id);

    await saved?.restore();
    const imported = await lethe.admin('ledger:import', '--in', ledger());
    // Its key stays until the start, which reads from it the ids for the webhook.
    expect(imported.stderr).toContain(
      '1 erasure was added, 0 were known, 0 are too old to count; 0 restored keys were destroyed.',
    );
    expect((await lethe.admin('ledger:import', '--in', ledger())).stderr).toContain(
      '0 erasures were added, 1 was',
    );
    await lethe.service.start();

    await expectGone(gone, requestId);
    const asked = `user_id=${gone.user_id}&guild_id=${gone.guild_id}&event_type=deletion_completed`;
    expect((await bot.get<{ events: object[] }>(`/audit/events?${asked}`)).data.events).toMatchObject([
      { source: 'service', details: { request_id: requestId, reapplied: true } },
    ]);
    expect(await calls()).toEqual([{ event: 'user_forgotten' }]);
    expect((await bot.export<{ data: object }>(stays)).data.data).toEqual({
      profile: { value: stays.user_id },
    });
  });

  it('puts an erasure on record whose subject is not held, and does not look for it again', async () => {
    await backup();
    const late = await bot.hasUser();
    const requestId = await bot.hasForgotten(late);
    await lethe.service.end();
    await lethe.admin('ledger:export', '--out', ledger());
    await saved?.restore();
    await lethe.admin('ledger:import', '--in', ledger());
    await lethe.service.start();
    const status = (): Promise<unknown> =>
      bot.get(`/gdpr/forget-status/${requestId}`).then(({ data }) => data);
    const shown = { status: 'completed', user_id: ZEROS, guild_id: ZEROS, deleted_categories: [] };
    expect(await status()).toMatchObject(shown);
    await lethe.service.end();
    await lethe.service.start();
    expect(await lethe.database.rows('SELECT id FROM deletion_requests')).toEqual([{ id: requestId }]);
  });

  it.each([
    ['the ledger in place', 'in place'],
    ['an export', 'export'],
  ])('destroys the key of an erasure whose subject is only in newer keys, by %s', async (_, ledgerFrom) => {
    await backup();
    const late = await bot.hasUser();
    const newer = await keyRows();
    const requestId = await bot.hasForgotten(late);
    await lethe.service.end();
    await lethe.admin('ledger:export', '--out', ledger());
    await saved?.restore(ledgerFrom === 'export' ? ['data', 'keys'] : ['data']);
    await bringBack(newer);
    if (ledgerFrom === 'export') await lethe.admin('ledger:import', '--in', ledger());
    await lethe.service.start();
    expect((await bot.get(`/gdpr/forget-status/${requestId}`)).data).toMatchObject({ status: 'completed' });
    const listed = `SELECT key_id FROM keys.erasure_ledger WHERE request_id = ?`;
    const [entry] = await lethe.database.rows<{ key_id: string }>(listed, requestId);
    expect(newer.map(({ id }) => id)).toContain(entry?.key_id);
    expect((await keyRows()).map(({ id }) => id)).not.toContain(entry?.key_id);
  });

  it('ends the link of an erased user about whom nothing else is held', async () => {
    const who = subject();
    await bot.post('/privacy-links', { ...who });
    await backup();
    const requestId = await bot.hasForgotten(who);
    await lethe.service.end();
    await lethe.admin('ledger:export', '--out', ledger());
    await saved?.restore();
    expect(await rowsOf('privacy_links', who)).toBe(1);
    await lethe.admin('ledger:import', '--in', ledger());
    await lethe.service.start();
    expect(await rowsOf('privacy_links', who)).toBe(0);
    expect((await bot.get(`/gdpr/forget-status/${requestId}`)).data).toMatchObject({ status: 'completed' });
  });

  it('does not erase a user who came back after an erasure that the backup holds', async () => {
    const who = await bot.hasUser();
    await bot.hasForgotten(who);
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'anew' });
    await backup();
    await lethe.service.end();
    await lethe.admin('ledger:export', '--out', ledger());
    await saved?.restore();
    await lethe.admin('ledger:import', '--in', ledger());
    await lethe.service.start();
    expect((await bot.export<{ data: object }>(who)).data.data).toEqual({ profile: { value: 'anew' } });
  });

  it('skips an erasure that retention has removed: a user who came back since is kept', async () => {
    const who = await bot.hasUser();
    await bot.hasForgotten(who);
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'anew' });
    await lethe.service.end();
    await lethe.database.run(`UPDATE keys.erasure_ledger SET erased_at = '2020-01-01T00:00:00.000Z'`);
    expect((await lethe.admin('ledger:export', '--out', ledger())).code).toBe(0);
    const { stderr } = await lethe.admin('ledger:import', '--in', ledger());
    expect(stderr).toContain('0 erasures were added, 0 were known, 1 is too old');
    expect(stderr).toContain('The users of the 1 entry that is too old are not erased again');
    await lethe.database.run('DELETE FROM deletion_requests');
    await lethe.service.start();
    expect((await bot.export<{ data: object }>(who)).data.data).toEqual({ profile: { value: 'anew' } });
  });

  it('skips the erasures of a deleted bot', async () => {
    const who = await bot.hasUser();
    await bot.hasForgotten(who);
    await bot.delete(`/bots/${bot.id}`);
    await lethe.service.end();
    await lethe.service.start();
    expect(await lethe.database.rows('SELECT id FROM deletion_requests')).toEqual([]);
  });

  it.each([
    ['between two erasures', 'DELETE FROM deletion_requests', 0],
    ['amid an erasure', 'INSERT INTO (keys.)?erasure_ledger', 1],
  ])('killed %s continues at the next start, and erases every user once', async (_, statement, left) => {
    const people: SubjectIds[] = [];
    for (let count = 0; count < 5; count++) people.push(await bot.hasUser());
    await backup();
    const requests = new Map<SubjectIds, string>();
    for (const who of people) requests.set(who, await bot.hasForgotten(who));
    await lethe.service.end();
    await lethe.admin('ledger:export', '--out', ledger());
    await saved?.restore();
    await lethe.admin('ledger:import', '--in', ledger());
    await expect(lethe.child(killedAt({ at: statement, count: 3 }, lethe.root)).start()).rejects.toThrow(
      'HELD',
    );
    const inState = (status: string): Promise<object[]> =>
      lethe.database.rows('SELECT 1 FROM deletion_requests WHERE status = ?', status);
    expect(await inState('processing')).toHaveLength(left);
    expect((await inState('completed')).length).toBeGreaterThan(0);
    await lethe.database.run('DELETE FROM job_leases');
    await lethe.service.start();
    expect(await inState('completed')).toHaveLength(people.length);
    for (const [who, requestId] of requests) await expectGone(who, requestId);
    const done = `SELECT 1 FROM audit_events WHERE event_type = 'deletion_completed'`;
    expect(await lethe.database.rows(done)).toHaveLength(people.length);
  });
});

describe('a start on restored data beside the present keys', () => {
  it('erases again without any import, and the audit log stays what was sealed', async () => {
    const [gone, stays] = [await bot.hasUser(), await bot.hasUser()];
    await lethe.sealed();
    await backup();
    const requestId = await bot.hasForgotten(gone);
    await lethe.service.end();
    await saved?.restore(['data']);
    // No one can read the events of the erased user, whether they are erased again yet or not.
    await expectVerified();
    await lethe.service.start();
    // The ids ended with the key: the bot cannot learn them.
    await expectGone(gone, requestId, { user_id: ZEROS, guild_id: ZEROS });
    expect(await calls()).toEqual([]);
    expect((await bot.export<{ data: object }>(stays)).data.data).toEqual({
      profile: { value: stays.user_id },
    });
    await lethe.sealed();
    await lethe.service.end();
    await expectVerified();
  });

  it('verifies after a repeat whose first erasure had a later time', async () => {
    const gone = await bot.hasUser();
    await lethe.sealed();
    await backup();
    const requestId = await bot.hasForgotten(gone);
    await lethe.service.end();
    const ahead = new Date(Date.now() + 3_600_000).toISOString();
    await lethe.database.run('UPDATE keys.erasure_ledger SET erased_at = ?', ahead);
    await saved?.restore(['data']);
    await lethe.service.start();
    await expectGone(gone, requestId, { user_id: ZEROS, guild_id: ZEROS });
    const { data } = await bot.get(`/gdpr/forget-status/${requestId}`);
    expect(data['created_at']).toBe(data['completed_at']);
    await lethe.sealed();
    await lethe.service.end();
    await expectVerified();
  });

  it('does not cover what was tampered with: a removed subject, a removed key, another type of event', async () => {
    const [gone, stays] = [await bot.hasUser(), await bot.hasUser()];
    await lethe.sealed();
    await backup();
    await bot.hasForgotten(gone);
    await lethe.service.end();
    await saved?.restore(['data']);
    await lethe.service.start();
    await lethe.sealed();
    await lethe.service.end();
    const ids = storedIds(await digestsOf(lethe.database, lethe.environment), bot.id, stays);
    const [row] = await lethe.database.rows<{ key_id: string }>(
      'SELECT key_id FROM subjects WHERE user_id = ?',
      ids.user_id,
    );
    await lethe.database.run('DELETE FROM subjects WHERE user_id = ?', ids.user_id);
    expect((await lethe.admin('audit:verify')).stdout).toContain('no erasure of the user is on record');
    await lethe.database.run(
      'INSERT INTO subjects (bot_id, guild_id, user_id, key_id) VALUES (?, ?, ?, ?)',
      ...[bot.id, ids.guild_id, ids.user_id, row?.key_id ?? ''],
    );
    await expectVerified();
    // The end of the erasure that was done again is the evidence: without it the events before it have none.
    const tampered = `substr(details, 1, 40) || CASE substr(details, 41, 1) WHEN 'A' THEN 'B' ELSE 'A' END || substr(details, 42)`;
    await lethe.database.run(
      `UPDATE audit_events SET details = ${tampered} WHERE event_type = 'deletion_completed'`,
    );
    expect((await lethe.admin('audit:verify')).stdout).toContain('no erasure of the user is on record');
  });
});

describe('a backup that is made amid an erasure', () => {
  const ended = (): Promise<void> =>
    until(
      async () =>
        (await lethe.database.rows(`SELECT 1 FROM deletion_requests WHERE status = 'processing'`)).length ===
        0,
    );

  it('is erased to the end after the restore, and the log is what was sealed', async () => {
    const [gone, stays] = [await bot.hasUser(), await bot.hasUser()];
    await lethe.sealed();
    const counts = jest.spyOn(SubjectDataHolders.prototype, 'count').mockRejectedValue(databaseUnavailable());
    const { details } = (await bot.post('/gdpr/forget-user', gone)).error;
    await lethe.sealed();
    await lethe.service.end();
    counts.mockRestore();
    const { status, request_id: id } = details as { status: string; request_id: string };
    expect(status).toBe('processing');
    // Otherwise the next process leaves it to the one that began it.
    await lethe.database.run(`UPDATE deletion_requests SET created_at = '2026-01-01T00:00:00.000Z'`);
    saved = await SavedDatabase.of(lethe.database, lethe.path);
    await lethe.service.start();
    await ended();
    await lethe.service.end();
    await lethe.admin('ledger:export', '--out', ledger());
    await saved.restore();
    await lethe.admin('ledger:import', '--in', ledger());
    await expectVerified();
    await lethe.service.start();
    await ended();
    await expectGone(gone, id);
    expect((await bot.export<{ data: object }>(stays)).data.data).toEqual({
      profile: { value: stays.user_id },
    });
    await lethe.sealed();
    await lethe.service.end();
    await expectVerified();
  });
});

if (engine === 'sqlite') {
  it('restored keys beside the present data are destroyed by the import of the ledger', async () => {
    const [gone, stays] = [await bot.hasUser(), await bot.hasUser()];
    await backup();
    const requestId = await bot.hasForgotten(gone);
    await lethe.service.end();
    await lethe.admin('ledger:export', '--out', ledger());
    await saved?.restore(['keys']);
    expect((await lethe.admin('ledger:import', '--in', ledger())).stderr).toContain(
      '1 restored key was destroyed',
    );
    await lethe.service.start();
    await expectGone(gone, requestId);
    expect((await bot.export<{ data: object }>(stays)).data.data).toEqual({
      profile: { value: stays.user_id },
    });
  });

  it('restored keys beside the present data, without an export: a later restore of older data erases again', async () => {
    const [gone, stays] = [await bot.hasUser(), await bot.hasUser()];
    await backup();
    const requestId = await bot.hasForgotten(gone);
    await lethe.service.end();
    await saved?.restore(['keys']);
    await lethe.service.start();
    await expectGone(gone, requestId);
    await lethe.service.end();
    await expectVerified();
    await saved?.restore(['data']);
    await lethe.service.start();
    await expectGone(gone, requestId, { user_id: ZEROS, guild_id: ZEROS });
    expect((await bot.export<{ data: object }>(stays)).data.data).toEqual({
      profile: { value: stays.user_id },
    });
  });

  it('an import of an older export enters what the present data alone records', async () => {
    const [gone, late] = [await bot.hasUser(), await bot.hasUser()];
    await backup();
    await bot.hasForgotten(gone);
    await lethe.service.end();
    await lethe.admin('ledger:export', '--out', ledger());
    await lethe.service.start();
    const requestId = await bot.hasForgotten(late);
    await lethe.service.end();
    await saved?.restore(['keys']);
    const { stderr } = await lethe.admin('ledger:import', '--in', ledger());
    expect(stderr).toContain(
      '1 erasure was added, 0 were known, 0 are too old to count; 2 restored keys were',
    );
    expect(stderr).toContain('1 further erasure was in the data in place alone');
    await lethe.service.start();
    await expectGone(late, requestId);
  });
} else
  it('of several processes that start at once one erases again, and none answers before', async () => {
    const people: SubjectIds[] = [];
    for (let count = 0; count < 20; count++) people.push(await bot.hasUser());
    await backup();
    const requests = new Map<SubjectIds, string>();
    for (const who of people) requests.set(who, await bot.hasForgotten(who));
    await lethe.service.end();
    await lethe.admin('ledger:export', '--out', ledger());
    await saved?.restore();
    await lethe.admin('ledger:import', '--in', ledger());
    const others = [lethe.child(), lethe.child(), lethe.child()];
    await Promise.race(others.map((one) => one.start()));
    for (const [who] of requests) expect(await rowsOf('user_data', who)).toBe(0);
    const completed = `SELECT 1 FROM deletion_requests WHERE status = 'completed'`;
    await until(async () => (await lethe.database.rows(completed)).length === people.length);
    const done = `SELECT 1 FROM audit_events WHERE event_type = 'deletion_completed'`;
    expect(await lethe.database.rows(done)).toHaveLength(people.length);
    for (const one of others) await one.end('SIGKILL');
  });
