import { copyFileSync, rmSync } from 'node:fs';
import { databaseUnavailable, keysPath, UnitOfWork, SqliteDatabase } from '@app/database';
import { ErasureService } from '@app/erasure';
import type { Bot } from '../support/bot';
import { directoryOnDisk } from '../support/disk';
import { Service } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

jest.setTimeout(120_000);

let service: Service;
let bot: Bot;
let who: SubjectIds;

beforeEach(async () => {
  service = await new Service({}, undefined, directoryOnDisk()).start();
  bot = await service.registerBot();
  await bot.hasCategory('profile');
  who = subject();
  await bot.hasConsent(who);
  await bot.hasData(who, 'profile', { value: 'x' });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await service.stop();
});

const count = async (table: string): Promise<number> =>
  (await service.database.rows(`SELECT 1 FROM ${table} WHERE bot_id = ?`, bot.id)).length;

const requests = () =>
  service.database.rows<{ id: string; status: string }>(
    'SELECT id, status FROM deletion_requests WHERE bot_id = ?',
    bot.id,
  );

/** Runs an erasure up to the removal of its rows; then the log of the keys cannot be truncated. */
async function removed(): Promise<void> {
  jest.spyOn(service.app.get(UnitOfWork), 'scrubKeys').mockRejectedValue(databaseUnavailable());
  const answer = await bot.post('/gdpr/forget-user', who);
  jest.restoreAllMocks();
  expect(answer.status).toBe(503);
  expect(answer.error.message).toContain('ask for its status');
  expect(await requests()).toMatchObject([{ status: 'processing' }]);
  expect(await count('user_data')).toBe(0);
}

describe('an erasure on SQLite, which commits to the data and to the keys one after the other', () => {
  it('leaves no plain id of an event without details that is posted between the two', async () => {
    const unitOfWork = service.app.get(UnitOfWork);
    const scrubKeys = unitOfWork.scrubKeys.bind(unitOfWork);
    const posted: number[] = [];
    jest.spyOn(unitOfWork, 'scrubKeys').mockImplementationOnce(async () => {
      posted.push((await bot.post('/audit/event', { ...who, event_type: 'data_exported' })).status);
      await scrubKeys();
    });
    await bot.hasForgotten(who);
    expect(posted).toEqual([expect.any(Number)]);
    expect(posted[0]).toBeLessThan(300);
    expect(
      await service.database.rows(
        'SELECT event_type FROM audit_events WHERE user_id = ? OR guild_id = ?',
        ...[who.user_id, who.guild_id],
      ),
    ).toEqual([]);
  });

  it('is finished by the next start where the process died between the two commits', async () => {
    const keys = keysPath(service.databasePath);
    await service.app.close();
    copyFileSync(keys, `${keys}.before`);
    await service.start();
    await removed();
    await service.app.close();
    // As if the second commit had failed: the key exists and the ledger has no entry.
    for (const suffix of ['-wal', '-shm']) rmSync(keys + suffix, { force: true });
    copyFileSync(`${keys}.before`, keys);
    await service.start();
    expect(await requests()).toMatchObject([{ status: 'completed' }]);
    expect(await count('keys.subject_keys')).toBe(0);
    expect(await count('keys.erasure_ledger')).toBe(1);
  });

  it('keeps the subject closed until it is completed, and takes along what was asked meanwhile', async () => {
    await removed();
    await bot.hasRequest(who, '2.0');
    await bot.post('/consents/accept', { ...who, consent_version: '2.0' });
    const submit = { ...who, category: 'profile', data: { value: 'y' } };
    expect((await bot.post('/data/submit', submit)).status).toBe(403);
    expect((await bot.export(who)).status).toBe(404);
    await service.app.get(ErasureService, { strict: false }).finishLeft();
    expect(await requests()).toMatchObject([{ status: 'completed' }]);
    for (const table of ['keys.subject_keys', 'consents', 'user_data']) expect(await count(table)).toBe(0);
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'z' });
  });

  it('destroys the key that an event posted meanwhile has brought back', async () => {
    const unitOfWork = service.app.get(UnitOfWork);
    const scrubKeys = unitOfWork.scrubKeys.bind(unitOfWork);
    const scrubs = jest.spyOn(unitOfWork, 'scrubKeys').mockImplementationOnce(async () => {
      await bot.post('/audit/event', { ...who, event_type: 'data_exported', details: { text: 'x' } });
      expect(await count('keys.subject_keys')).toBe(1);
      return scrubKeys();
    });
    await bot.hasForgotten(who);
    expect(scrubs).toHaveBeenCalledTimes(2);
    expect(await requests()).toMatchObject([{ status: 'completed' }]);
    expect(await count('keys.subject_keys')).toBe(0);
  });

  it('is not called completed while a reader keeps the key in the log, and is as soon as that ends', async () => {
    const reader = new SqliteDatabase(keysPath(service.databasePath), { readonly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT COUNT(*) FROM subject_keys').get();
    expect((await bot.post('/gdpr/forget-user', who)).status).toBe(503);
    expect(await requests()).toMatchObject([{ status: 'processing' }]);
    reader.close();
    await service.app.get(ErasureService, { strict: false }).finishLeft();
    expect(await requests()).toMatchObject([{ status: 'completed' }]);
  });

  it('is not held up by a long export', async () => {
    let end: () => void = () => undefined;
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const ended = new Promise<void>((resolve) => (end = resolve));
    const reading = service.app.get(UnitOfWork).snapshot(async (tx) => {
      await tx.get('SELECT COUNT(*) FROM user_data WHERE bot_id = ?', bot.id);
      begin();
      await ended;
    });
    await begun;
    await bot.hasForgotten(who);
    end();
    await reading;
  });
});

describe('the deletion of a bot on SQLite', () => {
  it('stays on record until its keys are out of the files, and is finished later', async () => {
    const scrubs = jest
      .spyOn(service.app.get(UnitOfWork), 'scrubKeys')
      .mockRejectedValue(databaseUnavailable());
    expect((await bot.delete(`/bots/${bot.id}`)).status).toBe(503);
    const marked = 'SELECT 1 FROM bots WHERE id = ? AND deleted_at IS NOT NULL';
    expect(await service.database.rows(marked, bot.id)).toHaveLength(1);
    scrubs.mockRestore();
    // The process that ran it holds the lease for a while.
    await service.database.run('DELETE FROM job_leases');
    await service.restart();
    const left = 'SELECT 1 FROM bots WHERE id = ?';
    await until(async () => (await service.database.rows(left, bot.id)).length === 0);
  });
});
