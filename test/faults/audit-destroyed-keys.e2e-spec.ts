import { randomUUID } from 'node:crypto';
import { SubjectDigests, SubjectKeys } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { AuditVerifier, BatchSealer, EventOpener, type LogFault } from '@app/sealing';
import type { Bot } from '../support/bot';
import { withoutJobs } from '../support/jobs';
import { exported, seal, verified } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

/** Greater than every place in the log. */
const ANYWHERE = 2 ** 31 - 1;

const service = useServiceInProcess();
let bot: Bot;
let eventId: string;
let reads: jest.SpyInstance;

// The reads and the units of work that the tests watch are those of their own calls.
beforeAll(() => withoutJobs(service));
beforeEach(async () => {
  bot = await service.registerBot();
});
afterEach(() => jest.restoreAllMocks());

async function goes(who: SubjectIds): Promise<void> {
  const named = service.app.get(SubjectDigests).named(bot.id, who);
  await service.app.get(UnitOfWork).write(async (tx) => {
    const [keyId] = await service.app.get(SubjectKeys).destroy(tx, [named]);
    await tx.run(
      `INSERT INTO keys.erasure_ledger (bot_id, request_id, guild_id, user_id, key_id, erased_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
      ...[bot.id, randomUUID(), named.guildId, named.userId, keyId ?? null, new Date().toISOString()],
    );
  });
}

/** One event. The key of its user is destroyed as soon as the event is read. */
async function goesAfterReading(isSealed: boolean, reading: 'read' | 'stored' = 'read'): Promise<void> {
  const who = subject();
  const body = { ...who, event_type: 'data_exported', details: { note: 'text' } };
  eventId = (await bot.post<{ id: string }>('/audit/event', body)).data.id;
  if (isSealed) await seal(service, bot);
  const opener = service.app.get(EventOpener);
  const read = opener[reading].bind(opener) as (...given: unknown[]) => Promise<never>;
  reads = jest.spyOn(opener, reading).mockImplementationOnce(async (...given) => {
    const events = await read(...given);
    await goes(who);
    return events;
  });
}

describe('a key that is destroyed between the reading of an event and its use', () => {
  it('commits to nothing: the sealer reads the event again as it is by then', async () => {
    await goesAfterReading(false, 'stored');
    const sealer = service.app.get(BatchSealer);
    expect(await sealer.seal([bot.id], ANYWHERE)).toStrictEqual([bot.id]);
    expect(await service.database.rows('SELECT 1 FROM audit_batches WHERE bot_id = ?', bot.id)).toEqual([]);
    expect(await sealer.seal([bot.id], ANYWHERE)).toStrictEqual([]);
    expect(reads).toHaveBeenCalledTimes(2);
    expect(await verified(service, bot)).toMatchObject({ events: 1, erased: 1, unsealed: 0, found: [] });
  });

  it('does not keep the logs of other bots from being sealed with it', async () => {
    const other = await service.registerBot();
    await other.post('/audit/event', { ...subject(), event_type: 'data_exported' });
    await goesAfterReading(false, 'stored');
    expect(await service.app.get(BatchSealer).seal([bot.id, other.id], ANYWHERE)).toStrictEqual([bot.id]);
    expect(await verified(service, other)).toMatchObject({ events: 1, unsealed: 0, found: [] });
  });

  it('makes no proof, export or verification wrong', async () => {
    await goesAfterReading(true);
    const proof = await bot.get(`/audit/proof/${eventId}`);
    expect(proof.data).toMatchObject({ event: { id: eventId, erased: true, parts: null } });
    expect(reads).toHaveBeenCalledTimes(2);
    bot = await service.registerBot();
    await goesAfterReading(true);
    const lines = await exported(bot);
    expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({ id: eventId, erased: true, parts: null }),
    );
    bot = await service.registerBot();
    await goesAfterReading(true);
    expect(await verified(service, bot)).toMatchObject({ events: 1, erased: 1, faults: 0, found: [] });
  });

  it('looks like no damage in a list of events at that time: the key exists for the whole list, or for none of it', async () => {
    const who = subject();
    const details = { note: 'text' };
    await bot.post('/audit/event', { ...who, event_type: 'data_exported', details });
    const unitOfWork = service.app.get(UnitOfWork);
    const read = unitOfWork.read.bind(unitOfWork);
    jest.spyOn(unitOfWork, 'read').mockImplementationOnce((work) =>
      read(async (tx) => {
        const get = tx.get.bind(tx);
        jest.spyOn(tx, 'get').mockImplementationOnce(async (...given) => {
          const total = await get(...given);
          await goes(who);
          return total;
        });
        return work(tx);
      }),
    );
    const { data } = await bot.get<{ events: object[] }>('/audit/events');
    expect(data.events).toMatchObject([{ ...who, details }]);
    expect(data.events[0]).not.toHaveProperty('unreadable');
    const { data: then } = await bot.get<{ events: object[] }>('/audit/events');
    expect(then.events).toMatchObject([{ details: null, erased: true }]);
    expect(then.events[0]).not.toHaveProperty('unreadable');
  });
});

describe('a bot that is being deleted', () => {
  it('is left out of a verification, which finds its keys destroyed; other logs are not', async () => {
    const other = await service.registerBot();
    for (const each of [bot, other]) {
      await each.post('/audit/event', { ...subject(), event_type: 'data_exported' });
      await seal(service, each);
    }
    const verifier = service.app.get(AuditVerifier);
    const found: LogFault[] = [];
    const logs: string[] = [];
    await service.app.get(UnitOfWork).write(async (tx) => {
      await tx.run('UPDATE bots SET deleted_at = ? WHERE id = ?', new Date().toISOString(), bot.id);
      await service.app.get(SubjectKeys).destroySome(tx, bot.id);
    });
    for await (const log of verifier.verifyAll((fault) => found.push(fault))) logs.push(log.bot_id);
    expect(found.filter(({ bot_id: id }) => id === bot.id)).toStrictEqual([]);
    expect(logs).not.toContain(bot.id);
    expect(logs).toContain(other.id);
    expect(await verifier.verify(bot.id, (fault) => found.push(fault))).toBeUndefined();
  });
});
