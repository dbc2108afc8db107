import { Injectable } from '@nestjs/common';
import { lockBot } from '@app/bots';
import { lockSubject, type NamedSubject, SubjectKeys } from '@app/crypto';
import { botDeleted, type Tx } from '@app/database';
import { Clock, DomainEvents, Random } from '@app/kernel';
import { holdersOf } from './bot-holders.sql';
import { callsAbout, HolderTasksMade } from './holder-calls';
import { addQuestions, contextOfExport } from './holder-exports.sql';

/** The guilds of which one export of all guilds asks the holders at most; it names the holders of the others as not asked. */
export const ASKED_GUILDS_MAX = 100;

/** An answer is used for this many days before the holder is asked again. */
const FRESH_DAYS = 1;

/** Asks the holders of a bot for what their stores have about a subject (GDPR Art. 15). */
@Injectable()
export class HolderQuestions {
  constructor(
    private readonly keys: SubjectKeys,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly events: DomainEvents,
  ) {}

  /**
   * Makes a task for each holder of the bot that has neither an open one nor a fresh answer, and publishes those of which holders
   * are called. `isHeld` says that the unit has locked
   * the consent of the subject, which excludes its erasure. Returns whether it has made any.
   */
  async ask(tx: Tx, subject: NamedSubject, isHeld: boolean): Promise<boolean> {
    if (!isHeld) await lockSubject(tx, subject, 'together');
    const key = await this.keys.inForce(tx, subject);
    // Nothing is held that an export could have, or an erasure has just taken it.
    if (key === undefined) return false;
    // A holder that is deleted at this moment gets no task, or its deletion removes the task.
    if ((await lockBot(tx, subject.botId, 'KEY SHARE')) === undefined) throw botDeleted();
    const holders = await holdersOf(tx, subject.botId);
    const ids = JSON.stringify(subject.ids);
    const questions = holders.map(({ key: holderKey, kind }) => ({
      holderKey,
      kind,
      taskId: this.random.uuid(),
      ids: key.encrypt(ids, contextOfExport(subject, holderKey, 'ids')),
    }));
    const now = this.clock.nowIso();
    const asked = await addQuestions(tx, subject, questions, now, this.clock.daysAgoIso(FRESH_DAYS));
    const calls = callsAbout(subject, 'export', asked, now);
    if (calls.length > 0) await this.events.publish(new HolderTasksMade(tx, calls));
    return asked.length > 0;
  }
}
