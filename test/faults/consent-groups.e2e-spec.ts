import { AuditService } from '@app/audit';
import { ConsentedDataHolders } from '@app/crypto';
import type { Bot } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { consentActs } from '../support/consent-acts';
import { engine } from '../support/database';
import { A_TIME, expectFailure } from '../support/expected';
import { withoutSealing } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { SqlLog } from '../support/sql-log';

const service = useServiceInProcess();
let bot: Bot;
let users: readonly SubjectIds[];

beforeAll(() => withoutSealing(service));
beforeEach(async () => {
  bot = await service.registerBot();
  await bot.hasCategory('profile');
  users = Array.from({ length: 40 }, () => subject());
});
afterEach(() => jest.restoreAllMocks());

const asking = (who: SubjectIds, more: Json = {}, key?: string): Promise<Answer> =>
  bot.post('/consents/request', { ...who, consent_version: '1', ...more }, headersOf(key));
const accepting = (who: SubjectIds, more: Json = {}, key?: string): Promise<Answer> =>
  bot.post('/consents/accept', { ...who, consent_version: '1', ...more }, headersOf(key));
const revoking = (who: SubjectIds, more: Json = {}, key?: string): Promise<Answer> =>
  bot.post('/consents/revoke', { ...who, ...more }, headersOf(key));
const headersOf = (key?: string) => (key === undefined ? undefined : { 'idempotency-key': key });

const statuses = (answers: readonly Answer[]): number[] => [...new Set(answers.map(({ status }) => status))];
const count = async (who: SubjectIds, type: string): Promise<number> =>
  (await bot.eventTypes(who)).filter((each) => each === type).length;

