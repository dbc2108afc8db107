import { JobLeases, Lease, UnitOfWork } from '@app/database';
import { OrphanKeys, orphansKeptUntil } from '@app/gdpr';
import { Clock, type Config, CONFIG, DAY_MS } from '@app/kernel';
import { runNow } from '../support/jobs';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';
import { readsAndTurns } from '../support/turns';

const service = useServiceInProcess();
afterEach(() => jest.restoreAllMocks());

const keys = async (): Promise<string[]> =>
  (await service.database.rows<{ id: string }>('SELECT id FROM keys.subject_keys ORDER BY id')).map(
    ({ id }) => id,
  );

/** A run that begins this many days from now. */
async function runAfter(days: number): Promise<void> {
  const atMs = Date.now() + days * DAY_MS;
  jest.spyOn(service.app.get(Clock), 'confirmedMs').mockReturnValue(atMs);
  await runNow(service, OrphanKeys);
  jest.restoreAllMocks();
}

/** Keys as a crash between the commits of keys and data leaves them on SQLite, and a restore of older data on both engines. */
async function hasOrphans(count: number, named = 'orphan'): Promise<void> {
  await service.database.run(
    `INSERT INTO keys.subject_keys (id, sealed)
     WITH RECURSIVE n (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < ?)
     SELECT ? || CAST(100000 + at AS TEXT), 'sealed' FROM n`,
    ...[count, named],
  );
}

const days = (): number => service.app.get<Config>(CONFIG).backupRetentionDays;

