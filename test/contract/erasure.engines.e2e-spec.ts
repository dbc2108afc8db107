import { JOB } from '@app/http';
import { AsyncLocalStorage } from 'node:async_hooks';
import { ConsentService } from '@app/consent';
import { databaseUnavailable, UnitOfWork } from '@app/database';
import { ErasureRecovery, ErasureService } from '@app/gdpr';
import { SubjectDataHolders } from '@app/crypto';
import type { Bot } from '../support/bot';
import type { Json } from '../support/client';
import { engine } from '../support/database';
import {
  deletionRequest,
  expectFailure,
  expectFaults,
  expectSameRefusal,
  expectSuccess,
  forgotten,
} from '../support/expected';
import {
  BAD_SNOWFLAKES,
  BAD_UUIDS,
  GOOD_SNOWFLAKES,
  itRefuses,
  itTakes,
  UNKNOWN_UUID,
} from '../support/inputs';
import { runNow } from '../support/jobs';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { beforeEachUnit } from '../support/units';
import { until } from '../support/until';

const service = useServiceInProcess();
let bot: Bot;
let who: SubjectIds;
beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
});
afterEach(() => jest.restoreAllMocks());

const forget = (body: Json = { ...who }) => bot.post<{ request_id: string }>('/gdpr/forget-user', body);
const deletion = (id: string) => bot.get(`/gdpr/forget-status/${id}`);

async function hasStored(one: SubjectIds, ...categories: string[]): Promise<void> {
  await bot.hasConsent(one);
  for (const key of categories) await bot.hasData(one, key, { value: `stored in ${key}` });
}

/** Makes the erasing step fail or wait at the first holder. */
function eraseWith(act: () => Promise<never>) {
  const [holder] = service.app.get(SubjectDataHolders).all();
  if (holder === undefined) throw new Error('there is no holder');
  return jest.spyOn(holder, 'erase').mockImplementation(act);
}

