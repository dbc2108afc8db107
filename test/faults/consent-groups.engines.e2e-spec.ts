import { AuditService } from '@app/audit';
import { ConsentService } from '@app/consent';
import { NO_CLAIM } from '@app/idempotency';
import { ConsentedDataHolders } from '@app/subjects';
import type { Bot } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { engine } from '../support/database';
import { expectFailure } from '../support/expected';
import { withoutSealing } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { SqlLog } from '../support/sql-log';

jest.setTimeout(120_000);

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
const headersOf = (key?: string) => (key === undefined ? undefined : { 'idempotency-key': key });

const statuses = (answers: readonly Answer[]): number[] => [...new Set(answers.map(({ status }) => status))];
const count = async (who: SubjectIds, type: string): Promise<number> =>
  (await bot.eventTypes(who)).filter((each) => each === type).length;

describe('requests and acceptances of one moment', () => {
  it('share their statements', async () => {
    const consents = service.app.get(ConsentService, { strict: false });
    const body = { consent_version: '1', categories: ['profile'] };
    // In one turn of the event loop.
    for (const act of ['request', 'accept'] as const) {
      const log = new SqlLog().open();
      await Promise.all(users.map((who) => consents[act](bot.id, { ...who, ...body }, NO_CLAIM)));
      log.close();
      expect(log.runs / users.length).toBeLessThan(engine === 'postgres' ? 1 : 20);
      expect(log.statements().filter((sql) => /AS "\w+__/.test(sql))).toStrictEqual([]);
    }
    for (const who of users) expect(await bot.eventTypes(who)).toHaveLength(2);
  });

  it('are each recorded once, the request before its acceptance', async () => {
    await Promise.all(users.map((who) => asking(who)));
    await Promise.all(users.map((who) => accepting(who)));
    for (const who of users)
      expect(await bot.eventTypes(who)).toStrictEqual(['consent_requested', 'consent_accepted']);
  });

  it('are refused alone, and the others succeed', async () => {
    const [strange, foreign] = [users[3]!, users[17]!];
    await bot.post('/consents/texts', { consent_version: '2', language: 'en', title: 'a', body: 'b' });
    const asked = await Promise.all(
      users.map((who) => {
        if (who === strange) return asking(who, { categories: ['unknown'] });
        return asking(who, who === foreign ? { consent_version: '2', language: 'fr' } : {});
      }),
    );
    const accepted = await Promise.all(users.map((who) => accepting(who)));
    for (const [at, who] of users.entries()) {
      const isRefused = who === strange || who === foreign;
      if (isRefused) expectFailure(accepted[at]!, 404, 'not_found', { current_status: 'none' });
      expect([asked[at]?.status, accepted[at]?.status]).toStrictEqual(
        isRefused ? [who === strange ? 404 : 400, 404] : [201, 200],
      );
      expect(await bot.eventTypes(who)).toHaveLength(isRefused ? 0 : 2);
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
    expect(slow > 1).toBe(engine === 'postgres');
    for (const who of users) expect(await bot.eventTypes(who)).toHaveLength(2);
  });

  it('of one user are one request and one acceptance', async () => {
    const twice = [...users, ...users];
    const asked = await Promise.all(twice.map((who) => asking(who)));
    expect(statuses(asked)).toStrictEqual([201]);
    expect(asked.slice(0, 40).map(({ data }) => data.id)).toStrictEqual(
      asked.slice(40).map(({ data }) => data.id),
    );
    const accepted = await Promise.all(twice.map((who) => accepting(who)));
    for (const [at, who] of users.entries()) {
      const pair = [accepted[at]!, accepted[at + 40]!].sort((one, other) => one.status - other.status);
      expect(pair[0]?.status).toBe(200);
      expectFailure(pair[1]!, 404, 'not_found', { current_status: 'accepted' });
      expect([await count(who, 'consent_requested'), await count(who, 'consent_accepted')]).toStrictEqual([
        1, 1,
      ]);
    }
  });

  it('answer a repeat with the same Idempotency-Key the same, and record nothing again', async () => {
    for (const act of [asking, accepting]) {
      const first = await Promise.all(users.map((who, at) => act(who, {}, `key-${at}`)));
      const again = await Promise.all(users.map((who, at) => act(who, {}, `key-${at}`)));
      expect(again.map(({ text }) => text)).toStrictEqual(first.map(({ text }) => text));
      expect(new Set(again.map((answer) => answer.header('idempotent-replayed')))).toStrictEqual(
        new Set(['true']),
      );
    }
    for (const who of users) expect(await bot.eventTypes(who)).toHaveLength(2);
    const [one, other] = await Promise.all([
      asking(subject(), {}, 'shared'),
      asking(subject(), {}, 'shared'),
    ]);
    expect([one.status, other.status].sort()).toStrictEqual([201, 409]);
  });

  it('leave nothing behind an erasure that ends after them, and no row without its key', async () => {
    await Promise.all(users.map((who) => asking(who)));
    const forget = (who: SubjectIds) => bot.post('/gdpr/forget-user', who);
    const acts = users.flatMap((who) => [accepting(who), forget(who), asking(who, { consent_version: '3' })]);
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
