import { Injectable } from '@nestjs/common';
import {
  amongSubjects,
  ConsentedDataHolders,
  lockSubjects,
  type NamedSubject,
  type Subject,
  SubjectDigests,
  subjectValues,
} from '@app/crypto';
import { givenRows, type Tx, UnitOfWork } from '@app/database';
import { Clock, Random } from '@app/kernel';
import { lockDecisions } from './consent.gate';
import { foundIn, hasLeftData, SELECT_STATUS, type StatusRow } from './consent-status.sql';
import type { ConsentQuery, ConsentStatusView } from './consent.dto';
import { tryLockSubjectsAndConsents } from './consent.sql';
import { type FoundStatus, statusView } from './consent.views';

/** The status of consents, and how an erasure locks and closes its subjects. */
@Injectable()
export class ConsentService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly holders: ConsentedDataHolders,
    private readonly digests: SubjectDigests,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** The status of a subject in one small read, since bots ask for it before every act. */
  async status(subject: NamedSubject): Promise<ConsentStatusView> {
    const values = subjectValues(subject);
    const found = foundIn(await this.unitOfWork.get<StatusRow>(SELECT_STATUS, ...values, ...values));
    if (hasLeftData(found)) return this.unitOfWork.read((tx) => this.statusOf(tx, subject, found));
    return statusView(found, subject.ids);
  }

  /** {@link status} of several users, at one time. */
  async statuses(botId: string, items: readonly ConsentQuery[]): Promise<ConsentStatusView[]> {
    const subjects = items.map((item) => this.digests.named(botId, item));
    const values = subjects.map(subjectValues).map((each) => [...each, ...each]);
    return this.unitOfWork.read(async (tx) => {
      const rows = await tx.each<StatusRow>(SELECT_STATUS, values);
      return Promise.all(subjects.map((subject, at) => this.statusOf(tx, subject, foundIn(rows[at]?.[0]))));
    });
  }

  /** The status as it is answered, from what the unit has read. */
  async statusOf(tx: Tx, subject: NamedSubject, found: FoundStatus): Promise<ConsentStatusView> {
    const [times] = hasLeftData(found) ? await this.holders.erasureTimes(tx, [subject]) : [];
    return statusView(found, subject.ids, times);
  }

  /**
   * Closes subjects for submits before their erasure, and returns the time. A subject without a consent gets one with the status
   * `none`.
   */
  async close(tx: Tx, subjects: readonly Subject[]): Promise<string> {
    await lockSubjects(tx, subjects);
    const closedAt = this.clock.nowIso();
    const rows = subjects.map((subject) => [...subjectValues(subject), this.random.uuid()]);
    const given = givenRows(tx, ['bot_id', 'guild_id', 'user_id', 'id'], rows);
    await tx.run(
      `INSERT INTO consents (bot_id, guild_id, user_id, id, status, version, requested_at, erasing)
       SELECT bot_id, guild_id, user_id, id, 'none', '', ?, 1 FROM ${given.sql} WHERE place > 0
       ORDER BY bot_id, guild_id, user_id
       ON CONFLICT (bot_id, guild_id, user_id) DO UPDATE SET erasing = 1`,
      ...[closedAt, ...given.values],
    );
    return closedAt;
  }

  /** Opens subjects again, and leaves what their users have decided since {@link close}. */
  async reopen(tx: Tx, subjects: readonly Subject[]): Promise<void> {
    const among = amongSubjects(tx, subjects);
    await Promise.all([
      tx.run(`DELETE FROM consents WHERE ${among.sql} AND status = 'none'`, ...among.values),
      tx.run(`UPDATE consents SET erasing = 0 WHERE ${among.sql} AND erasing <> 0`, ...among.values),
    ]);
  }

  /** Locks subjects against all units that decide about them or store data about them. On SQLite these run one after the other. */
  async lock(tx: Tx, subjects: readonly Subject[]): Promise<void> {
    if (tx.engine !== 'postgres') return;
    await Promise.all([lockSubjects(tx, subjects), lockDecisions(tx, subjects, true)]);
  }

  /** {@link lock} that waits for no other unit: returns for each subject whether it is locked. PostgreSQL only. */
  async tryLock(tx: Tx, subjects: readonly Subject[]): Promise<boolean[]> {
    return (await tryLockSubjectsAndConsents(tx, subjects)).map((consent) => consent !== undefined);
  }
}