describe('POST /api/v1/gdpr/forget-user', () => {
  it('answers 200 completed with the categories that were really erased', async () => {
    for (const key of ['profile', 'settings', 'untouched', 'emptied']) await bot.hasCategory(key);
    await hasStored(who, 'profile', 'settings', 'emptied');
    await bot.hasData(who, 'emptied', {});
    const answer = await forget();
    const { deleted_categories } = answer.data as unknown as { deleted_categories: string[] };
    expectSuccess(answer, 200, forgotten(deleted_categories));
    expect([...deleted_categories].sort()).toStrictEqual(['profile', 'settings']);
  });

  it('answers 200 completed with no categories when nothing is stored', async () => {
    expectSuccess(await forget(), 200, forgotten([]));
  });

  it('answers 200 to a second erasure, which is a new request', async () => {
    await bot.hasCategory('profile');
    await hasStored(who, 'profile');
    const first = await forget();
    const second = await forget();
    expectSuccess(second, 200, forgotten([]));
    expect(second.data.request_id).not.toBe(first.data.request_id);
  });

  it('erases data and consent: export 404, status none, submit 403', async () => {
    await bot.hasCategory('profile');
    await hasStored(who, 'profile');
    await bot.hasForgotten(who);
    expectFailure(await bot.export(who), 404, 'not_found');
    expect((await bot.status(who)).data).toMatchObject({ status: 'none', version: null });
    const body = { ...who, category: 'profile', data: { value: 'x' } };
    expectFailure(await bot.post('/data/submit', body), 403, 'consent_required');
  });

  it('erases what was stored before a revocation', async () => {
    await bot.hasCategory('profile');
    await hasStored(who, 'profile');
    await bot.hasRevoked(who);
    expectSuccess(await forget(), 200, forgotten(['profile']));
    expectFailure(await bot.export(who), 404, 'not_found');
  });

  it('is of one guild: data, consent and audit details of other guilds stay', async () => {
    const elsewhere = { ...who, guild_id: subject().guild_id };
    await bot.hasCategory('profile');
    await hasStored(who, 'profile');
    await hasStored(elsewhere, 'profile');
    await bot.post('/audit/event', { ...elsewhere, event_type: 'data_exported', details: { kept: true } });
    await bot.hasForgotten(who);
    expect((await bot.export(elsewhere)).data).toMatchObject({
      consent: { status: 'accepted' },
      data: { profile: { value: 'stored in profile' } },
    });
    const { text } = await bot.get(`/audit/events?guild_id=${elsewhere.guild_id}`);
    expect(text).toContain('"details":{"kept":true}');
  });

  it('leaves the same user of another bot alone', async () => {
    const other = await service.registerBot();
    await other.hasCategory('profile');
    await other.hasConsent(who);
    await other.hasData(who, 'profile', { value: 'theirs' });
    await bot.hasForgotten(who);
    expect((await other.export(who)).data).toMatchObject({ data: { profile: { value: 'theirs' } } });
  });

  it('keeps the fact of every act and the details of none', async () => {
    await bot.hasCategory('profile');
    await hasStored(who, 'profile');
    await bot.post('/audit/event', { ...who, event_type: 'data_exported', details: { name: 'Ada L.' } });
    await bot.hasForgotten(who);
    const types = await bot.eventTypes(who);
    expect(types.slice(0, 4)).toStrictEqual([
      'consent_requested',
      'consent_accepted',
      'data_submitted',
      'data_exported',
    ]);
    expect(types.filter((type) => type === 'deletion_requested')).toHaveLength(1);
    expect(types.at(-1)).toBe('deletion_completed');
    expect((await bot.get(`/audit/events?user_id=${who.user_id}`)).text).not.toContain('Ada L.');
  });

  it('allows a new life: the user can be asked, accept and store again', async () => {
    await bot.hasCategory('profile');
    await hasStored(who, 'profile');
    await bot.hasForgotten(who);
    await bot.hasConsent(who, '2');
    await bot.hasData(who, 'profile', { value: 'new' });
    expect((await bot.export(who)).data).toMatchObject({ data: { profile: { value: 'new' } } });
  });

  it('answers 401 without a key', async () => {
    expectFailure(await service.anonymous.post('/gdpr/forget-user', who), 401, 'unauthorized');
  });

  it('names every missing field at once', async () => {
    expectFaults(await forget({}), 'user_id', 'guild_id');
  });

  itRefuses('user_id', BAD_SNOWFLAKES, forget, () => ({ ...who }));
  itTakes('user_id', GOOD_SNOWFLAKES, forget, () => ({ ...who }), 200);
  itRefuses('guild_id', BAD_SNOWFLAKES, forget, () => ({ ...who }));
  itTakes('guild_id', GOOD_SNOWFLAKES, forget, () => ({ ...who }), 200);
});

