import { AuditService } from '@app/audit';
import { holdSubjectsAndConsents } from '@app/consent';
import { ConsentedDataHolders, SubjectDigests, SubjectKeys } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import { SubmitAct } from '@app/user-data';
import type { Bot } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { expectFailure } from '../support/expected';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { keptOpen } from '../support/units';
import { until } from '../support/until';

const service = useServiceInProcess();
let bot: Bot;
let who: SubjectIds;

beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
  const reasons = { reason_de: 'Nötig.', reason_en: 'Needed.' };
  await bot.hasCategory('bans', undefined, {
    legal_basis: 'public_task',
    requires_consent: false,
    ...reasons,
  });
});
afterEach(() => jest.restoreAllMocks());

const submit = (value = 'x') => bot.post('/data/submit', { ...who, category: 'bans', data: { value } });
const rows = (table: string) => service.database.rows(`SELECT 1 FROM ${table} WHERE bot_id = ?`, bot.id);
const values = async () =>
  (await bot.get<{ values: Json }>(`/data/values/${who.user_id}?guild_id=${who.guild_id}`)).data.values;

/** Whether a unit of the service waits for a lock. */
const isWaiting = async () =>
  (
    await service.database.rows(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
  ).length > 0;
const waiting = () => until(isWaiting);

describe('a submit that needs no consent, of a subject without one', () => {
  it('lets an erasure wait for it, which then erases what it has stored', async () => {
    const act = service.app.get(SubmitAct, { strict: false });
    const store = act.store.bind(act);
    let forgetting: Promise<string> | undefined;
    jest.spyOn(act, 'store').mockImplementationOnce(async (tx: Tx, changes) => {
      await keptOpen(tx);
      forgetting = bot.hasForgotten(who);
      await waiting();
      return store(tx, changes);
    });
    expect((await submit()).status).toBe(200);
    await forgetting;
    for (const table of ['user_data', 'subjects', 'consents']) expect(await rows(table)).toEqual([]);
  });

  it('waits for an erasure, and stores with a key that was made after it', async () => {
    expect((await submit('before')).status).toBe(200);
    const { app } = service;
    const named = app.get(SubjectDigests, { strict: false }).named(bot.id, who);
    let submitting: ReturnType<typeof submit> | undefined;
    await app.get(UnitOfWork).write(async (tx) => {
      await keptOpen(tx);
      await holdSubjectsAndConsents(tx, [named], true);
      submitting = submit('after');
      await waiting();
      await tx.run('DELETE FROM user_data WHERE bot_id = ?', bot.id);
      await app.get(SubjectKeys, { strict: false }).destroy(tx, [named]);
    });
    expect((await submitting)?.status).toBe(200);
    expect(await values()).toEqual({ bans: { value: 'after' } });
  });

  it('is refused once the erasure that it waited for has closed the subject', async () => {
    const { app } = service;
    const named = app.get(SubjectDigests, { strict: false }).named(bot.id, who);
    let submitting: ReturnType<typeof submit> | undefined;
    await app.get(UnitOfWork).write(async (tx) => {
      await keptOpen(tx);
      await holdSubjectsAndConsents(tx, [named], true);
      submitting = submit();
      await waiting();
      await tx.run(
        `INSERT INTO consents (bot_id, guild_id, user_id, id, status, version, requested_at, erasing)
         VALUES (?, ?, ?, ?, 'none', '', '2026-01-01T00:00:00.000Z', 1)`,
        ...[bot.id, named.guildId, named.userId, bot.id],
      );
    });
    expect((await submitting)?.status).toBe(409);
    expect(await rows('user_data')).toEqual([]);
  });
});

describe.each([
  ['restrict', 'restriction'],
  ['object', 'objection'],
] as const)('POST /api/v1/data/%s about a subject without a consent', (act, reason) => {
  /** Lets the act wait, with its locks, until `rival` waits for them. */
  async function done<Answer>(rival: () => Promise<Answer>): Promise<Answer> {
    const audit = service.app.get(AuditService, { strict: false });
    const record = audit.record.bind(audit);
    let answering: Promise<Answer> | undefined;
    jest.spyOn(audit, 'record').mockImplementationOnce(async (tx: Tx, ...event) => {
      await keptOpen(tx);
      answering = rival();
      await waiting();
      return record(tx, ...event);
    });
    expect((await bot.post(`/data/${act}`, who)).status).toBe(200);
    return answering ?? rival();
  }

  it('refuses a submit that has read before it and waits for it', async () => {
    expectFailure(await done(submit), 403, 'processing_refused', { reason });
    expect(await rows('user_data')).toEqual([]);
  });

  it('refuses such a submit among others in a batch, which are stored', async () => {
    const items = [who, subject()].map((one) => ({ ...one, category: 'bans', data: { value: 'x' } }));
    const { data } = await done(() => bot.post<{ results: Json[] }>('/data/submit/batch', { items }));
    expect(data.results).toMatchObject([
      { ok: false, error: { code: 'processing_refused', details: { reason } } },
      { ok: true },
    ]);
    expect(await rows('user_data')).toHaveLength(1);
  });
});

describe('a category that is registered and stored under while an act about all others waits', () => {
  beforeEach(async () => {
    await bot.hasCategory('profile');
    await bot.hasConsent(who);
  });

  /** Lets the act wait for a category that is held, after it has read which there are. */
  async function besideANew(purpose: Json, act: () => Promise<{ readonly status: number }>): Promise<void> {
    let acting: ReturnType<typeof act> | undefined;
    await service.app.get(UnitOfWork).write(async (tx) => {
      await keptOpen(tx);
      await tx.get('SELECT 1 FROM categories WHERE bot_id = ? AND key = ? FOR UPDATE', bot.id, 'profile');
      acting = act();
      await waiting();
      await bot.hasCategory('stats', undefined, purpose);
      await bot.hasData(who, 'stats', { value: 'x' });
    });
    expect((await acting)?.status).toBe(200);
  }

  it('is left without values by an objection to everything', async () => {
    const purpose = { legal_basis: 'legitimate_interests' };
    await besideANew(purpose, () => bot.post('/data/object', who));
    expect(await rows('user_data')).toEqual([]);
  });

  it('gets no basis that an objection to everything covers while the objection is not committed', async () => {
    const audit = service.app.get(AuditService, { strict: false });
    const record = audit.record.bind(audit);
    let turning: Promise<Answer> | undefined;
    jest.spyOn(audit, 'record').mockImplementation(async (tx: Tx, ...event) => {
      if (event[1] !== 'data_deleted') return record(tx, ...event);
      await keptOpen(tx);
      let isAnswered = false;
      turning = bot.put('/data/categories/stats', { legal_basis: 'legitimate_interests' });
      void turning.then(() => (isAnswered = true));
      await until(async () => isAnswered || (await isWaiting()));
      return record(tx, ...event);
    });
    await besideANew({ legal_basis: 'contract' }, () => bot.post('/data/object', who));
    expectFailure(await turning!, 409, 'conflict', { reason: 'category_in_use' });
    expect(await values()).toEqual({ stats: { value: 'x' } });
  });

  it('stays covered by a consent to everything of which another category is withdrawn', async () => {
    await besideANew({}, () => bot.post('/consents/revoke', { ...who, categories: ['profile'] }));
    const { categories } = (await bot.status(who)).data;
    expect(categories).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ key: 'profile', status: 'revoked' }),
        { key: 'stats', status: 'accepted' },
      ]),
    );
    expect(await values()).toEqual({ stats: { value: 'x' } });
  });
});

