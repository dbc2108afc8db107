import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { ConsentService } from '@app/consent';
import type { Tx } from '@app/database';
import { conflict, DomainEvents } from '@app/kernel';
import { Metrics, NO_METRICS } from '@app/metrics';
import { type Subject, SubjectDataHolders } from '@app/subjects';
import { DeletionRequest } from './deletion-request.entity';
import { ErasedSubject } from './erased-subject';
import { KeyDestruction } from './key-destruction';
import { UserForgotten } from './user-forgotten.event';

/** A request that is to be put on record. */
export interface NewErasure {
  readonly id: string;
  readonly subjectCommitment: string;
}

/** Something about the subject was stored after its key had been destroyed: the key has to go once more. */
export class KeyCameBack extends Error {}

/** The steps of an erasure, each for one unit. Every one but the first leaves a request alone that has ended. */
@Injectable()
export class ErasureSteps {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;

  constructor(
    private readonly holders: SubjectDataHolders,
    private readonly consents: ConsentService,
    private readonly audit: AuditService,
    private readonly events: DomainEvents,
    private readonly destruction: KeyDestruction,
    private readonly erased: ErasedSubject,
  ) {}

  /** @throws ApiError 409 `deletion_in_progress` */
  async begin(tx: Tx, subject: Subject, { id, subjectCommitment }: NewErasure): Promise<DeletionRequest> {
    const { botId, guildId, userId } = subject;
    const createdAt = await this.consents.close(tx, subject);
    const inserted = await tx.run(
      `INSERT INTO deletion_requests (bot_id, id, guild_id, user_id, status, webhook_sent, created_at, subject_commitment)
       VALUES (?, ?, ?, ?, 'processing', 0, ?, ?) ON CONFLICT DO NOTHING`,
      ...[botId, id, guildId, userId, createdAt, subjectCommitment],
    );
    if (inserted === 0)
      throw conflict('deletion_in_progress', 'The data of this user is being erased already');
    await this.audit.record(tx, subject, 'deletion_requested', { request_id: id });
    tx.afterCommit(() => this.metrics.count('erasures', 'begun'));
    return {
      id,
      ...subject,
      status: 'processing',
      deletedCategories: null,
      webhookSent: 0,
      createdAt,
      completedAt: null,
      subject: null,
      subjectCommitment,
      keyId: null,
      erasedRows: null,
      certificate: null,
    };
  }

  /** {@link begin} of a request that the data does not know, or knows as failed. */
  async beginAgain(tx: Tx, subject: Subject, erasure: NewErasure): Promise<DeletionRequest> {
    const failed = `DELETE FROM deletion_requests WHERE bot_id = ? AND id = ? AND status = 'failed'`;
    await tx.run(failed, subject.botId, erasure.id);
    return this.begin(tx, subject, erasure);
  }

  /** {@link begin} for a subject of whom anything is left. */
  async beginIfHeld(tx: Tx, subject: Subject, erasure: NewErasure): Promise<DeletionRequest | undefined> {
    await this.consents.lock(tx, subject);
    return (await this.holders.hold(tx, subject)) ? this.begin(tx, subject, erasure) : undefined;
  }

  /**
   * The key and every row go at once, or nothing does. Answers the request as it is then; null when its bot was deleted.
   * It may be done again, for what a crash has left and for what came in between.
   */
  async remove(tx: Tx, request: DeletionRequest): Promise<DeletionRequest | null> {
    const { botId, id } = request;
    const subject = subjectOf(request);
    const found = await this.lock(tx, request);
    // Another worker that took it up has ended it meanwhile.
    if (found?.status !== 'processing') return found;
    // The row that only keeps the subject closed is none of what was held.
    if (found.deletedCategories !== null) await this.consents.reopen(tx, subject);
    const erasedRows = added(found.erasedRows, await this.holders.count(tx, subject));
    await this.destruction.destroy(tx, subject, id);
    const erased = [...(found.deletedCategories ?? []), ...(await this.holders.erase(tx, subject))];
    const deletedCategories = [...new Set(erased)].sort();
    await tx.run(
      'UPDATE deletion_requests SET deleted_categories = ?, erased_rows = ? WHERE bot_id = ? AND id = ?',
      ...[JSON.stringify(deletedCategories), JSON.stringify(erasedRows), botId, id],
    );
    return { ...found, deletedCategories, erasedRows };
  }

