import { JOB } from '@app/http';
import { AuditService } from '@app/audit';
import { SubjectDataHolders, SubjectDigests } from '@app/crypto';
import { SqliteTruncation, UnitOfWork } from '@app/database';
import { ErasureService } from '@app/gdpr';
import { NO_CLAIM } from '@app/acts';
import { Dispatcher } from '@app/webhooks';
import type { Bot } from '../support/bot';
import type { Answer } from '../support/client';
import { engine } from '../support/database';
import { expectFailure } from '../support/expected';
import { withoutSealing } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';
import { SqlLog } from '../support/sql-log';
import { looksTake } from '../support/time';

const service = useServiceInProcess();
let bot: Bot;
let users: readonly SubjectIds[];

beforeAll(async () => {
  await withoutSealing(service);
  // Its statements would count as those of the erasures.
  await service.app.get(Dispatcher, { strict: false }).beforeApplicationShutdown();
});
beforeEach(async () => {
  bot = await service.registerBot();
  await bot.hasCategory('profile');
  users = await stored(40);
});
afterEach(() => jest.restoreAllMocks());

async function stored(count: number): Promise<readonly SubjectIds[]> {
  const people = Array.from({ length: count }, () => subject());
  await Promise.all(
    people.map(async (who) => {
      await bot.hasConsent(who);
      await bot.hasData(who, 'profile', { value: `of ${who.user_id}` });
    }),
  );
  return people;
}

interface Writing {
  readonly writer: { readonly database: { exec(sql: string): void } };
}

interface Forgotten {
  readonly request_id: string;
  readonly deleted_categories: readonly string[];
}

const forget = (who: SubjectIds, key?: string): Promise<Answer<Forgotten>> =>
  bot.post<Forgotten>('/gdpr/forget-user', who, key === undefined ? undefined : { 'idempotency-key': key });

const rows = async (table: string, condition = ''): Promise<number> =>
  (await service.database.rows(`SELECT 1 FROM ${table} WHERE bot_id = ? ${condition}`, bot.id)).length;

/** The user has nothing left, and exactly the given number of erasures. */
async function requireErased(who: SubjectIds, erasures = 1): Promise<void> {
  expect((await bot.export(who)).status).toBe(404);
  const types = await bot.eventTypes(who);
  for (const type of ['deletion_requested', 'deletion_completed'])
    expect([type, types.filter((each) => each === type).length]).toStrictEqual([type, erasures]);
}

