import { Injectable } from '@nestjs/common';
import type { Tx } from '@app/database';
import { HoldsSubjectData, type Subject, type SubjectDataHolder, type SubjectExport } from '@app/subjects';
import { Reminder } from './reminder.entity';

/** The name in exports and in `deleted_categories`: no category key holds a dot, so the two never meet. */
export const NAME = 'acme.reminders';

/** The reminders of a subject. */
@Injectable()
@HoldsSubjectData()
export class RemindersHolder implements SubjectDataHolder {
  readonly tables = ['reminders'];

  async export(tx: Tx, { botId, guildId, userId }: Subject): Promise<SubjectExport> {
    const reminders = await tx.manager.find(Reminder, {
      where: { botId, guildId, userId },
      order: { id: 'ASC' },
    });
    if (reminders.length === 0) return {};
    const items = reminders.map(({ text, dueAt }) => ({ text, due_at: dueAt }));
    return { data: [[NAME, JSON.stringify({ items })]] };
  }

  async erase(tx: Tx, { botId, guildId, userId }: Subject): Promise<readonly string[]> {
    const { affected } = await tx.manager.delete(Reminder, { botId, guildId, userId });
    return affected ? [NAME] : [];
  }
}
