import { randomUUID } from 'node:crypto';
import { SubjectDigests } from '@app/crypto';
import { ExportService } from '@app/export';
import { JsonStream } from '@app/http';
import { Clock } from '@app/kernel';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';
import { passes } from '../support/time';

const service = useServiceInProcess();
const HOUR_MS = 3_600_000;
const PORTION_LENGTH = 256 * 1024;

/** What a bot has stored of a user fills several portions. Answers the export, and a function that erases the user. */
async function streamed(): Promise<{ export: JsonStream; erase: () => Promise<void> }> {
  const bot = await service.registerBot();
  const who = subject();
  await bot.hasConsent(who);
  await bot.hasForgotten(who);
  await bot.hasConsent(who);
  const event = { ...who, event_type: 'data_submitted', details: { text: 'x'.repeat(8_000) } };
  await Promise.all(Array.from({ length: 250 }, () => bot.post('/audit/event', event)));
  const held = service.app.get(SubjectDigests, { strict: false }).named(bot.id, who);
  const answer = await service.app.get(ExportService, { strict: false }).export(held, true);
  if (!(answer instanceof JsonStream)) throw new Error('it is not streamed');
  const erase = async (): Promise<void> => {
    await service.database.run(
      `INSERT INTO deletion_requests (bot_id, id, guild_id, user_id, status, webhook_sent, created_at)
       VALUES (?, ?, ?, ?, 'completed', 0, '2020-01-01T00:00:00.000Z')`,
      ...[bot.id, randomUUID(), held.guildId, held.userId],
    );
    // SQLite: the reads of one turn share a snapshot.
    await new Promise(setImmediate);
  };
  return { export: answer, erase };
}

afterEach(() => jest.restoreAllMocks());

describe('an export that is being streamed', () => {
  it('ends when an erasure has passed meanwhile, also one by a machine whose clock is behind', async () => {
    const { export: answer, erase } = await streamed();
    let pieces = 0;
    const streaming = answer.writeTo(async () => {
      if (++pieces !== 10) return;
      passes(service, HOUR_MS, 'monotonicMs');
      await erase();
    });
    await expect(streaming).rejects.toMatchObject({ code: 'not_found' });
    expect(pieces).toBe(10);
  });

  it('sends nothing that was read after an erasure, however quickly this passed', async () => {
    const { export: answer, erase } = await streamed();
    jest.spyOn(service.app.get(Clock), 'monotonicMs').mockReturnValue(HOUR_MS);
    let length = 0;
    const streaming = answer.writeTo(async (piece) => {
      if (length === 0) await erase();
      length += piece.length;
    });
    await expect(streaming).rejects.toMatchObject({ code: 'not_found' });
    // The first portion was read before.
    expect(length).toBeLessThan(2 * PORTION_LENGTH);
  });
});
