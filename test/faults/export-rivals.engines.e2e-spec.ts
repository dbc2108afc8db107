import { randomUUID } from 'node:crypto';
import { SubjectDigests } from '@app/crypto';
import { ExportService } from '@app/export';
import { JsonStream } from '@app/http';
import { Clock } from '@app/kernel';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';

const service = useServiceInProcess();
const HOUR_MS = 3_600_000;

describe('an export that is being streamed', () => {
  it('ends when an erasure has passed meanwhile, also one by a machine whose clock is behind', async () => {
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
    let pieces = 0;
    const streaming = answer.writeTo(async () => {
      if (++pieces !== 10) return;
      await service.database.run(
        `INSERT INTO deletion_requests (bot_id, id, guild_id, user_id, status, webhook_sent, created_at)
         VALUES (?, ?, ?, ?, 'completed', 0, '2020-01-01T00:00:00.000Z')`,
        ...[bot.id, randomUUID(), held.guildId, held.userId],
      );
      jest.spyOn(service.app.get(Clock), 'monotonicMs').mockReturnValue(performance.now() + HOUR_MS);
    });
    await expect(streaming).rejects.toMatchObject({ code: 'not_found' });
    expect(pieces).toBe(10);
  });
});
