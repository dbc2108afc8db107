import { Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { requireConsent } from '@app/consent';
import { UnitOfWork } from '@app/database';
import { Random } from '@app/kernel';
import { Reminder } from './reminder.entity';
import type { AddReminder, ReminderView } from './reminders.dto';

/** What a consent by categories has to grant; the bot declares a category of this key, so that it can be asked for. */
export const CATEGORY = 'reminders';

/** Keeps reminders of users who have consented. */
@Injectable()
export class RemindersService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly audit: AuditService,
    private readonly random: Random,
  ) {}

  /** Consent, row and audit event are one transaction. @throws ApiError 403 `consent_required` */
  add(botId: string, input: AddReminder): Promise<ReminderView> {
    const subject = { botId, guildId: input.guild_id, userId: input.user_id };
    return this.unitOfWork.write(async (tx) => {
      const scope = await requireConsent(tx, subject);
      scope.require(CATEGORY);
      const id = this.random.uuid();
      await tx.manager.insert(Reminder, { ...subject, id, text: input.text, dueAt: input.due_at });
      await this.audit.record(tx, subject, 'data_submitted', { category: CATEGORY });
      return { id, text: input.text, due_at: input.due_at };
    });
  }
}
