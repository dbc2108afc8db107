import { JOB } from '@app/http';
import { ConsentService } from '@app/consent';
import { Acts, NO_CLAIM } from '@app/acts';
import { SubjectDataHolders, SubjectDigests } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { EvidenceRetentionJob } from '@app/gdpr';
import { SubmitAct } from '@app/user-data';
import { Bot } from '../support/bot';
import { consentActs } from '../support/consent-acts';
import { runNow } from '../support/jobs';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';
import { itOfSize } from '../support/depth';

const service = useServiceInProcess();

let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot();
  await bot.hasCategory('notes');
});

/** Creates many users without HTTP, which would take most of the time. */
const named = (who: SubjectIds) => service.app.get(SubjectDigests, { strict: false }).named(bot.id, who);

const consents = () => service.app.get(ConsentService);

/** In groups: on a busy machine more callers would wait too long for a connection. */
async function forEach(
  users: readonly SubjectIds[],
  act: (who: SubjectIds) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < users.length; at += 100) await Promise.all(users.slice(at, at + 100).map(act));
}

const auditEvents = (query: string) =>
  bot.get<{ events: { details: unknown }[]; pagination: { total_count: number } }>(`/audit/events?${query}`);

describe('DELETE /api/v1/servers/{guild_id}', () => {
  it('erases the details that a bot has posted about users without any request for consent', async () => {
    const who = subject();
    await bot.post('/servers/register', { guild_id: who.guild_id });
    await bot.post('/audit/event', { ...who, event_type: 'data_submitted', details: { note: 'secret' } });
    const { data } = await bot.delete<{ erased_users: number }>(`/servers/${who.guild_id}`);
    expect(data.erased_users).toBe(1);
    const events = (await auditEvents(`user_id=${who.user_id}`)).data.events;
    expect(events.filter(({ details }) => JSON.stringify(details).includes('secret'))).toEqual([]);
  });

  it('shows no id any more of a user with only posted events without details', async () => {
    const who = subject();
    await bot.post('/servers/register', { guild_id: who.guild_id });
    await bot.post('/audit/event', { ...who, event_type: 'data_submitted' });
    const { data } = await bot.delete<{ erased_users: number }>(`/servers/${who.guild_id}`);
    expect(data.erased_users).toBe(1);
    const { events } = (await auditEvents('')).data;
    expect(events.length).toBeGreaterThan(1);
    for (const id of Object.values(who)) expect(JSON.stringify(events)).not.toContain(id);
    const held = 'SELECT 1 FROM subjects WHERE bot_id = ?';
    expect(await service.database.rows(held, bot.id)).toEqual([]);
  });

  it('waits for a user who is being erased in another guild, and leaves nothing of them', async () => {
    const here = subject();
    const elsewhere = { ...here, guild_id: snowflake() };
    await bot.post('/servers/register', { guild_id: here.guild_id });
    for (const who of [here, elsewhere]) {
      await bot.hasConsent(who);
      await bot.hasData(who, 'notes', { value: 'v' });
    }
    const [guild, ...others] = await Promise.all([
      bot.delete(`/servers/${here.guild_id}`),
      ...Array.from({ length: 10 }, () => bot.post('/gdpr/forget-user', elsewhere)),
    ]);
    expect(guild.status).toBe(200);
    expect(others.map(({ status }) => status)).toContain(200);
    expect((await bot.export(here)).status).toBe(404);
  });

  itOfSize('erases more users than are named at once', async () => {
    const guildId = snowflake();
    await bot.post('/servers/register', { guild_id: guildId });
    const users = Array.from({ length: 1_100 }, () => ({ user_id: snowflake(), guild_id: guildId }));
    await forEach(users, (who) => consentActs(service.app).request(bot.id, { ...who, consent_version: '1' }));
    const { data } = await bot.delete<{ erased_users: number }>(`/servers/${guildId}`);
    expect(data.erased_users).toBe(users.length);
    for (const table of ['consents', 'subjects'])
      expect(await service.database.rows(`SELECT 1 FROM ${table} WHERE bot_id = ?`, bot.id)).toEqual([]);
  });
});

describe('a subject that is being erased', () => {
  /** The first of the two steps of an erasure, after which a crash can happen. */
  const close = (who: SubjectIds) =>
    service.app.get(UnitOfWork).write((tx) => consents().close(tx, [named(who)]));

  it('is closed for submits also when it had no consent before and is given one meanwhile', async () => {
    const who = subject();
    await close(who);
    await bot.hasConsent(who);
    const answer = await bot.post('/data/submit', { ...who, category: 'notes', data: { value: 'v' } });
    expect(answer.status).toBe(403);
  });

  it('has the status none while it has no consent', async () => {
    const who = subject();
    await close(who);
    expect((await bot.status(who)).data).toEqual({
      ...who,
      status: 'none',
      version: null,
      accepted_at: null,
      revoked_at: null,
      declined_at: null,
    });
    expect((await bot.post('/consents/revoke', who)).status).toBe(404);
  });

  it('is open again when the erasure has failed, as it was before', async () => {
    const [who, stranger] = [subject(), subject()];
    await bot.hasConsent(who);
    for (const closed of [who, stranger]) {
      await close(closed);
      await service.app.get(UnitOfWork).write((tx) => consents().reopen(tx, [named(closed)]));
    }
    await bot.hasData(who, 'notes', { value: 'v' });
    expect((await bot.export(stranger)).status).toBe(404);
  });
});