describe('a change of the legal basis to consent', () => {
  const change = () => bot.put('/data/categories/orders', { legal_basis: 'consent' });
  const ordered = () => bot.hasData(who, 'orders', { value: 'x' });
  const marks = () =>
    service.database.rows(
      `SELECT withdrawn_at IS NOT NULL AS marked FROM user_data WHERE bot_id = ?`,
      bot.id,
    );
  beforeEach(async () => {
    await bot.hasCategory('orders', undefined, { legal_basis: 'contract' });
    await bot.hasConsent(who);
  });

  it('waits for a withdrawal that has found another basis, and is refused', async () => {
    await ordered();
    const audit = service.app.get(AuditService, { strict: false });
    const recordAll = audit.recordAll.bind(audit);
    let changing: ReturnType<typeof change> | undefined;
    jest.spyOn(audit, 'recordAll').mockImplementationOnce(async (tx: Tx, ...events) => {
      await keptOpen(tx);
      changing = change();
      await waiting();
      return recordAll(tx, ...events);
    });
    await bot.hasRevoked(who);
    expectFailure(await changing!, 409, 'conflict', { reason: 'category_in_use' });
    expect(await marks()).toEqual([{ marked: false }]);
  });

  it('lets a withdrawal wait for it, which then marks what it leaves', async () => {
    await ordered();
    const holders = service.app.get(ConsentedDataHolders, { strict: false });
    const holdsCategory = holders.holdsCategory.bind(holders);
    let revoking: Promise<void> | undefined;
    jest.spyOn(holders, 'holdsCategory').mockImplementationOnce(async (tx: Tx, ...what) => {
      await keptOpen(tx);
      const holds = await holdsCategory(tx, ...what);
      revoking = bot.hasRevoked(who);
      await waiting();
      return holds;
    });
    expect((await change()).status).toBe(200);
    await revoking;
    expect(await marks()).toEqual([{ marked: true }]);
  });

  it('waits for a submit, and holds its consent too', async () => {
    const act = service.app.get(SubmitAct, { strict: false });
    const store = act.store.bind(act);
    let changing: ReturnType<typeof change> | undefined;
    jest.spyOn(act, 'store').mockImplementationOnce(async (tx: Tx, changes) => {
      await keptOpen(tx);
      changing = change();
      await waiting();
      return store(tx, changes);
    });
    await ordered();
    expect((await changing)?.status).toBe(200);
    await bot.hasRevoked(who);
    expect(await marks()).toEqual([{ marked: true }]);
  });
});