describe('keys that no subject has', () => {
  it('are removed by a run that finds them a day after another one, and the keys of subjects are not', async () => {
    const bot = await service.registerBot();
    const who = subject();
    await bot.hasConsent(who);
    const before = await keys();
    await hasOrphans(3);
    expect(await keys()).toHaveLength(before.length + 3);
    await runAfter(0);
    await runAfter(0.9);
    expect(await keys()).toHaveLength(before.length + 3);
    await runAfter(1.1);
    expect(await keys()).toStrictEqual(before);
    expect(await bot.eventTypes(who)).toContain('consent_accepted');
  });

  it('are removed a day after they were found also where each run has a process of its own', async () => {
    const before = await keys();
    await hasOrphans(3, 'apart-');
    await runAfter(0);
    await service.restart();
    expect(await keys()).toHaveLength(before.length + 3);
    await runAfter(1.1);
    expect(await keys()).toStrictEqual(before);
    await service.restart();
    await runAfter(2.2);
    const marks = "SELECT name FROM job_leases WHERE name LIKE 'orphan-keys/%'";
    expect(await service.database.rows(marks)).toStrictEqual([]);
  });

  it('are kept for another day where a run between has found too many, or a mark is of a wrong clock', async () => {
    const before = await keys();
    await hasOrphans(3, 'late-');
    await runAfter(5);
    await hasOrphans(1_001, 'many-');
    await runAfter(5.5);
    await service.database.run("DELETE FROM keys.subject_keys WHERE id LIKE 'many-%'");
    await runAfter(6.1);
    expect(await keys()).toHaveLength(before.length + 3);
    await runAfter(400);
    expect(await keys()).toStrictEqual(before);
    await hasOrphans(3, 'wrong-');
    await runAfter(400);
    await runAfter(7);
    await runAfter(8.1);
    expect(await keys()).toStrictEqual(before);
  });

  it('are looked for in reads between which other work runs', async () => {
    await hasOrphans(900, 'some-');
    await service.database.run(
      `INSERT INTO keys.erasure_ledger (bot_id, request_id, guild_id, user_id, erased_at)
       WITH RECURSIVE n (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 6000)
       SELECT '~', CAST(at AS TEXT), 'g', 'u', '2026-01-01T00:00:00.000Z' FROM n`,
    );
    const run = () => runNow(service, OrphanKeys);
    const { found } = await readsAndTurns(service.app.get(UnitOfWork), run);
    // Twice keys, and two parts of the ledger.
    expect(found.slice(0, 7)).toStrictEqual(['read', 'turn', 'read', 'turn', 'read', 'turn', 'read']);
    expect(found.filter((each) => each === 'read')).toHaveLength(4);
    await service.database.run("DELETE FROM keys.erasure_ledger WHERE bot_id = '~'");
    await runAfter(1.1);
    expect((await keys()).filter((id) => id.startsWith('some-'))).toStrictEqual([]);
  });

  it('are removed at once, however many others there are, where an erasure has destroyed them, whose certificate is made anew', async () => {
    const bot = await service.registerBot();
    const who = subject();
    await bot.hasConsent(who);
    const before = await service.database.rows<{ id: string; sealed: string }>(
      'SELECT * FROM keys.subject_keys',
    );
    const id = await bot.hasForgotten(who);
    await bot.get(`/gdpr/forget-status/${id}/certificate`);
    const left = await keys();
    const back = before.filter((key) => !left.includes(key.id));
    expect(back).toHaveLength(1);
    for (const key of back)
      await service.database.run(
        'INSERT INTO keys.subject_keys (id, sealed) VALUES (?, ?)',
        key.id,
        key.sealed,
      );
    await hasOrphans(1_001, 'beside-');
    await runAfter(0);
    expect((await keys()).filter((key) => !key.startsWith('beside-'))).toStrictEqual(left);
    const made = 'SELECT certificate FROM deletion_requests WHERE id = ?';
    expect(await service.database.rows(made, id)).toStrictEqual([{ certificate: null }]);
    await service.database.run("DELETE FROM keys.subject_keys WHERE id LIKE 'beside-%'");
  });

  it('are kept where there are many, since the data is then older than the keys, until the last backup with their data has ended', async () => {
    const bot = await service.registerBot();
    await bot.hasConsent(subject());
    const before = await keys();
    const kept = (): Promise<string | undefined> => orphansKeptUntil(service.app.get(UnitOfWork));
    const { backupRetentionDays: days } = service.app.get<Config>(CONFIG);
    await hasOrphans(1_001);
    await runAfter(0);
    await runAfter(2);
    await runAfter(days - 0.1);
    expect(await keys()).toHaveLength(before.length + 1_001);
    expect(service.logLines.some((line) => line.includes('the data is older than the keys'))).toBe(true);
    expect(Date.parse((await kept()) ?? '')).toBeGreaterThan(Date.now());
    // Those of a further restore wait as long.
    await hasOrphans(1_000, 'further-');
    await runAfter(days + 1);
    await runAfter(2 * days);
    expect(await keys()).toHaveLength(before.length + 2_001);
    await runAfter(2 * days + 1.1);
    expect(await keys()).toStrictEqual(before);
    expect(await kept()).toBeUndefined();
  });

  it('are kept as long where others are found during the wait, or data with the mark of an earlier one was restored', async () => {
    const before = await keys();
    await hasOrphans(1_001, 'first-');
    await runAfter(0);
    await hasOrphans(300, 'newer-');
    await runAfter(days() + 0.1);
    expect(await keys()).toHaveLength(before.length + 1_301);
    await runAfter(2 * days() + 0.2);
    expect(await keys()).toStrictEqual(before);
    for (const mark of ['', '1'])
      await service.database.run(
        'INSERT INTO job_leases (name, locked_until) VALUES (?, ?)',
        ...[`orphan-keys/many-${mark}`, '2026-01-01T00:00:00.000Z'],
      );
    await hasOrphans(1_001, 'fresh-');
    await runAfter(0);
    expect(await keys()).toHaveLength(before.length + 1_001);
    await service.database.run("DELETE FROM keys.subject_keys WHERE id LIKE 'fresh-%'");
  });

  it('are removed by the next run where one was stopped midway', async () => {
    const before = await keys();
    await hasOrphans(3_000, 'midway-');
    await runAfter(0);
    const unitOfWork = service.app.get(UnitOfWork);
    const stopping = new AbortController();
    const write = unitOfWork.write.bind(unitOfWork);
    jest.spyOn(service.app.get(Clock), 'confirmedMs').mockReturnValue(Date.now() + (days() + 0.1) * DAY_MS);
    const lease = await write((tx) => service.app.get(JobLeases).take(tx, 'orphan-keys', 'now'));
    jest.spyOn(lease!, 'batch').mockImplementation(async (work) => {
      const done = await Lease.prototype.batch.call(lease, work);
      if ((await keys()).length < before.length + 3_000) stopping.abort();
      return done;
    });
    await service.app.get(OrphanKeys).run(lease!, stopping.signal);
    await write((tx) => lease!.end(tx));
    expect((await keys()).length).toBeGreaterThan(before.length + 2_400);
    jest.restoreAllMocks();
    await runAfter(days() + 0.1);
    expect(await keys()).toStrictEqual(before);
  });
});
