import { JOB } from '@app/http';
import { randomUUID } from 'node:crypto';
import { AuditService } from '@app/audit';
import { SubjectDigests } from '@app/crypto';
import { ExportService } from '@app/gdpr';
import type { Bot } from '../support/bot';
import type { Answer } from '../support/client';
import { engine } from '../support/database';
import { withoutSealing } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { SqlLog } from '../support/sql-log';

const service = useServiceInProcess();
let bot: Bot;
let users: readonly SubjectIds[];
/** Two of these are more than is read together with others. */
const LARGE = 'x'.repeat(60_000);

interface Exported {
  readonly userId: string;
  readonly guildId: string;
  readonly bot: object;
  readonly consent: { readonly status: string } | null;
  readonly data: Readonly<Record<string, { readonly value: string }>>;
}

beforeAll(() => withoutSealing(service));
beforeEach(async () => {
  bot = await service.registerBot();
  await bot.hasCategory('profile');
  await bot.hasCategory('notes');
  users = await stored(30);
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

const exported = (all: readonly SubjectIds[]): Promise<Answer<Exported>[]> =>
  Promise.all(all.map((who) => bot.export<Exported>(who)));

const exportsOf = async (who: SubjectIds): Promise<number> =>
  (await bot.eventTypes(who)).filter((type) => type === 'data_exported').length;

/** What an export has beside its time. */
const shown = ({ status, data }: Answer<Exported>): object => ({
  status,
  data: { ...data, exportedAt: '' },
});

describe('exports of one moment', () => {
  it('answer each caller what an export alone answers, and record each', async () => {
    for (const who of users.slice(0, 5)) await bot.hasData(who, 'notes', { value: 'ä'.repeat(20) });
    const answers = await exported(users);
    for (const [at, who] of users.entries()) {
      expect(shown(answers[at] as Answer<Exported>)).toStrictEqual(shown(await bot.export(who)));
      expect(answers[at]?.data.data.profile).toStrictEqual({ value: `of ${who.user_id}` });
      expect(await exportsOf(who)).toBe(2);
    }
    expect(answers.filter(({ data }) => 'notes' in data.data)).toHaveLength(5);
  });

  it('of one user are as many records', async () => {
    const who = users[0] as SubjectIds;
    const answers = await exported(Array.from({ length: 8 }, () => who));
    for (const answer of answers) expect(answer.status).toBe(200);
    expect(await exportsOf(who)).toBe(8);
  });

  it('hold nobody up who is unknown, revoked, erased, or whose values are large', async () => {
    const [revoked, erased, large, ...others] = users as [
      SubjectIds,
      SubjectIds,
      SubjectIds,
      ...SubjectIds[],
    ];
    await bot.hasRevoked(revoked);
    await bot.hasForgotten(erased);
    await bot.hasData(large, 'profile', { value: LARGE });
    await bot.hasData(large, 'notes', { value: LARGE });
    const answers = await exported([revoked, erased, subject(), large, ...others]);
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toStrictEqual([200, 404, 404, 200, ...others.map(() => 200)]);
    expect(answers[0]?.data.consent).toMatchObject({ status: 'revoked' });
    expect(answers[3]?.data.data).toStrictEqual({ notes: { value: LARGE }, profile: { value: LARGE } });
  });

  it('answer 404 to the user who is being erased, and everybody else', async () => {
    const [erasing, ...others] = users as [SubjectIds, ...SubjectIds[]];
    const { guildId, userId } = service.app.get(SubjectDigests, { strict: false }).named(bot.id, erasing);
    await service.database.run(
      `INSERT INTO deletion_requests (bot_id, id, guild_id, user_id, status, webhook_sent, created_at)
       VALUES (?, ?, ?, ?, 'processing', 0, '2020-01-01T00:00:00.000Z')`,
      ...[bot.id, randomUUID(), guildId, userId],
    );
    const answers = await exported([erasing, ...others]);
    expect(answers.map(({ status }) => status)).toStrictEqual([404, ...others.map(() => 200)]);
    expect(await exportsOf(erasing)).toBe(0);
  });

  it('fail for the user whose values cannot be decrypted, and for nobody else', async () => {
    const [damaged, ...others] = users as [SubjectIds, ...SubjectIds[]];
    const { guildId, userId } = service.app.get(SubjectDigests, { strict: false }).named(bot.id, damaged);
    const other = 'SELECT value FROM user_data WHERE bot_id = ? AND user_id <> ? LIMIT 1';
    await service.database.run(
      `UPDATE user_data SET value = (${other}) WHERE bot_id = ? AND guild_id = ? AND user_id = ?`,
      ...[bot.id, userId, bot.id, guildId, userId],
    );
    const answers = await exported([damaged, ...others]);
    expect(answers.map(({ status }) => status)).toStrictEqual([500, ...others.map(() => 200)]);
    expect(await exportsOf(damaged)).toBe(0);
  });

  it('are each answered where what they share fails', async () => {
    const audit = service.app.get(AuditService, { strict: false });
    const recordAll = audit.recordAll.bind(audit);
    jest.spyOn(audit, 'recordAll').mockImplementation(async (tx, acts) => {
      if (acts.length > 1) throw new Error('the statement failed');
      return recordAll(tx, acts);
    });
    for (const { status } of await exported(users)) expect(status).toBe(200);
    for (const who of users) expect(await exportsOf(who)).toBe(1);
  });

  it('share their statements on PostgreSQL, and use no query builder on either engine', async () => {
    const exporting = service.app.get(ExportService, { strict: false });
    const digests = service.app.get(SubjectDigests, { strict: false });
    const log = new SqlLog().open();
    await Promise.all(users.map((who) => exporting.export(digests.named(bot.id, who), false, JOB)));
    log.close();
    expect(log.runs / users.length).toBeLessThan(engine === 'postgres' ? 1 : 12);
    expect(log.statements().filter((sql) => /AS "\w+__/.test(sql))).toStrictEqual([]);
  });

  it('beside erasures of their users answer all or nothing, and nothing behind an erasure', async () => {
    const forgetting = users.map(async (who) => {
      await bot.hasForgotten(who);
      return bot.export(who);
    });
    const during = await exported([...users, ...users]);
    for (const [at, answer] of during.entries()) {
      expect([200, 404]).toContain(answer.status);
      const id = users[at % users.length]?.user_id;
      if (answer.status === 200) expect(answer.data.data).toStrictEqual({ profile: { value: `of ${id}` } });
    }
    for (const { status } of await Promise.all(forgetting)) expect(status).toBe(404);
  });
});