describe('legal_basis that turns to one that can be objected to', () => {
  const change = () => bot.put('/data/categories/terms', { legal_basis: 'legitimate_interests' });
  /** Runs `rival` in the middle of a change that has found nothing in its way. */
  async function besideAChange<T>(rival: () => Promise<T>): Promise<T | undefined> {
    const holders = service.app.get(ConsentedDataHolders, { strict: false });
    const holdsCategory = holders.holdsCategory.bind(holders);
    let running: Promise<T> | undefined;
    jest.spyOn(holders, 'holdsCategory').mockImplementationOnce(async (tx: Tx, ...what) => {
      await keptOpen(tx);
      const holds = await holdsCategory(tx, ...what);
      running = rival();
      await waiting();
      return holds;
    });
    expect((await change()).status).toBe(200);
    return running;
  }

  beforeEach(async () => {
    await bot.hasCategory('terms', undefined, { legal_basis: 'contract' });
    await bot.hasConsent(who);
  });

  it('lets an objection to everything wait for it, which then erases what it leaves', async () => {
    await bot.hasData(who, 'terms', { value: 'x' });
    expect((await besideAChange(() => bot.post('/data/object', who)))?.status).toBe(200);
    expect(await rows('user_data')).toEqual([]);
  });

  it('lets a submit wait for it, which is refused after an objection to everything', async () => {
    await bot.post('/data/object', who);
    const submitted = await besideAChange(() =>
      bot.post('/data/submit', { ...who, category: 'terms', data: { value: 'x' } }),
    );
    expectFailure(submitted!, 403, 'processing_refused', { reason: 'objection' });
    expect(await rows('user_data')).toEqual([]);
  });

  it('looks at 10,000 objections to everything, and at none where nothing is stored', async () => {
    await bot.post('/data/object', who);
    await service.database.run(
      `INSERT INTO processing_refusals (bot_id, guild_id, user_id, category_key, kind, created_at)
       SELECT bot_id, guild_id, 'planted-' || n, category_key, kind, created_at
       FROM processing_refusals, generate_series(1, 10000) n WHERE bot_id = ?`,
      bot.id,
    );
    await bot.hasCategory('empty', undefined, { legal_basis: 'contract' });
    const turned = (key: string) => bot.put(`/data/categories/${key}`, { legal_basis: 'public_task' });
    expect((await turned('empty')).status).toBe(200);
    const other = await bot.hasUser('x', 'terms');
    expectFailure(await turned('terms'), 409, 'conflict', { reason: 'category_in_use' });
    await bot.delete(`/data/values/${other.user_id}?guild_id=${other.guild_id}&category=terms`);
    expect((await turned('terms')).status).toBe(200);
  });
});

describe('requires_consent of a category with many values', () => {
  it('turns to false only while the consents of all its values can be looked at, which are 10,000, with 409', async () => {
    const reasons = { reason_de: 'Nötig.', reason_en: 'Needed.' };
    await bot.hasCategory('levels');
    await bot.hasConsent(who);
    await bot.hasData(who, 'levels', { value: 'x' });
    await planted(10_000);
    const change = () =>
      bot.put('/data/categories/levels', {
        ...{ legal_basis: 'public_task', requires_consent: false, ...reasons },
      });
    expectFailure(await change(), 409, 'conflict', { reason: 'category_in_use' });
    await service.database.run(`DELETE FROM user_data WHERE bot_id = ? AND user_id = 'planted-1'`, bot.id);
    expect((await change()).status).toBe(200);
  });

  /** Inserts users with the consent and the value of the one who is stored, without the interface. */
  async function planted(count: number): Promise<void> {
    const copied = (table: string, columns: string): Promise<unknown> =>
      service.database.run(
        `INSERT INTO ${table} (bot_id, guild_id, user_id, ${columns})
         SELECT bot_id, guild_id, 'planted-' || n, ${columns.replace(/^id/, `'planted-' || n`)}
         FROM ${table}, generate_series(1, ${count}) n WHERE bot_id = ?`,
        bot.id,
      );
    await copied('consents', 'id, status, version, requested_at, accepted_at, erasing');
    await copied('user_data', 'category_key, value, created_at, updated_at, retention_from');
  }
});