describe('a running erasure', () => {
  const onRecord = async () =>
    (
      await service.database.rows<{ id: string }>(
        'SELECT id FROM deletion_requests WHERE user_id = ?',
        service.stored(bot, who).user_id,
      )
    )[0]?.id;

  /** The database fails after the request is recorded, as in a crash between the two steps. */
  async function brokenOff(): Promise<string> {
    beforeEachUnit(service.app.get(UnitOfWork), async () => {
      if ((await onRecord()) !== undefined) throw new Error('the disk is gone');
    });
    const { error, status } = await forget();
    expect({ status, details: error.details }).toMatchObject({
      status: 503,
      details: { status: 'processing' },
    });
    jest.restoreAllMocks();
    const id = await onRecord();
    if (id === undefined) throw new Error('the erasure never began');
    return id;
  }

  beforeEach(async () => {
    await bot.hasCategory('profile');
    await hasStored(who, 'profile');
  });

  it('is shown processing', async () => {
    const id = await brokenOff();
    const processing = { status: 'processing', completed_at: null, deleted_categories: null };
    expectSuccess(await deletion(id), 200, deletionRequest(who, id, processing));
  });

  it('answers 409 conflict deletion_in_progress to a new request for the user, in another guild too', async () => {
    await brokenOff();
    for (const body of [{ ...who }, { ...who, guild_id: subject().guild_id }])
      expectFailure(await forget(body), 409, 'conflict', { reason: 'deletion_in_progress' });
    expect(await bot.eventTypes(who)).not.toContain('deletion_completed');
  });

  it('closes the subject: export answers 404 and submit 403', async () => {
    await brokenOff();
    expectFailure(await bot.export(who), 404, 'not_found');
    expectFailure(await bot.export(who, '&format=full'), 404, 'not_found');
    const body = { ...who, category: 'profile', data: { value: 'x' } };
    expectFailure(await bot.post('/data/submit', body), 403, 'consent_required');
  });

  it('is not opened again by a new consent', async () => {
    await brokenOff();
    await bot.post('/consents/revoke', who);
    await bot.post('/consents/request', { ...who, consent_version: '2' });
    await bot.post('/consents/accept', { ...who, consent_version: '2' });
    const body = { ...who, category: 'profile', data: { value: 'x' } };
    expectFailure(await bot.post('/data/submit', body), 403, 'consent_required');
  });

  it('leaves other users, and the user in other guilds, open', async () => {
    const others = [subject(), { ...who, guild_id: subject().guild_id }];
    for (const other of others) await hasStored(other, 'profile');
    await brokenOff();
    for (const other of others) expect((await bot.export(other)).status).toBe(200);
  });

  it('is finished by the next start, on SQLite before the first request', async () => {
    const id = await brokenOff();
    await service.database.run('UPDATE deletion_requests SET created_at = ?', '2020-01-01T00:00:00.000Z');
    await service.restart();
    const status = async () => (await deletion(id)).data['status'];
    if (engine === 'postgres') await until(async () => (await status()) !== 'processing');
    expectSuccess(await deletion(id), 200, deletionRequest(who, id, { deleted_categories: ['profile'] }));
    expectFailure(await bot.export(who), 404, 'not_found');
    expect((await bot.status(who)).data).toMatchObject({ status: 'none' });
    expect((await forget()).status).toBe(200);
  });

  it('stays recorded when the next process finds the database busy, and is finished by the next try', async () => {
    const id = await brokenOff();
    const erasures = service.app.get(ErasureService, { strict: false });
    beforeEachUnit(service.app.get(UnitOfWork), () => Promise.reject(databaseUnavailable()));
    await erasures.finishLeft();
    jest.restoreAllMocks();
    expect((await deletion(id)).data['status']).toBe('processing');
    await erasures.finishLeft();
    expect((await deletion(id)).data['status']).toBe('completed');
  });

  it('names a subject that was stored just before its unit', async () => {
    const late = subject();
    const unitOfWork = service.app.get(UnitOfWork);
    const write = unitOfWork.write.bind(unitOfWork);
    // Units of jobs and of requests are not meant.
    const erasing = new AsyncLocalStorage<boolean>();
    let isStored = false;
    jest.spyOn(unitOfWork, 'write').mockImplementation(async (work) => {
      if (erasing.getStore() === true && !isStored) {
        isStored = true;
        await bot.hasConsent(late);
      }
      return write(work);
    });
    const { guild_id: guildId, user_id: userId } = service.stored(bot, late);
    const erasures = service.app.get(ErasureService, { strict: false });
    const erased = await erasing.run(true, () =>
      erasures.eraseIfHeld({ botId: bot.id, guildId, userId }, JOB),
    );
    jest.restoreAllMocks();
    expect((await deletion(erased!.request_id)).data).toMatchObject({ ...late, status: 'completed' });
  });

  it('is left to its own process while it is young', async () => {
    const id = await brokenOff();
    await service.app.get(ErasureService, { strict: false }).finishLeft((createdAt) => createdAt < '2000');
    expect((await deletion(id)).data['status']).toBe('processing');
  });

  it('is finished by the recovery where its time is in the future, as after a clock that was wrong', async () => {
    const id = await brokenOff();
    const sql = 'UPDATE deletion_requests SET created_at = ? WHERE id = ?';
    await service.database.run(sql, '2999-01-01T00:00:00.000Z', id);
    await runNow(service, ErasureRecovery);
    expect((await deletion(id)).data['status']).toBe('completed');
  });

  it('completes as often as it answers 200, and answers 409 to all others of many at the same moment', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => forget()));
    for (const answer of answers)
      if (answer.status !== 200) expectFailure(answer, 409, 'conflict', { reason: 'deletion_in_progress' });
    const completed = (await bot.eventTypes(who)).filter((type) => type === 'deletion_completed');
    expect(completed.length).toBeGreaterThan(0);
    expect(completed).toHaveLength(answers.filter(({ status }) => status === 200).length);
  });

  it('leaves an erasure of another user or by another bot alone', async () => {
    const other = await service.registerBot();
    const answers = await Promise.all([
      forget(),
      forget({ ...subject() }),
      other.post('/gdpr/forget-user', who),
    ]);
    expect(answers.map(({ status }) => status)).toStrictEqual([200, 200, 200]);
  });
});

