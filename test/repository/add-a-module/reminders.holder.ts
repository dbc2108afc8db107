import { Injectable } from '@nestjs/common';
import {
  amongSubjects,
  type ErasedCategory,
  HoldsSubjectData,
  type Subject,
  type SubjectDataHolder,
  type SubjectExport,
  subjectOf,
  SubjectTexts,
} from '@app/crypto';
import type { Tx } from '@app/database';
import { Reminder } from './reminder.entity';
import { CATEGORY } from './reminders.service';

/** The name in exports and in `deleted_categories`: no category key contains a dot, so the two never meet. */
export const NAME = 'acme.reminders';

/** The reminders of a subject. */
@Injectable()
@HoldsSubjectData()
export class RemindersHolder implements SubjectDataHolder {
  readonly tables = ['reminders'];
  readonly consented = [{ table: 'reminders', category: CATEGORY }];

  constructor(private readonly texts: SubjectTexts) {}

  async export(tx: Tx, subject: Subject): Promise<SubjectExport> {
    const reminders = await tx.manager.find(Reminder, { where: subjectOf(subject), order: { id: 'ASC' } });
    if (reminders.length === 0) return {};
    const texts = await this.texts.decryptAll(tx, subject, 'reminders', reminders, NAME);
    const items = reminders.map(({ dueAt }, at) => ({ text: texts[at], due_at: dueAt }));
    return { data: [[NAME, JSON.stringify({ items })]] };
  }

  erase(tx: Tx, subjects: readonly Subject[]): Promise<readonly ErasedCategory[]> {
    const among = amongSubjects(tx, subjects);
    return tx.all<ErasedCategory>(
      `DELETE FROM reminders WHERE ${among.sql} RETURNING bot_id, guild_id, user_id, '${NAME}' AS category`,
      ...among.values,
    );
  }
}
