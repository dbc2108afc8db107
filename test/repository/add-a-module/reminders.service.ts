import { Injectable } from '@nestjs/common';
import { AuditService, declareEventTypes } from '@app/audit';
import { SubjectDigests, SubjectTexts } from '@app/crypto';
import type { Tx } from '@app/database';
import { Acts, type Claim } from '@app/acts';
import { requireStorable } from '@app/user-data';
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
    private readonly audit: AuditService,
    private readonly digests: SubjectDigests,
    private readonly texts: SubjectTexts,
    private readonly acts: Acts,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** Consent, row and audit event are one transaction. @throws ApiError 403 `consent_required`, 404 category */
  add(botId: string, input: AddReminder, claim: Claim): Promise<ReminderView> {
    const subject = this.digests.named(botId, input);
    const { text, due_at } = input;
    const add = async (tx: Tx): Promise<ReminderView> => {
      await requireStorable(tx, subject, CATEGORY);
      const id = this.random.uuid();
      await tx.manager.insert(Reminder, {
        ...subject,
        id,
        text: await this.texts.encrypt(tx, subject, 'reminders', id, text),
        dueAt: due_at,
        updatedAt: this.clock.nowIso(),
      });
      await this.audit.record(tx, subject, REMINDER_SET, { due_at });
      return { id, text, due_at };
    };
    return this.acts.once(claim, add, { subject });
  }
}