describe('an erasure that fails', () => {
  it('is answered 503 and shown failed; nothing is erased, and a retry is a new request', async () => {
    await bot.hasCategory('profile');
    await hasStored(who, 'profile');
    const broken = eraseWith(() => Promise.reject(new Error('broken holder')));
    const answer = await forget();
    broken.mockRestore();
    expectFailure(answer, 503, 'service_unavailable');
    expect(answer.text).not.toContain('broken holder');
    const id = String(answer.error.details?.['request_id']);
    expectSuccess(await deletion(id), 200, {
      ...deletionRequest(who, id, { status: 'failed', completed_at: null, deleted_categories: null }),
    });
    expect((await bot.export(who)).data).toMatchObject({
      consent: { status: 'accepted' },
      data: { profile: { value: 'stored in profile' } },
    });
    expect(await bot.eventTypes(who)).toEqual(
      expect.arrayContaining(['deletion_requested', 'deletion_failed']),
    );
    await bot.hasData(who, 'profile', { value: 'open again' });
    const retried = await forget();
    expectSuccess(retried, 200, forgotten(['profile']));
    expect(retried.data.request_id).not.toBe(id);
  });
});

describe('an erasure that another process has ended', () => {
  /** Changes the request before the removal has its lock. */
  function meanwhile(sql: string) {
    const consents = service.app.get(ConsentService, { strict: false });
    const lock = consents.lock.bind(consents);
    jest.spyOn(consents, 'lock').mockImplementation(async (tx, held) => {
      await tx.run(sql, held[0]!.botId);
      return lock(tx, held);
    });
  }

  it('as failed is answered 503 with that status, and not 200', async () => {
    meanwhile(`UPDATE deletion_requests SET status = 'failed' WHERE bot_id = ?`);
    const answer = await forget();
    expectFailure(answer, 503, 'service_unavailable');
    expect(answer.error.details).toMatchObject({ status: 'failed' });
  });

  it('by deleting the bot is answered 401 like everything that it asks for', async () => {
    meanwhile('DELETE FROM deletion_requests WHERE bot_id = ?');
    expectFailure(await forget(), 401, 'unauthorized');
  });
});

describe('GET /api/v1/gdpr/forget-status/{id}', () => {
  it('answers 200 with the deletion request', async () => {
    await bot.hasCategory('profile');
    await hasStored(who, 'profile');
    const { data } = await forget();
    const { completed_at } = data as unknown as { completed_at: string };
    const expected = deletionRequest(who, data.request_id, { deleted_categories: ['profile'], completed_at });
    expectSuccess(await deletion(data.request_id), 200, expected);
  });

  it('answers 200 with no categories where nothing was stored', async () => {
    const id = await bot.hasForgotten(who);
    expectSuccess(await deletion(id), 200, deletionRequest(who, id));
  });

  it('answers 200 for the id in upper case, which is the same UUID', async () => {
    const id = await bot.hasForgotten(who);
    expect((await deletion(id.toUpperCase())).status).toBe(200);
  });

  it('stays readable after a later erasure of the same user', async () => {
    const id = await bot.hasForgotten(who);
    await bot.hasForgotten(who);
    expect((await deletion(id)).status).toBe(200);
  });

  it('answers the identical 404 for a request of another bot and for none', async () => {
    const other = await service.registerBot();
    const theirs = await other.hasForgotten(who);
    const refused = await deletion(theirs);
    expectFailure(refused, 404, 'not_found');
    expectSameRefusal(refused, await deletion(UNKNOWN_UUID));
  });

  it.each(BAD_UUIDS)('answers 400 or 404 when id is %s', async (_, id) => {
    expect([400, 404]).toContain((await deletion(String(id))).status);
  });

  it('answers 400 naming id when it is no UUID', async () => {
    expectFaults(await deletion('1'), 'id');
  });

  it('answers 401 without a key', async () => {
    const id = await bot.hasForgotten(who);
    expectFailure(await service.anonymous.get(`/gdpr/forget-status/${id}`), 401, 'unauthorized');
  });
});
