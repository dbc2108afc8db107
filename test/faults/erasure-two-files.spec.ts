import { copyFileSync, rmSync } from 'node:fs';
import { SubjectDataHolders } from '@app/crypto';
import { databaseUnavailable, keysPath, SqliteDatabase, SqliteTruncation, UnitOfWork } from '@app/database';
import { ErasureReplay, ErasureService } from '@app/gdpr';
import type { Bot } from '../support/bot';
import type { Json } from '../support/client';
import { directoryOnDisk } from '../support/disk';
import { forgetInMemory } from '../support/opened-keys';
import { Service } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

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

/** All keys: they name no bot, and this service has one. */
const keys = async (): Promise<number> =>
  (await service.database.rows('SELECT 1 FROM keys.subject_keys')).length;

const requests = () =>
  service.database.rows<{ id: string; status: string }>(
    'SELECT id, status FROM deletion_requests WHERE bot_id = ?',
    bot.id,
  );

/** The next log of the keys cannot be truncated in the unit that destroys a key, as beside a reader. */
const keptLog = () => jest.spyOn(SqliteTruncation.prototype, 'now').mockReturnValueOnce(false);

/** Runs an erasure up to the removal of its rows; then the log of the keys cannot be truncated. */
async function removed(): Promise<void> {
  keptLog();
  jest.spyOn(service.app.get(UnitOfWork), 'scrubKeys').mockRejectedValue(databaseUnavailable());
  const answer = await bot.post('/gdpr/forget-user', who);
  jest.restoreAllMocks();
  expect(answer.status).toBe(503);
  expect(answer.error.message).toContain('ask for its status');
  expect(await requests()).toMatchObject([{ status: 'processing' }]);
  expect(await count('user_data')).toBe(0);
}

describe('an erasure on SQLite, which commits to the keys and to the data one after the other', () => {
  it('leaves what a bot posts about the user between the two to the user, under a new key', async () => {
    const unitOfWork = service.app.get(UnitOfWork);
    const scrubKeys = unitOfWork.scrubKeys.bind(unitOfWork);
    keptLog();
    const scrubs = jest.spyOn(unitOfWork, 'scrubKeys').mockImplementationOnce(async () => {
      await bot.post('/audit/event', { ...who, event_type: 'data_exported', details: { text: 'x' } });
      expect(await keys()).toBe(1);
      await scrubKeys();
    });
    await bot.hasForgotten(who);
    expect(scrubs).toHaveBeenCalledTimes(1);
    expect(await requests()).toMatchObject([{ status: 'completed' }]);
    expect([await count('subjects'), await keys()]).toStrictEqual([1, 1]);
    const { events } = (await bot.get<{ events: Json[] }>(`/audit/events?user_id=${who.user_id}`)).data;
    const [completed, posted, ...past] = events;
    expect([completed, posted]).toMatchObject([
      { event_type: 'deletion_completed' },
      { ...who, event_type: 'data_exported', details: { text: 'x' } },
    ]);
    expect(past.length).toBeGreaterThan(2);
    for (const event of past) expect(event).toMatchObject({ details: null, erased: true });
  });

  it('is finished by the next start where the process died between the two commits', async () => {
    const { databasePath: path } = service;
    jest
      .spyOn(service.app.get(SubjectDataHolders, { strict: false }), 'count')
      .mockRejectedValueOnce(databaseUnavailable());
    const { error } = await bot.post('/gdpr/forget-user', who);
    expect(error.details).toMatchObject({ status: 'processing' });
    await service.app.close();
    copyFileSync(path, `${path}.before`);
    await service.start();
    expect(await requests()).toMatchObject([{ status: 'completed' }]);
    await service.app.close();
    // As if the second commit had failed: the key is destroyed, the ledger has its entry, and the rows are there.
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
    copyFileSync(`${path}.before`, path);
    expect(await requests()).toMatchObject([{ status: 'processing' }]);
    expect([await count('user_data'), await count('subjects'), await keys()]).toStrictEqual([1, 1, 0]);
    await service.start();
    expect(await requests()).toMatchObject([{ status: 'completed' }]);
    expect([await count('user_data'), await count('subjects'), await keys()]).toStrictEqual([0, 0, 0]);
    expect(await count('keys.erasure_ledger')).toBe(1);
    const { data } = await bot.get(`/gdpr/forget-status/${String(error.details?.['request_id'])}`);
    expect(data).toMatchObject({ ...who, deleted_categories: ['profile'] });
    const { events } = (await bot.get<{ events: Json[] }>('/audit/events')).data;
    expect(events.slice(1).map(({ erased }) => erased)).toStrictEqual(events.slice(1).map(() => true));
  });

  it('keeps the subject closed until it is completed, and leaves what the user has accepted meanwhile', async () => {
    await removed();
    await bot.hasRequest(who, '2.0');
    await bot.post('/consents/accept', { ...who, consent_version: '2.0' });
    const submit = { ...who, category: 'profile', data: { value: 'y' } };
    expect((await bot.post('/data/submit', submit)).status).toBe(403);
    expect((await bot.export(who)).status).toBe(404);
    await service.app.get(ErasureService, { strict: false }).finishLeft();
    expect(await requests()).toMatchObject([{ status: 'completed' }]);
    expect(await count('user_data')).toBe(0);
    const { data } = await bot.get<Json>(`/consents/status?user_id=${who.user_id}&guild_id=${who.guild_id}`);
    expect(data).toMatchObject({ status: 'accepted', version: '2.0' });
    expect(await keys()).toBe(1);
    await bot.hasData(who, 'profile', { value: 'z' });
  });

  it('gives its subject no new key between the commit of the keys and that of the data', async () => {
    const [held] = await service.database.rows<{ key_id: string }>('SELECT key_id FROM subjects');
    const { key_id: id = '' } = held ?? {};
    await service.database.run('DELETE FROM keys.subject_keys WHERE id = ?', id);
    await service.database.run(
      `INSERT INTO keys.erasure_ledger (bot_id, request_id, guild_id, user_id, key_id, erased_at)
       SELECT bot_id, 'r', guild_id, user_id, key_id, '2026-01-01T00:00:00.000Z' FROM subjects`,
    );
    forgetInMemory(service, id);
    const event = { ...who, event_type: 'data_exported' };
    expect((await bot.post('/audit/event', event)).status).toBe(503);
    expect(await service.database.rows('SELECT key_id FROM subjects')).toStrictEqual([{ key_id: id }]);
  });

  it('is not called completed while a reader keeps the key in the log, and is as soon as that ends', async () => {
    const reader = new SqliteDatabase(keysPath(service.databasePath), { readonly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT COUNT(*) FROM subject_keys').get();
    expect((await bot.post('/gdpr/forget-user', who)).status).toBe(503);
    expect(await requests()).toMatchObject([{ status: 'processing' }]);
    // A start does not wait for the reader.
    await service.app.get(ErasureReplay).run();
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