describe('DELETE /api/v1/data/categories/{key}', () => {
  itOfSize(
    'removes every value, also of more users than one unit takes, and has each on record',
    async () => {
      const guildId = snowflake();
      const users = Array.from({ length: 1_001 }, () => ({ user_id: snowflake(), guild_id: guildId }));
      const [acts, act] = [service.app.get(Acts), service.app.get(SubmitAct)];
      const submit = (given: Parameters<SubmitAct['of']>[1]) =>
        acts.run(act, act.of({ botId: bot.id, actor: JOB }, given), NO_CLAIM);
      for (const act of [
        (who: SubjectIds) => consentActs(service.app).request(bot.id, { ...who, consent_version: '1' }),
        (who: SubjectIds) => consentActs(service.app).accept(bot.id, { ...who, consent_version: '1' }),
        (who: SubjectIds) => submit({ ...who, category: 'notes', data: { value: 'v' } }),
      ]) {
        await forEach(users, act);
      }
      expect((await bot.delete('/data/categories/notes')).status).toBe(200);
      const { pagination } = (await auditEvents('event_type=data_deleted&page_size=1')).data;
      expect(pagination.total_count).toBe(users.length);
      expect((await bot.export(users[0] ?? subject())).data).toMatchObject({ data: {} });
    },
  );

  it('ends the consents to the category: what is declared under its key later has to be asked for anew', async () => {
    const who = subject();
    // Slugs that also occur in stored states, or differ only in a character that is a wildcard of LIKE.
    for (const key of ['a_b', 'axb', 'accepted']) await bot.hasCategory(key);
    const asked = { ...who, consent_version: '1', categories: ['a_b', 'axb', 'accepted'] };
    await bot.post('/consents/request', asked);
    await bot.post('/consents/accept', { ...who, consent_version: '1' });
    for (const key of ['a_b', 'accepted']) {
      expect((await bot.delete(`/data/categories/${key}`)).status).toBe(200);
      await bot.hasCategory(key);
      const answer = await bot.post('/data/submit', { ...who, category: key, data: { value: 'v' } });
      expect(answer.status).toBe(403);
    }
    await bot.hasData(who, 'axb', { value: 'v' });
    expect((await bot.status(who)).data).toMatchObject({ categories: [{ key: 'axb', status: 'accepted' }] });
  });
});

describe('an erasure by a process of an older version, which does not know a table', () => {
  it('leaves rows that the next hourly run removes and counts, but none of a user about whom something is held again', async () => {
    const users = [subject(), subject()] as const;
    for (const who of users) {
      await bot.hasConsent(who);
      await bot.post('/privacy-links', { ...who });
    }
    const holders = service.app.get(SubjectDataHolders, { strict: false });
    const older = holders.all().filter(({ tables }) => !tables.includes('privacy_links'));
    const all = jest.spyOn(holders, 'all').mockReturnValue(older);
    for (const who of users) await bot.hasForgotten(who);
    all.mockRestore();
    const links = async (who: SubjectIds): Promise<number> =>
      (
        await service.database.rows(
          'SELECT 1 FROM privacy_links WHERE bot_id = ? AND user_id = ?',
          bot.id,
          service.stored(bot, who).user_id,
        )
      ).length;
    const [erased, back] = users;
    await bot.hasConsent(back);
    // A call that the receiver refused for good, and that a new URL sends again.
    const calls = () =>
      service.database.rows(
        `SELECT status FROM webhook_deliveries WHERE bot_id = ? AND event = 'user_forgotten' AND user_id = ?`,
        bot.id,
        service.stored(bot, erased).user_id,
      );
    await service.database.run(
      `UPDATE webhook_deliveries SET status = 'gone' WHERE bot_id = ? AND event = 'user_forgotten'`,
      bot.id,
    );
    const gone = await calls();
    expect(gone).toEqual([{ status: 'gone' }]);
    expect([await links(erased), await links(back)]).toEqual([1, 1]);
    for (let run = 0; run < 2; run++) {
      await runNow(service, EvidenceRetentionJob);
      expect([await links(erased), await links(back)]).toEqual([0, 1]);
    }
    expect(await calls()).toEqual(gone);
    const [counted] = await service.database.rows<{ erased_rows: string }>(
      'SELECT erased_rows FROM deletion_requests WHERE bot_id = ? AND user_id = ?',
      bot.id,
      service.stored(bot, erased).user_id,
    );
    expect(JSON.parse(counted?.erased_rows ?? '{}')).toMatchObject({ consents: 1, privacy_links: 1 });
  });
});

describe('GET /api/v1/data/export/{user_id}?format=full', () => {
  it('streams a long list of events whole, oldest first, and the record with it', async () => {
    const who = subject();
    await bot.hasConsent(who);
    await bot.hasData(who, 'notes', { value: 'v' });
    const details = { text: 'x'.repeat(8_000) };
    const event = { ...who, event_type: 'data_submitted', details };
    await Promise.all(Array.from({ length: 250 }, () => bot.post('/audit/event', event)));
    const answer = await bot.export<{ audit_events: { details: unknown; source: string }[]; data: unknown }>(
      who,
      '&format=full',
    );
    expect(answer.status).toBe(200);
    expect(answer.text.length).toBeGreaterThan(2_000_000);
    expect(answer.data.data).toEqual({ notes: { value: 'v' } });
    expect(answer.data.audit_events.filter(({ source }) => source === 'client')).toHaveLength(250);
    expect(answer.data.audit_events[0]).toMatchObject({ event_type: 'consent_requested' });
    expect(answer.data.audit_events.at(-1)).toMatchObject({ event_type: 'data_exported' });
  });
});