describe('erasures of one moment', () => {
  it('are each completed with its own categories, ledger entry, certificate and webhook', async () => {
    await bot.hasCategory('notes');
    for (const who of users.slice(0, 5)) await bot.hasData(who, 'notes', { value: 'x' });
    const strangers = Array.from({ length: 5 }, () => subject());
    const answers = await Promise.all([...users, ...strangers].map((who) => forget(who)));
    const categories = answers.map(({ data }) => data.deleted_categories.join());
    const expected = [
      ...users.map((_, at) => (at < 5 ? 'notes,profile' : 'profile')),
      ...strangers.map(() => ''),
    ];
    expect(categories).toStrictEqual(expected);
    for (const who of [...users, ...strangers]) await requireErased(who);
    const all = answers.length;
    expect(await rows('deletion_requests', `AND status = 'completed' AND key_id IS NOT NULL`)).toBe(all);
    expect(await rows('keys.erasure_ledger', 'AND key_id IS NOT NULL')).toBe(all);
    expect(await rows('webhook_deliveries', `AND event = 'user_forgotten'`)).toBe(all);
    for (const table of ['user_data', 'consents', 'consent_history', 'subjects'])
      expect(await rows(table)).toBe(0);
    const destroyed = 'id IN (SELECT key_id FROM deletion_requests)';
    expect(await service.database.rows(`SELECT 1 FROM keys.subject_keys WHERE ${destroyed}`)).toStrictEqual(
      [],
    );
    const { data } = await bot.get<{ certificate: string }>(
      `/gdpr/forget-status/${answers[3]?.data.request_id}/certificate`,
    );
    const [, payload = ''] = data.certificate.split('.');
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({
      deleted_categories: ['notes', 'profile'],
      erased_rows: { user_data: 2, consents: 1, consent_history: 2, webhook_deliveries: 0, privacy_links: 0 },
    });
  });

  it('share their statements and the scrub of the keys', async () => {
    const scrubs = jest.spyOn(SqliteTruncation.prototype, 'now');
    const log = new SqlLog().open();
    const erasures = service.app.get(ErasureService, { strict: false });
    const digests = service.app.get(SubjectDigests, { strict: false });
    // In one turn of the event loop.
    const answers = await Promise.all(
      users.map((who) => erasures.erase(digests.named(bot.id, who), NO_CLAIM, JOB)),
    );
    log.close();
    expect(new Set(answers.map(({ status }) => status))).toStrictEqual(new Set(['completed']));
    // On SQLite one for each user and table about users, which costs less there than a list of users.
    expect(log.runs / users.length).toBeLessThan(engine === 'postgres' ? 3 : 11);
    expect(scrubs.mock.calls.length).toBeLessThan(users.length / 4);
    expect(scrubs.mock.calls.length > 0).toBe(engine === 'sqlite');
  });

  it('share a unit of SQLite no longer than a turn of the event loop', async () => {
    const units = jest.spyOn(service.app.get(UnitOfWork), 'destroyKeys');
    looksTake(15);
    const answers = await Promise.all(users.map((who) => forget(who)));
    jest.restoreAllMocks();
    expect(new Set(answers.map(({ status }) => status))).toStrictEqual(new Set([200]));
    for (const who of users) await requireErased(who);
    if (engine === 'sqlite') expect(units.mock.calls.length).toBeGreaterThanOrEqual(users.length / 16);
  });

  it('use no query builder', async () => {
    const log = new SqlLog().open();
    await Promise.all(users.slice(0, 8).map((who) => forget(who)));
    log.close();
    expect(log.statements().filter((sql) => /"DeletionRequest"|AS "\w+__/.test(sql))).toStrictEqual([]);
  });

  it('leave the others right where a holder fails for one of them: it alone is failed, with nothing erased', async () => {
    const broken = users[7]!;
    const { user_id: userId } = service.stored(bot, broken);
    const holder = service.app
      .get(SubjectDataHolders)
      .all()
      .find(({ tables }) => tables.includes('consents'))!;
    const erase = holder.erase!.bind(holder);
    jest
      .spyOn(holder, 'erase' as never)
      .mockImplementation(((tx, subjects) =>
        subjects.some((each) => each.userId === userId)
          ? Promise.reject(new Error('planted'))
          : erase(tx, subjects)) as typeof erase as never);
    const answers = await Promise.all(users.map((who) => forget(who)));
    for (const [at, answer] of answers.entries()) {
      if (users[at] === broken) {
        expectFailure(answer, 503, 'service_unavailable');
        expect(answer.error.details).toMatchObject({ status: 'failed' });
      } else expect(answer.status).toBe(200);
    }
    jest.restoreAllMocks();
    for (const who of users) if (who !== broken) await requireErased(who);
    expect((await bot.export(broken)).data).toMatchObject({
      data: { profile: { value: `of ${broken.user_id}` } },
    });
    await bot.hasData(broken, 'profile', { value: 'open again' });
    expect((await forget(broken)).status).toBe(200);
    expect((await bot.export(broken)).status).toBe(404);
  });

  it('erase every other user where some are asked for twice, or in two guilds', async () => {
    const twice = users.slice(0, 4);
    const elsewhere = users.slice(4, 8).map(({ user_id }) => ({ user_id, guild_id: snowflake() }));
    for (const who of elsewhere) await bot.hasConsent(who);
    const asked = [...users, ...twice, ...elsewhere];
    const answers = await Promise.all(asked.map((who) => forget(who)));
    for (const answer of answers)
      if (answer.status !== 200) expectFailure(answer, 409, 'conflict', { reason: 'deletion_in_progress' });
    const done = answers.filter(({ status }) => status === 200).length;
    expect(done).toBeGreaterThanOrEqual(users.length);
    expect(await rows('deletion_requests', `AND status = 'completed'`)).toBe(done);
    expect(await rows('audit_events', `AND event_type = 'deletion_completed'`)).toBe(done);
    for (const who of users.slice(8)) await requireErased(who);
  });

  it('are completed by the recovery, with nothing left, where the engine ends their transaction', async () => {
    const audit = service.app.get(AuditService, { strict: false });
    jest.spyOn(audit, 'recordErased').mockImplementationOnce(async () => {
      if (engine === 'sqlite') service.app.get<Writing>(UnitOfWork).writer.database.exec('ROLLBACK');
      throw Object.assign(new Error('planted'), { code: engine === 'sqlite' ? 'SQLITE_FULL' : '53100' });
    });
    await Promise.all(users.map((who) => forget(who)));
    await service.app.get(ErasureService, { strict: false }).finishLeft();
    for (const who of users) {
      const types = await bot.eventTypes(who);
      if (!types.includes('deletion_completed')) expect((await forget(who)).status).toBe(200);
      expect((await bot.export(who)).status).toBe(404);
    }
    for (const table of ['user_data', 'consents', 'subjects'])
      expect([table, await rows(table)]).toStrictEqual([table, 0]);
  });

  it('answer a repeat with the same Idempotency-Key the same, and erase nothing again', async () => {
    const first = await Promise.all(users.map((who, at) => forget(who, `group-${at}`)));
    const again = await Promise.all(users.map((who, at) => forget(who, `group-${at}`)));
    expect(again.map(({ text }) => text)).toStrictEqual(first.map(({ text }) => text));
    expect(new Set(again.map((answer) => answer.header('idempotent-replayed')))).toStrictEqual(
      new Set(['true']),
    );
    expect(await rows('deletion_requests')).toBe(users.length);
    const [one, other] = await Promise.all([forget(users[0]!, 'shared'), forget(users[1]!, 'shared')]);
    expect([one.status, other.status].sort()).toStrictEqual([200, 409]);
  });

  it('let no submit of their subjects through that ends after them, and leave no row of one before', async () => {
    const submits = users.map(async (who) => {
      const body = { ...who, category: 'profile', data: { value: 'late' } };
      for (let turn = 0; turn < 3; turn++)
        expect([200, 403]).toContain((await bot.post('/data/submit', body)).status);
    });
    const answers = await Promise.all(users.map((who) => forget(who)));
    await Promise.all(submits);
    expect(new Set(answers.map(({ status }) => status))).toStrictEqual(new Set([200]));
    for (const table of ['user_data', 'subjects', 'consents'])
      expect([table, await rows(table)]).toStrictEqual([table, 0]);
  });

  it('are finished together by the recovery, each once', async () => {
    await service.database.run(
      `INSERT INTO deletion_requests (bot_id, id, guild_id, user_id, status, webhook_sent, created_at)
       SELECT bot_id, 'left-' || user_id, guild_id, user_id, 'processing', 0, '2026-01-01T00:00:00.000Z'
       FROM consents WHERE bot_id = ?`,
      bot.id,
    );
    const erasures = service.app.get(ErasureService, { strict: false });
    await Promise.all([erasures.finishLeft(), erasures.finishLeft()]);
    expect(await rows('deletion_requests', `AND status = 'completed'`)).toBe(users.length);
    expect(await rows('audit_events', `AND event_type = 'deletion_completed'`)).toBe(users.length);
    expect(await rows('user_data')).toBe(0);
  });
});
