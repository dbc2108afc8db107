import { JOB } from '@app/http';
import { AuditService } from '@app/audit';
import { lockBot } from '@app/bots';
import { CategoryDeclarations, holdCategories } from '@app/categories';
import { ConsentService, holdSubject, lockDecisions, requireConsent } from '@app/consent';
import { lockSubject, type Subject, SubjectDigests } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import { ErasureService, ExportService } from '@app/gdpr';
import { NO_CLAIM } from '@app/acts';
import { requireStorable } from '@app/user-data';
import { type Bot, field } from '../support/bot';
import type { Answer } from '../support/client';
import { consentActs } from '../support/consent-acts';
import { expectFailure } from '../support/expected';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';
import { keptOpen } from '../support/units';

// An act that waited for a lock that is held would not end before it is let go.
const service = useServiceInProcess();
let bot: Bot;
let who: SubjectIds;
let held: Subject;

beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
  held = named(who);
  await bot.hasCategory('profile');
  await bot.hasConsent(who);
});

const named = (whom: SubjectIds) => service.app.get(SubjectDigests, { strict: false }).named(bot.id, whom);
const revoke = () => bot.post('/consents/revoke', who);
const forget = () => bot.post('/gdpr/forget-user', who);
const withdraw = () => bot.delete('/data/categories/profile');
const restrict = () => bot.post('/data/restrict', who);
const submit = () => bot.post('/data/submit', { ...who, category: 'profile', data: { value: 'x' } });

