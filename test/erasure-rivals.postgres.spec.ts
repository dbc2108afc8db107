import { setTimeout as pause } from 'node:timers/promises';
import { CategoryDeleted } from '@app/categories';
import { DomainEvents } from '@app/common';
import { UnitOfWork } from '@app/database';
import type { Bot } from './support/bot';
import { useService } from './support/service';
import { subject, type SubjectIds } from './support/snowflakes';

const service = useService();
let bot: Bot;
let who: SubjectIds;

beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
  await bot.hasCategory('profile');
  await bot.hasConsent(who);
  await bot.hasData(who, 'profile', { value: 'x' });
});

const forget = () => bot.post<{ request_id: string; deleted_categories: string[] }>('/gdpr/forget-user', who);

describe('an erasure beside the deletion of a category', () => {
  it('leaves no details of the events that the deletion writes about the subject, and names only what it erased', async () => {
    let forgetting: ReturnType<typeof forget> | undefined;
    await service.app.get(UnitOfWork).write(async (tx) => {
      await tx.get('SELECT 1 FROM user_data WHERE bot_id = ? FOR UPDATE', bot.id);
      forgetting = forget();
      await pause(300);
      const events = service.app.get(DomainEvents, { strict: false });
      await events.publish(new CategoryDeleted(tx, bot.id, 'profile'));
    });
    const answer = await forgetting;
    const events = await service.database.rows(
      `SELECT event_type, details FROM audit_events
       WHERE bot_id = ? AND user_id = ? AND details IS NOT NULL AND event_type NOT LIKE 'deletion_%'`,
      ...[bot.id, who.user_id],
    );
    expect(events).toEqual([]);
    expect(answer?.data).toMatchObject({ status: 'completed', deleted_categories: [] });
  });
});
