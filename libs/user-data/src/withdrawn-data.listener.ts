import { Inject, Injectable } from '@nestjs/common';
import { legalBasisOf } from '@app/categories';
import { type AnnouncedErasures, ConsentGiven, ConsentWithdrawn, ErasureTimesAsked } from '@app/consent';
import type { Tx } from '@app/database';
import { CONFIG, type Config, daysAfter, OnDomainEvent } from '@app/kernel';
import type { Subject } from '@app/subjects';

const SUBJECT = 'bot_id = ? AND guild_id = ? AND user_id = ?';
const UNMARKED = `SELECT category_key FROM user_data WHERE ${SUBJECT} AND withdrawn_at IS NULL`;
const MARK = `UPDATE user_data SET withdrawn_at = ? WHERE ${SUBJECT} AND category_key = ?`;
/** Written so that nobody enters by the index of what is marked of all users. */
const IS_MARKED = `COALESCE(withdrawn_at, '') <> ''`;
const UNMARK = `UPDATE user_data SET withdrawn_at = NULL WHERE ${SUBJECT} AND ${IS_MARKED}`;
const MARKED = `SELECT category_key, withdrawn_at FROM user_data WHERE ${SUBJECT} AND ${IS_MARKED}`;

/**
 * Marks the values that a withdrawn consent has left, and takes the mark from those that a new one covers, in the unit
 * of the decision. Values of another legal basis than consent stay unmarked.
 */
@Injectable()
export class WithdrawnDataListener {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  @OnDomainEvent(ConsentWithdrawn)
  async mark({ tx, subject, categories, withdrawnAt, announced }: ConsentWithdrawn): Promise<void> {
    const concerned = (key: string): boolean => categories === null || categories.includes(key);
    await this.markHeld(tx, subject, concerned, withdrawnAt);
    await this.announce(tx, subject, announced);
  }

  @OnDomainEvent(ConsentGiven)
  async unmark({ tx, subject, categories, givenAt }: ConsentGiven): Promise<void> {
    const given = keyOf(subject);
    if (categories === null) {
      await tx.run(UNMARK, ...given);
      return;
    }
    for (const key of categories) await tx.run(`${UNMARK} AND category_key = ?`, ...given, key);
    await this.markHeld(tx, subject, (key) => !categories.includes(key), givenAt);
  }

  @OnDomainEvent(ErasureTimesAsked)
  answer({ tx, subject, announced }: ErasureTimesAsked): Promise<void> {
    return this.announce(tx, subject, announced);
  }

  /** Of those that are held and rest on a consent; one that was marked before keeps its time. */
  private async markHeld(
    tx: Tx,
    subject: Subject,
    concerns: (key: string) => boolean,
    at: string,
  ): Promise<void> {
    const held = await tx.all<{ category_key: string }>(UNMARKED, ...keyOf(subject));
    for (const { category_key: key } of held) {
      if (!concerns(key)) continue;
      if ((await legalBasisOf(tx, subject.botId, key)) === 'consent')
        await tx.run(MARK, at, ...keyOf(subject), key);
    }
  }

  private async announce(tx: Tx, subject: Subject, announced: AnnouncedErasures): Promise<void> {
    const graceDays = this.config.revokedDataGraceDays;
    if (graceDays === undefined) return;
    const marked = await tx.all<{ category_key: string; withdrawn_at: string }>(MARKED, ...keyOf(subject));
    for (const { category_key: key, withdrawn_at: at } of marked)
      announced.add(key, daysAfter(at, graceDays));
  }
}

function keyOf({ botId, guildId, userId }: Subject): string[] {
  return [botId, guildId, userId];
}