/** Resolves when a transaction waits for a lock of another one. */
async function someoneWaits(): Promise<'waits'> {
  const waiting = () =>
    service.database.rows(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
  await until(async () => (await waiting()).length > 0, 2);
  return 'waits';
}

/** The answer of `compete`, which has to wait for an uncommitted unit with `hold`. */
async function behind<T = Answer>(
  hold: (tx: Tx) => Promise<unknown>,
  compete: () => Promise<T>,
  meanwhile: () => boolean = () => true,
): Promise<T> {
  let commit = (): void => undefined;
  const decided = new Promise<void>((resolve) => (commit = resolve));
  let competing: Promise<T> | undefined;
  const holding = service.app.get(UnitOfWork).write(async (tx) => {
    await keptOpen(tx);
    await hold(tx);
    competing = compete();
    const first = await Promise.race([someoneWaits(), competing.then(() => 'was answered at once')]);
    while (!meanwhile()) await new Promise((resolve) => setImmediate(resolve));
    setImmediate(commit);
    await decided;
    return first;
  });
  expect(await holding).toBe('waits');
  if (competing === undefined) throw new Error('nobody competed');
  return competing;
}

const declarations = () => service.app.get(CategoryDeclarations, { strict: false });
const consents = () => service.app.get(ConsentService, { strict: false });

describe('a module that may store', () => {
  let category = 'profile';
  const eraseValue = () =>
    bot.delete(`/data/values/${who.user_id}?guild_id=${who.guild_id}&category=${category}`);
  const object = () => bot.post('/data/object', who);
  const acts = [
    ['a revocation', revoke],
    ['an objection', object],
    ['a restriction', restrict],
    ['an erasure', forget],
    ['an erasure of the category of the user', eraseValue],
  ] as const;

  it.each(acts)('is committed before %s is', async (_, compete) => {
    category = 'profile';
    const answer = await behind((tx) => requireStorable(tx, held, category), compete);
    expect(answer.status).toBe(200);
  });

  it.each(acts.slice(1))('without a consent is committed before %s is', async (_, compete) => {
    const reasons = { reason_de: 'Nötig.', reason_en: 'Needed.' };
    category = 'bans';
    await bot.hasCategory(category, undefined, {
      legal_basis: 'public_task',
      requires_consent: false,
      ...reasons,
    });
    who = subject();
    const open = named(who);
    expect((await behind((tx) => requireStorable(tx, open, category), compete)).status).toBe(200);
  });
});

describe('a submit that has found its consent in force', () => {
  it.each([
    ['a revocation', revoke],
    ['an erasure', forget],
  ])('is committed before %s is', async (_, compete) => {
    expect((await behind((tx) => requireConsent(tx, held), compete)).status).toBe(200);
    expectFailure(await submit(), 403, 'consent_required');
  });

  it.each([
    ['a revocation', revoke],
    ['an erasure', forget],
  ])('together with others is committed before %s is', async (_, compete) => {
    expect((await behind((tx) => lockDecisions(tx, [held, held], false), compete)).status).toBe(200);
  });

  it('is committed before a restriction is, alone and together with others', async () => {
    expect((await behind((tx) => requireConsent(tx, held), restrict)).status).toBe(200);
    expectFailure(await submit(), 403, 'processing_refused', { reason: 'restriction' });
    await bot.post('/data/unrestrict', who);
    expect((await behind((tx) => lockDecisions(tx, [held, held], false), restrict)).status).toBe(200);
  });

  it('is committed before its category is withdrawn', async () => {
    expect(
      (await behind((tx) => declarations().find(tx, [{ botId: bot.id, key: 'profile' }], true), withdraw))
        .status,
    ).toBe(200);
    const wanted = { botId: bot.id, key: 'again' };
    const together = (tx: Tx) => declarations().find(tx, [wanted, wanted], false);
    await bot.hasCategory('again');
    expect((await behind(together, () => bot.delete('/data/categories/again'))).status).toBe(200);
  });
});

describe('a submit', () => {
  it('waits for a running restriction, and obeys it', async () => {
    const restricting = async (tx: Tx) => {
      await lockSubject(tx, held, 'alone');
      await holdSubject(tx, held);
      await tx.run(
        `INSERT INTO processing_refusals (bot_id, guild_id, user_id, category_key, kind, created_at)
         VALUES (?, ?, ?, '', 'restriction', '2026-11-20T00:00:00.000Z')`,
        ...[held.botId, held.guildId, held.userId],
      );
    };
    expectFailure(await behind(restricting, submit), 403, 'processing_refused', { reason: 'restriction' });
  });

  it('waits for a running decision about the consent, and obeys it', async () => {
    const deciding = async (tx: Tx) => {
      await consents().lock(tx, [held]);
      await tx.run(
        `UPDATE consents SET status = 'revoked' WHERE bot_id = ? AND guild_id = ? AND user_id = ?`,
        ...[held.botId, held.guildId, held.userId],
      );
    };
    expectFailure(await behind(deciding, submit), 403, 'consent_required');
  });
});

describe('a registration', () => {
  it('waits for another one of its bot, and is answered 409 category_exists where both declare one key', async () => {
    const registering = async (tx: Tx) => {
      await lockBot(tx, bot.id, 'NO KEY UPDATE');
      await tx.run(
        `INSERT INTO categories (bot_id, key, id, label_de, label_en, legal_basis, fields, created_at, updated_at)
         SELECT bot_id, 'twice', 'other', label_de, label_en, legal_basis, fields, created_at, updated_at
         FROM categories WHERE bot_id = ?`,
        bot.id,
      );
    };
    const labels = { label_de: 'Zweimal', label_en: 'Twice' };
    const register = () => bot.post('/data/register', { key: 'twice', ...labels, fields: [field('value')] });
    expectFailure(await behind(registering, register), 409, 'conflict', { reason: 'category_exists' });
  });
});

describe('an export', () => {
  it('is committed before the erasure of its subject begins', async () => {
    expect((await behind((tx) => holdSubject(tx, held), forget)).status).toBe(200);
  });
});

describe('exports of one moment', () => {
  it('do not wait for one among them whose subject is held', async () => {
    const others = [subject(), subject()];
    for (const other of others) await bot.hasConsent(other);
    let elsewhere: Answer[] | undefined;
    const all = async () => {
      const slow = bot.export(who);
      elsewhere = await Promise.all(others.map((other) => bot.export(other)));
      return slow;
    };
    const hold = (tx: Tx) => holdSubject(tx, held);
    expect((await behind(hold, all, () => elsewhere !== undefined)).status).toBe(200);
    expect(elsewhere?.map(({ status }) => status)).toStrictEqual([200, 200]);
  });

  it('are committed before the erasure of a subject of theirs begins', async () => {
    const other = subject();
    await bot.hasConsent(other);
    const audit = service.app.get(AuditService, { strict: false });
    const recordAll = audit.recordAll.bind(audit);
    const erasing: Promise<Answer>[] = [];
    const waited: string[] = [];
    jest.spyOn(audit, 'recordAll').mockImplementationOnce(async (...given) => {
      const forgotten = forget();
      erasing.push(forgotten);
      waited.push(await Promise.race([someoneWaits(), forgotten.then(() => 'was answered at once')]));
      return recordAll(...given);
    });
    const exporting = service.app.get(ExportService, { strict: false });
    await Promise.all([who, other].map((whom) => exporting.export(named(whom), false, JOB)));
    expect(waited).toStrictEqual(['waits']);
    expect((await erasing[0])?.status).toBe(200);
  });
});

describe('an event that a bot posts', () => {
  const post = () =>
    bot.post('/audit/event', { ...who, event_type: 'data_exported', details: { text: 'x' } });

  it('is committed before the erasure of its subject, which takes its details along', async () => {
    expect((await behind((tx) => lockSubject(tx, held, 'together'), forget)).status).toBe(200);
  });

  it('of a subject without a consent is so too', async () => {
    const stranger = subject();
    const hold = (tx: Tx) => lockSubject(tx, named(stranger), 'together');
    expect((await behind(hold, () => bot.post('/gdpr/forget-user', stranger))).status).toBe(200);
  });

  it('waits for an erasure that removes what there is', async () => {
    expect((await behind((tx) => consents().lock(tx, [held]), post)).status).toBe(201);
  });
});

describe('submits of one moment', () => {
  it('do not wait for one among them whose subject is held', async () => {
    const other = subject();
    await bot.hasConsent(other);
    let elsewhere: Answer | undefined;
    const both = async () => {
      const slow = submit();
      elsewhere = await bot.post('/data/submit', { ...other, category: 'profile', data: { value: 'x' } });
      return slow;
    };
    const holding = async (tx: Tx) => {
      await consents().lock(tx, [held]);
    };
    expect((await behind(holding, both, () => elsewhere !== undefined)).status).toBe(200);
    expect(elsewhere?.status).toBe(200);
  });
});

describe('requests, acceptances and revocations of one moment', () => {
  const ask = (whom: SubjectIds) =>
    bot.post('/consents/request', { ...whom, consent_version: '2', categories: ['profile'] });

  it.each([
    ['whose subject is held', (tx: Tx) => consents().lock(tx, [held])],
    ['whose consent is held', (tx: Tx) => holdSubject(tx, held)],
  ])('do not wait for one among them %s', async (_, hold) => {
    const others = Array.from({ length: 6 }, () => subject());
    const all = async (act: (whom: SubjectIds) => Promise<Answer>, whom: SubjectIds) => {
      const slow = act(whom);
      elsewhere = await Promise.all(others.map((other) => act(other)));
      return slow;
    };
    let elsewhere: Answer[] = [];
    const isAnswered = () => elsewhere.length > 0;
    expect((await behind(hold, () => all(ask, who), isAnswered)).status).toBe(201);
    expect(elsewhere.map(({ status }) => status)).toStrictEqual(others.map(() => 201));
    elsewhere = [];
    const accept = (whom: SubjectIds) => bot.post('/consents/accept', { ...whom, consent_version: '2' });
    expect((await behind(hold, () => all(accept, who), isAnswered)).status).toBe(200);
    expect(elsewhere.map(({ status }) => status)).toStrictEqual(others.map(() => 200));
    elsewhere = [];
    const withdrawn = (whom: SubjectIds) => bot.post('/consents/revoke', whom);
    expect((await behind(hold, () => all(withdrawn, who), isAnswered)).status).toBe(200);
    expect(elsewhere.map(({ status }) => status)).toStrictEqual(others.map(() => 200));
  });

  it.each<[string, (whom: SubjectIds) => Promise<Answer>, number]>([
    ['events', (whom) => bot.post('/audit/event', { ...whom, event_type: 'data_exported' }), 201],
    ['refusals', (whom) => bot.post('/consents/decline', whom), 200],
  ])('nor do %s', async (_, act, status) => {
    const others = Array.from({ length: 6 }, () => subject());
    for (const whom of [who, ...others]) await ask(whom);
    let elsewhere: Answer[] = [];
    const all = async () => {
      const slow = act(who);
      elsewhere = await Promise.all(others.map(act));
      return slow;
    };
    const hold = (tx: Tx) => consents().lock(tx, [held]);
    expect((await behind(hold, all, () => elsewhere.length > 0)).status).toBe(status);
    expect(elsewhere.map((answer) => answer.status)).toStrictEqual(others.map(() => status));
  });

  it('do not wait for one among them about whom an event is being posted', async () => {
    const stranger = subject();
    const hold = (tx: Tx) => lockSubject(tx, named(stranger), 'together');
    let elsewhere: Answer[] | undefined;
    const all = async () => {
      const slow = ask(stranger);
      elsewhere = await Promise.all(Array.from({ length: 6 }, () => ask(subject())));
      return slow;
    };
    expect((await behind(hold, all, () => elsewhere !== undefined)).status).toBe(201);
  });

  it.each([
    ['category', (tx: Tx) => tx.get(`SELECT 1 FROM categories WHERE bot_id = ? FOR UPDATE`, bot.id)],
    ['bot', (tx: Tx) => lockBot(tx, bot.id, 'UPDATE')],
  ])('do not wait for one among them whose %s is held', async (_, hold) => {
    const other = await service.registerBot();
    await other.hasCategory('profile');
    const asked = consentActs(service.app);
    const body = { consent_version: '2', categories: ['profile'] };
    let elsewhere: unknown[] | undefined;
    const all = async () => {
      // In one turn of the event loop, so that they share a unit.
      const slow = asked.request(bot.id, { ...who, ...body });
      const others = [subject(), subject()];
      elsewhere = await Promise.all(others.map((whom) => asked.request(other.id, { ...whom, ...body })));
      return slow;
    };
    const isAnswered = () => elsewhere !== undefined;
    expect(await behind(hold, all, isAnswered)).toMatchObject({ status: 'pending' });
  });
});

describe('erasures of one moment', () => {
  it.each([
    ['a unit that stores about it', (tx: Tx) => lockSubject(tx, held, 'together')],
    ['a decision about its consent', (tx: Tx) => holdSubject(tx, held)],
  ])('do not wait for one among them whose subject is held by %s', async (_, hold) => {
    const others = [subject(), subject()];
    for (const other of others) await bot.hasConsent(other);
    let elsewhere: Answer[] | undefined;
    const all = async () => {
      const slow = forget();
      elsewhere = await Promise.all(others.map((other) => bot.post('/gdpr/forget-user', other)));
      return slow;
    };
    expect((await behind(hold, all, () => elsewhere !== undefined)).status).toBe(200);
    expect(elsewhere?.map(({ status }) => status)).toStrictEqual([200, 200]);
  });
});

describe('erasures of several bots', () => {
  let others: { readonly bot: Bot; readonly who: SubjectIds }[];
  beforeEach(async () => {
    others = await Promise.all(
      [0, 1].map(async () => {
        const one = { bot: await service.registerBot(), who: subject() };
        await one.bot.hasConsent(one.who);
        return one;
      }),
    );
  });

  it('do not wait for one whose bot is held', async () => {
    const erasures = service.app.get(ErasureService, { strict: false });
    const subjects = others.map((one) =>
      service.app.get(SubjectDigests, { strict: false }).named(one.bot.id, one.who),
    );
    let elsewhere: unknown[] | undefined;
    const all = async () => {
      // In one turn of the event loop, so that they share a unit.
      const slow = erasures.erase(named(who), NO_CLAIM, JOB);
      elsewhere = await Promise.all(subjects.map((each) => erasures.erase(each, NO_CLAIM, JOB)));
      return slow;
    };
    const hold = (tx: Tx) => lockBot(tx, bot.id, 'UPDATE');
    expect(await behind(hold, all, () => elsewhere !== undefined)).toMatchObject({ status: 'completed' });
    expect(elsewhere).toMatchObject(others.map(() => ({ status: 'completed' })));
  });

  it('do not wait for one that has begun and whose subject is held', async () => {
    const erasures = service.app.get(ErasureService, { strict: false });
    const finish = erasures.finish.bind(erasures);
    let elsewhere: Answer | undefined;
    let free = (): void => undefined;
    const isHeld = new Promise<void>((resolve) => (free = resolve));
    const planned = jest.spyOn(erasures, 'finish').mockImplementation(async (begun) => {
      await isHeld;
      return finish(begun);
    });
    const [one] = others;
    const slow = forget();
    await until(() => planned.mock.calls.length === 1);
    const quick = one?.bot.post('/gdpr/forget-user', one.who);
    await until(() => planned.mock.calls.length === 2);
    const all = async () => {
      free();
      elsewhere = await quick;
      return slow;
    };
    const answer = await behind(
      (tx) => holdSubject(tx, held),
      all,
      () => elsewhere !== undefined,
    );
    planned.mockRestore();
    expect([answer.status, elsewhere?.status]).toStrictEqual([200, 200]);
  });
});

describe('a question for consent that names categories', () => {
  it('is committed before one of them is withdrawn', async () => {
    expect(
      (await behind((tx) => holdCategories(tx, [{ botId: bot.id, key: 'profile' }], true), withdraw)).status,
    ).toBe(200);
  });

  it('is committed before one of them is changed', async () => {
    const key = 'profile';
    const change = () => bot.put('/data/categories/profile', { retention_days: 3650 });
    expect(
      (await behind((tx) => holdCategories(tx, [{ botId: bot.id, key }], true, 'FOR SHARE'), change)).status,
    ).toBe(200);
  });

  it('waits for a running change, which the user is then shown and the receipt states', async () => {
    const asked = { ...subject(), consent_version: '1.0' };
    const changing = (tx: Tx) =>
      tx.run(
        `UPDATE categories SET retention_days = 3650, updated_at = '2026-01-01T00:00:00.000Z' WHERE bot_id = ?`,
        bot.id,
      );
    const request = () => bot.post('/consents/request', { ...asked, categories: ['profile'] });
    expect(JSON.stringify((await behind(changing, request)).data['texts'])).toContain('3650');
    const [, payload = ''] = (
      await bot.post<{ receipt: string }>('/consents/accept', asked)
    ).data.receipt.split('.');
    expect(Buffer.from(payload, 'base64url').toString()).toContain('"retention_period":"P3650D"');
  });
});
