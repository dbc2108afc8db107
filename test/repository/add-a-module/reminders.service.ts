import { Injectable } from '@nestjs/common';
import { AuditService, declareEventTypes } from '@app/audit';
import { requireConsentTo } from '@app/consent';
import { SubjectDigests, SubjectTexts } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { Clock, Random } from '@app/kernel';
import { Reminder } from './reminder.entity';
import type { AddReminder, ReminderView } from './reminders.dto';

/** The category that the bot declares for the reminders, and that users consent to. */
export const CATEGORY = 'reminders';

const REMINDER_SET = 'acme.reminder_set';
declareEventTypes(REMINDER_SET);

/** Keeps reminders of users who have consented. */
@Injectable()
export class RemindersService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly audit: AuditService,
    private readonly digests: SubjectDigests,
    private readonly texts: SubjectTexts,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** Consent, row and audit event are one transaction. @throws ApiError 403 `consent_required`, 404 category */
  add(botId: string, input: AddReminder): Promise<ReminderView> {
    const subject = this.digests.named(botId, input);
    return this.unitOfWork.write(async (tx) => {
      await requireConsentTo(tx, subject, CATEGORY);
      const id = this.random.uuid();
      await tx.manager.insert(Reminder, {
        ...subject,
        id,
        text: await this.texts.encrypt(tx, subject, 'reminders', id, input.text),
        dueAt: input.due_at,
        updatedAt: this.clock.nowIso(),
      });
      await this.audit.record(tx, subject, REMINDER_SET, { due_at: input.due_at });
      return { id, text: input.text, due_at: input.due_at };
    });
  }
}
