import { AuditService } from '@app/audit';
import { SubjectDigests, SubjectKeys, UnreadableSecretError } from '@app/crypto';
import { databaseUnavailable, UnitOfWork } from '@app/database';
import { BatchSealer } from '@app/sealing';
import type { Bot } from '../support/bot';
import { seal, verified } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

const service = useServiceInProcess();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot();
});

const write = async (who: SubjectIds = subject(), details?: object): Promise<string> => {
  const body = { ...who, event_type: 'data_exported', ...(details && { details }) };
  return (await bot.post<{ id: string }>('/audit/event', body)).data.id;
};

const heads = () =>
  service.database.rows<{ number: number; last_seq: number }>(
    'SELECT number, last_seq FROM audit_heads WHERE bot_id = ?',
    bot.id,
  );

describe('the audit log', () => {
  it('is sealed by itself after an act, one after another', async () => {
    for (let acts = 0; acts < 5; acts++) {
      await write();
      const [{ seq }] = (await service.database.rows<{ seq: number }>(
        'SELECT MAX(seq) AS seq FROM audit_events WHERE bot_id = ?',
        bot.id,
      )) as [{ seq: number }];
      await until(async () => (await heads())[0]?.last_seq === seq);
    }
    expect(await verified(service, bot)).toMatchObject({ batches: 5, events: 5, unsealed: 0, found: [] });
  });

  it('is sealed in batches of at most 500, each chained to the one before', async () => {
    const acts = Array.from({ length: 552 }, (_, count) => ({
      subject: service.app.get(SubjectDigests).named(bot.id, subject()),
      type: 'data_submitted' as const,
      details: { count },
    }));
    await service.app.get(UnitOfWork).write((tx) => service.app.get(AuditService).recordAll(tx, acts));
    await seal(service, bot);
    const batches = await service.database.rows<{
      number: number;
      events: number;
      previous: string;
      chain: string;
    }>('SELECT number, events, previous, chain FROM audit_batches WHERE bot_id = ? ORDER BY number', bot.id);
    expect(batches.reduce((sum, { events }) => sum + events, 0)).toBe(552);
    expect(batches.every(({ events }) => events <= 500)).toBe(true);
    expect(batches.map(({ number }) => number)).toStrictEqual(batches.map((_, at) => at + 1));
    expect(batches.slice(1).map(({ previous }) => previous)).toStrictEqual(
      batches.slice(0, -1).map(({ chain }) => chain),
    );
    expect(await verified(service, bot)).toMatchObject({ events: 552, unsealed: 0, found: [] });
  });

  it('verifies after an erasure, which changes none of its rows; these name no user at any time', async () => {
    const rowsOf = (table: string, order: string) =>
      service.database.rows(`SELECT * FROM ${table} WHERE bot_id = ? ORDER BY ${order}`, bot.id);
    const [gone, stays] = [subject(), subject()];
    for (const who of [gone, stays]) {
      await bot.hasConsent(who);
      await write(who, { note: 'text' });
      await write(who);
    }
    await seal(service, bot);
    const [events, batches] = [await rowsOf('audit_events', 'seq'), await rowsOf('audit_batches', 'number')];
    await bot.hasForgotten(gone);
    await write(stays);
    await seal(service, bot);
    const after = await verified(service, bot);
    expect(after).toMatchObject({ events: 11, erased: 6, unsealed: 0, found: [] });
    const now = [await rowsOf('audit_events', 'seq'), await rowsOf('audit_batches', 'number')];
    expect(now[0]?.slice(0, events.length)).toStrictEqual(events);
    expect(now[1]?.slice(0, batches.length)).toStrictEqual(batches);
    const text = JSON.stringify([...now, await rowsOf('audit_heads', 'bot_id')]);
    for (const { user_id: userId, guild_id: guildId } of [gone, stays]) {
      expect(text).not.toContain(userId);
      expect(text).not.toContain(guildId);
    }
  });

  it('verifies when a subject is erased before its events are sealed', async () => {
    const gone = subject();
    await bot.hasConsent(gone);
    await write(gone, { note: 'text' });
    await bot.hasForgotten(gone);
    await seal(service, bot);
    expect(await verified(service, bot)).toMatchObject({ events: 5, erased: 5, found: [] });
  });

  it('verifies when a subject is erased while its events are being sealed', async () => {
    const gone = subject();
    await bot.hasConsent(gone);
    // The first batch that is made from here on holds the event that is written below.
    await seal(service, bot);
    const sealer: { batch(...given: unknown[]): Promise<unknown> } = service.app.get(BatchSealer);
    const make = sealer.batch.bind(sealer);
    let erasure: Promise<unknown> | undefined;
    const between = jest.spyOn(sealer, 'batch').mockImplementationOnce(async (...given) => {
      await (erasure = bot.hasForgotten(gone));
      return make(...given);
    });
    await write(gone, { note: 'text' });
    // Sealed by this call or by the job, whichever is first.
    await seal(service, bot);
    await until(() => erasure !== undefined);
    await erasure;
    between.mockRestore();
    expect(await verified(service, bot)).toMatchObject({ found: [] });
    await seal(service, bot);
    expect(await verified(service, bot)).toMatchObject({ erased: 5, unsealed: 0, found: [] });
  });

  it('has no two batches of one number, and none twice, when many seal it at once', async () => {
    await Promise.all(Array.from({ length: 40 }, () => write()));
    await Promise.all(Array.from({ length: 8 }, () => seal(service, bot)));
    await write();
    await Promise.all(Array.from({ length: 8 }, () => seal(service, bot)));
    expect(await verified(service, bot)).toMatchObject({ events: 41, unsealed: 0, found: [] });
  });

  it('is removed with its bot', async () => {
    await write();
    await seal(service, bot);
    await bot.delete(`/bots/${bot.id}`);
    expect(await heads()).toStrictEqual([]);
    expect(await service.database.rows('SELECT 1 FROM audit_batches WHERE bot_id = ?', bot.id)).toStrictEqual(
      [],
    );
  });

  it.each([
    ['a fault', new Error('planned')],
    ['a lock on its log', Object.assign(databaseUnavailable(), { cause: { code: '55P03' } })],
  ])('is sealed for the others while one bot cannot be: %s', async (_, fault) => {
    const broken = bot;
    await write();
    await seal(service, bot);
    bot = await service.registerBot();
    const sealer = service.app.get(BatchSealer);
    const original = sealer.seal.bind(sealer);
    const fails = jest.spyOn(sealer, 'seal').mockImplementation(async (ids, settled) => {
      if (ids.includes(broken.id)) throw fault;
      return original(ids, settled);
    });
    await broken.post('/audit/event', { ...subject(), event_type: 'data_exported' });
    await write();
    await until(async () => (await heads())[0]?.number === 1);
    fails.mockRestore();
    expect(await verified(service, bot)).toMatchObject({ events: 1, unsealed: 0, found: [] });
  });

  it('is sealed although the key of a subject is damaged and opens nothing', async () => {
    const damaged = jest.spyOn(service.app.get(SubjectKeys), 'open').mockImplementation(() => {
      throw new UnreadableSecretError();
    });
    await write(subject(), { text: 'x' });
    await until(async () => (await heads())[0]?.number === 1);
    damaged.mockRestore();
  });
});