describe('requests, acceptances and revocations of one moment', () => {
  it('share their statements', async () => {
    const consents = consentActs(service.app);
    const body = { consent_version: '1', categories: ['profile'] };
    const acts: readonly ((who: SubjectIds) => Promise<unknown>)[] = [
      (who) => consents.request(bot.id, { ...who, ...body }),
      (who) => consents.accept(bot.id, { ...who, ...body }),
      (who) => consents.revoke(bot.id, who),
    ];
    // In one turn of the event loop.
    for (const act of acts) {
      const log = new SqlLog().open();
      await Promise.all(users.map(act));
      log.close();
      expect(log.runs / users.length).toBeLessThan(engine === 'postgres' ? 1 : 20);
      expect(log.statements().filter((sql) => /AS "\w+__/.test(sql))).toStrictEqual([]);
    }
    for (const who of users) expect(await bot.eventTypes(who)).toHaveLength(3);
  });

  it('are each recorded once, in their order', async () => {
    await Promise.all(users.map((who) => asking(who)));
    await Promise.all(users.map((who) => accepting(who)));
    await Promise.all(users.map((who) => revoking(who)));
    const types = ['consent_requested', 'consent_accepted', 'consent_revoked'];
    for (const who of users) expect(await bot.eventTypes(who)).toStrictEqual(types);
  });

  it('say when the data is erased to which each of them ends the consent', async () => {
    await bot.hasCategory('notes');
    const some = users.slice(0, 5);
    for (const who of some) {
      await bot.hasConsent(who);
      await bot.hasData(who, 'notes', { value: 'x' });
      await asking(who, { consent_version: '2', categories: ['profile'] });
    }
    const times = jest.spyOn(service.app.get(ConsentedDataHolders, { strict: false }), 'erasureTimes');
    const { accept } = consentActs(service.app);
    const answers = await Promise.all(some.map((who) => accept(bot.id, { ...who, consent_version: '2' })));
    expect(times.mock.calls.length < some.length).toBe(engine === 'postgres');
    for (const [at, who] of some.entries()) {
      const { data_erased_at } = (await bot.status(who)).data;
      expect([data_erased_at, answers[at]?.consent]).toEqual([
        A_TIME,
        expect.objectContaining({ data_erased_at }),
      ]);
    }
  });

  it('are refused alone, and the others succeed', async () => {
    const [strange, foreign] = [users[3]!, users[17]!];
    await bot.post('/consents/texts', { consent_version: '2', language: 'de', title: 'a', body: 'b' });
    const asked = await Promise.all(
      users.map((who) => {
        if (who === strange) return asking(who, { categories: ['unknown'] });
        return asking(who, who === foreign ? { consent_version: '2', language: 'fr' } : {});
      }),
    );
    const accepted = await Promise.all(users.map((who) => accepting(who)));
    const revoked = await Promise.all(users.map((who) => revoking(who)));
    for (const [at, who] of users.entries()) {
      const isRefused = who === strange || who === foreign;
      for (const each of isRefused ? [accepted[at]!, revoked[at]!] : [])
        expectFailure(each, 404, 'not_found', { current_status: 'none' });
      expect([asked[at]?.status, accepted[at]?.status, revoked[at]?.status]).toStrictEqual(
        isRefused ? [who === strange ? 404 : 400, 404, 404] : [201, 200, 200],
      );
      expect(await bot.eventTypes(who)).toHaveLength(isRefused ? 0 : 3);
    }
  });

  it('fail alone where a library fails for one of them', async () => {
    const broken = users[7]!;
    const { user_id: userId } = service.stored(bot, broken);
    const audit = service.app.get(AuditService, { strict: false });
    const record = audit.recordAll.bind(audit);
    const planted = jest
      .spyOn(audit, 'recordAll')
      .mockImplementation((tx, acts) =>
        acts.some((each) => each.subject.userId === userId)
          ? Promise.reject(new Error('planted'))
          : record(tx, acts),
      );
    const asked = await Promise.all(users.map((who) => asking(who)));
    planted.mockRestore();
    expectFailure(asked[7]!, 500, 'internal_error');
    expect(statuses(asked.filter((_, at) => at !== 7))).toStrictEqual([201]);
    expect((await asking(broken)).status).toBe(201);
    const holders = service.app.get(ConsentedDataHolders, { strict: false });
    const give = holders.give.bind(holders);
    jest
      .spyOn(holders, 'give')
      .mockImplementation((tx, given) =>
        given.some((each) => each.subject.userId === userId)
          ? Promise.reject(new Error('planted'))
          : give(tx, given),
      );
    const accepted = await Promise.all(users.map((who) => accepting(who)));
    expectFailure(accepted[7]!, 500, 'internal_error');
    expect(statuses(accepted.filter((_, at) => at !== 7))).toStrictEqual([200]);
    expect(await bot.eventTypes(broken)).toStrictEqual(['consent_requested']);
    jest.restoreAllMocks();
    expect((await accepting(broken)).status).toBe(200);
    const withdraw = holders.withdraw.bind(holders);
    jest
      .spyOn(holders, 'withdraw')
      .mockImplementation((tx, withdrawn) =>
        withdrawn.some((each) => each.subject.userId === userId)
          ? Promise.reject(new Error('planted'))
          : withdraw(tx, withdrawn),
      );
    const revoked = await Promise.all(users.map((who) => revoking(who)));
    expectFailure(revoked[7]!, 500, 'internal_error');
    expect(statuses(revoked.filter((_, at) => at !== 7))).toStrictEqual([200]);
    expect((await bot.status(broken)).data.status).toBe('accepted');
  });

  it('are done one by one where a statement for several of them takes too long', async () => {
    const audit = service.app.get(AuditService, { strict: false });
    const record = audit.recordAll.bind(audit);
    let slow = 0;
    jest.spyOn(audit, 'recordAll').mockImplementation((tx, acts) => {
      if (acts.length === 1) return record(tx, acts);
      slow++;
      return Promise.reject(Object.assign(new Error('planted'), { code: '57014' }));
    });
    expect(statuses(await Promise.all(users.map((who) => asking(who))))).toStrictEqual([201]);
    expect(statuses(await Promise.all(users.map((who) => accepting(who))))).toStrictEqual([200]);
    expect(statuses(await Promise.all(users.map((who) => revoking(who))))).toStrictEqual([200]);
    expect(slow > 2).toBe(engine === 'postgres');
    for (const who of users) expect(await bot.eventTypes(who)).toHaveLength(3);
  });

  it('of one user are one request, one acceptance and one revocation', async () => {
    const twice = [...users, ...users];
    const asked = await Promise.all(twice.map((who) => asking(who)));
    expect(statuses(asked)).toStrictEqual([201]);
    expect(asked.slice(0, 40).map(({ data }) => data.id)).toStrictEqual(
      asked.slice(40).map(({ data }) => data.id),
    );
    const accepted = await Promise.all(twice.map((who) => accepting(who)));
    const revoked = await Promise.all(twice.map((who) => revoking(who)));
    for (const [at, who] of users.entries()) {
      for (const [current_status, answers] of Object.entries({ accepted, revoked })) {
        const pair = [answers[at]!, answers[at + 40]!].sort((one, other) => one.status - other.status);
        expect(pair[0]?.status).toBe(200);
        expectFailure(pair[1]!, 404, 'not_found', { current_status });
      }
      for (const type of ['consent_requested', 'consent_accepted', 'consent_revoked'])
        expect([type, await count(who, type)]).toStrictEqual([type, 1]);
    }
  });

  it('answer a repeat with the same Idempotency-Key the same, and record nothing again', async () => {
    for (const act of [asking, accepting, revoking]) {
      const first = await Promise.all(users.map((who, at) => act(who, {}, `key-${at}`)));
      const again = await Promise.all(users.map((who, at) => act(who, {}, `key-${at}`)));
      expect(again.map(({ text }) => text)).toStrictEqual(first.map(({ text }) => text));
      expect(new Set(again.map((answer) => answer.header('idempotent-replayed')))).toStrictEqual(
        new Set(['true']),
      );
    }
    for (const who of users) expect(await bot.eventTypes(who)).toHaveLength(3);
    // A repeat does not withdraw what its user has given since.
    for (const who of users) await bot.hasConsent(who, '2');
    await Promise.all(users.map((who, at) => revoking(who, {}, `key-${at}`)));
    for (const who of users) expect((await bot.status(who)).data.status).toBe('accepted');
    const [one, other] = await Promise.all([
      asking(subject(), {}, 'shared'),
      asking(subject(), {}, 'shared'),
    ]);
    expect([one.status, other.status].sort()).toStrictEqual([201, 409]);
  });

  it('withdraw the values of each user, and call the webhook once for each', async () => {
    await bot.hasCategory('notes');
    const asked = users.map((who, at) => ({ who, isPart: at % 8 === 0 }));
    for (const who of users) {
      await bot.hasConsent(who, '1');
      await bot.hasData(who, 'profile', { value: 'x' });
    }
    const revoked = await Promise.all(
      asked.map(({ who, isPart }) => revoking(who, isPart ? { categories: ['profile'] } : {})),
    );
    expect(statuses(revoked)).toStrictEqual([200]);
    const [{ data: one }, { data: part }] = [revoked[1]!, revoked[0]!];
    expect([one, part]).toMatchObject([{ status: 'revoked' }, { status: 'accepted' }]);
    for (const { who, isPart } of asked) {
      const { user_id: userId } = service.stored(bot, who);
      const rows = (table: string, condition: string) =>
        service.database.rows(
          `SELECT 1 FROM ${table} WHERE bot_id = ? AND user_id = ? AND ${condition}`,
          ...[bot.id, userId],
        );
      expect(await rows('user_data', 'withdrawn_at IS NOT NULL')).toHaveLength(1);
      expect(await rows('webhook_deliveries', `event = 'consent_revoked'`)).toHaveLength(isPart ? 0 : 1);
      expect((await bot.status(who)).data).toMatchObject({ status: isPart ? 'accepted' : 'revoked' });
    }
  });

  it('leave nothing behind an erasure that ends after them, and no row without its key', async () => {
    await Promise.all(users.map((who) => asking(who)));
    const forget = (who: SubjectIds) => bot.post('/gdpr/forget-user', who);
    const acts = users.flatMap((who) => [
      accepting(who),
      revoking(who),
      forget(who),
      asking(who, { consent_version: '3' }),
    ]);
    for (const { status } of await Promise.all(acts)) expect([200, 201, 404, 409]).toContain(status);
    for (const table of ['consents', 'consent_history'])
      expect([table, await keyless(table)]).toStrictEqual([table, 0]);
    expect(statuses(await Promise.all(users.map((who) => forget(who))))).toStrictEqual([200]);
    for (const table of ['consents', 'consent_history', 'subjects'])
      expect([table, (await rowsOf(table)).length]).toStrictEqual([table, 0]);
  });
});

const rowsOf = (table: string, condition = '') =>
  service.database.rows(`SELECT 1 FROM ${table} AS held WHERE bot_id = ? ${condition}`, bot.id);

/** The number of rows of a table about users without a key. */
async function keyless(table: string): Promise<number> {
  const own = ['bot_id', 'guild_id', 'user_id'].map((column) => `subjects.${column} = held.${column}`);
  return (await rowsOf(table, `AND NOT EXISTS (SELECT 1 FROM subjects WHERE ${own.join(' AND ')})`)).length;
}