  /** Where {@link complete} comes in a unit of its own: no new consent is believed until then. */
  async keepClosed(tx: Tx, request: DeletionRequest): Promise<void> {
    await this.consents.close(tx, subjectOf(request));
  }

  /**
   * Says that it is done, once {@link remove} has been.
   * @throws KeyCameBack where something was stored about the subject since.
   */
  async complete(tx: Tx, request: DeletionRequest): Promise<DeletionRequest | null> {
    const { botId, guildId, userId, id } = request;
    const subject = subjectOf(request);
    const found = await this.lock(tx, request);
    if (found?.status !== 'processing') return found;
    if (await this.destruction.isUndone(tx, subject)) throw new KeyCameBack();
    if (tx.engine === 'sqlite') {
      await this.consents.reopen(tx, subject);
      // An event without details needs no key, and may have been posted since.
      await this.audit.eraseSubject(tx, subject);
    }
    const reapplied = await this.destruction.wasDoneBefore(tx, botId, id, found.createdAt);
    const details = { request_id: id, ...(reapplied && { reapplied }) };
    const completedAt = await this.audit.recordErased(tx, subject, 'deletion_completed', details);
    const erased = this.erased.columnsOf(subject, id);
    await tx.run(
      `UPDATE deletion_requests SET status = 'completed', completed_at = ?, guild_id = ?, user_id = ?, subject = ?
       WHERE bot_id = ? AND id = ?`,
      ...[completedAt, erased.guildId, erased.userId, erased.subject, botId, id],
    );
    await this.events.publish(new UserForgotten(tx, botId, id, userId, guildId, completedAt));
    tx.afterCommit(() => this.metrics.count('erasures', 'completed'));
    return { ...found, ...erased, status: 'completed', completedAt };
  }

  /**
   * Puts the failure on record and opens the subject again, unless the request has ended meanwhile or the rows are
   * gone, which leaves only the way forward; answers it as it is then.
   */
  async fail(tx: Tx, request: DeletionRequest): Promise<DeletionRequest | null> {
    const { botId, id } = request;
    const subject = subjectOf(request);
    const found = await this.lock(tx, request);
    if (found?.status !== 'processing' || found.deletedCategories !== null) return found;
    await tx.run(`UPDATE deletion_requests SET status = 'failed' WHERE bot_id = ? AND id = ?`, botId, id);
    await this.consents.reopen(tx, subject);
    await this.audit.record(tx, subject, 'deletion_failed', { request_id: id });
    tx.afterCommit(() => this.metrics.count('erasures', 'failed'));
    return { ...found, status: 'failed' };
  }

  private async lock(tx: Tx, request: DeletionRequest): Promise<DeletionRequest | null> {
    const { botId, id } = request;
    await this.consents.lock(tx, subjectOf(request));
    await tx.get('SELECT 1 FROM deletion_requests WHERE bot_id = ? AND id = ? FOR UPDATE', botId, id);
    return tx.manager.findOneBy(DeletionRequest, { botId, id });
  }
}

/** Of a request that is under way. */
function subjectOf({ botId, guildId, userId }: DeletionRequest): Subject {
  return { botId, guildId, userId };
}

/** Of a removal that is done once more, what came in between is counted too. */
function added(
  before: Readonly<Record<string, number>> | null,
  now: Readonly<Record<string, number>>,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(now).map(([table, rows]) => [table, rows + (before?.[table] ?? 0)]),
  );
}
