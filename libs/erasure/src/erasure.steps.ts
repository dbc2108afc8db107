import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { ConsentService } from '@app/consent';
import { SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import { Clock, conflict, DomainEvents } from '@app/kernel';
import { Metrics, NO_METRICS } from '@app/metrics';
import {
  ERASED_ID,
  ERASED_IDS,
  type NamedSubject,
  type Subject,
  SubjectDataHolders,
  type SubjectIds,
  subjectOf,
} from '@app/subjects';
import { DeletionRequest } from './deletion-request.entity';
import { ErasedSubject } from './erased-subject';
import { UserForgotten } from './user-forgotten.event';

/** A request that is not recorded yet. */
export interface NewErasure {
  readonly id: string;
  readonly subjectCommitment: string;
  /** Undefined where they are unknown: the subject was found in a restored backup without its key. */
  readonly ids: SubjectIds | undefined;
}

/** The request of a subject with these ids. */
export type ErasureOf = (ids: SubjectIds | undefined) => NewErasure;

/**
 * The steps of an erasure, in their order. Each runs inside a unit of its caller and answers the request as it is
 * afterwards; null when its bot was deleted. All steps after `begin` leave a request that has ended unchanged.
 */
@Injectable()
export class ErasureSteps {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;

  constructor(
    private readonly holders: SubjectDataHolders,
    private readonly consents: ConsentService,
    private readonly audit: AuditService,
    private readonly events: DomainEvents,
    private readonly keys: SubjectKeys,
    private readonly erased: ErasedSubject,
    private readonly clock: Clock,
  ) {}

  /** Closes the subject for submits and exports, and records the request. @throws ApiError 409 `deletion_in_progress` */
  async begin(tx: Tx, subject: Subject, erasure: NewErasure): Promise<DeletionRequest> {
    const { id, subjectCommitment, ids } = erasure;
    const { botId, guildId, userId } = subject;
    const createdAt = await this.consents.close(tx, subject);
    const encrypted = this.erased.encrypt(botId, id, ids ?? ERASED_IDS, subjectCommitment);
    const inserted = await tx.run(
      `INSERT INTO deletion_requests (bot_id, id, guild_id, user_id, status, webhook_sent, created_at, subject_commitment, subject)
       VALUES (?, ?, ?, ?, 'processing', 0, ?, ?, ?) ON CONFLICT DO NOTHING`,
      ...[botId, id, guildId, userId, createdAt, subjectCommitment, encrypted],
    );
    if (inserted === 0)
      throw conflict('deletion_in_progress', 'The data of this user is being erased already');
    const named: Subject | NamedSubject = ids === undefined ? subject : { ...subject, ids };
    await this.audit.record(tx, named, 'deletion_requested', { request_id: id });
    tx.afterCommit(() => this.metrics.count('erasures', 'begun'));
    return {
      id,
      ...subjectOf(subject),
      status: 'processing',
      deletedCategories: null,
      webhookSent: 0,
      createdAt,
      completedAt: null,
      unrecoverableAt: null,
      subject: encrypted,
      subjectCommitment,
      keyId: null,
      erasedRows: null,
      certificate: null,
    };
  }

  /** {@link begin} of a request that a restored backup does not contain, or contains as failed. */
  async beginAgain(tx: Tx, subject: Subject, id: string, of: ErasureOf): Promise<DeletionRequest> {
    const failed = `DELETE FROM deletion_requests WHERE bot_id = ? AND id = ? AND status = 'failed'`;
    await tx.run(failed, subject.botId, id);
    await this.consents.lock(tx, subject);
    const ids = await this.idsOf(tx, subject);
    // The restored row names a key that is destroyed: the events of this erasure need another one.
    if (ids === undefined) await this.keys.destroy(tx, subject);
    return this.begin(tx, subject, of(ids));
  }

  /** {@link begin} for a subject about which anything is held; undefined for another one. */
  async beginIfHeld(tx: Tx, subject: Subject, of: ErasureOf): Promise<DeletionRequest | undefined> {
    await this.consents.lock(tx, subject);
    if ((await this.keys.idOf(tx, subject)) === undefined) return undefined;
    return this.begin(tx, subject, of(await this.idsOf(tx, subject)));
  }

  /**
   * Destroys the key, enters the erasure in the ledger and removes every row. A request whose rows are removed already
   * stays as it is.
   */
  async remove(tx: Tx, request: DeletionRequest): Promise<DeletionRequest | null> {
    const { botId, id } = request;
    const subject = subjectOf(request);
    const found = await this.lock(tx, request);
    if (found?.status !== 'processing' || found.deletedCategories !== null) return found;
    const erasedRows = await this.holders.count(tx, subject);
    await this.destroyKey(tx, subject, id);
    const deletedCategories = [...new Set(await this.holders.erase(tx, subject))].sort();
    await tx.run(
      'UPDATE deletion_requests SET deleted_categories = ?, erased_rows = ? WHERE bot_id = ? AND id = ?',
      ...[JSON.stringify(deletedCategories), JSON.stringify(erasedRows), botId, id],
    );
    return { ...found, deletedCategories, erasedRows };
  }

  /** Closes the subject again after {@link remove}, until {@link complete} in a later unit: no consent counts before. */
  async close(tx: Tx, request: DeletionRequest): Promise<void> {
    await this.consents.close(tx, subjectOf(request));
  }

  /**
   * Records the end after {@link remove}, and publishes `UserForgotten`. `closed` says that {@link close} came between:
   * what a bot has posted about the user since has a key of its own, and stays.
   */
  async complete(tx: Tx, request: DeletionRequest, closed?: 'closed'): Promise<DeletionRequest | null> {
    const { botId, id } = request;
    const subject = subjectOf(request);
    const found = await this.lock(tx, request);
    if (found?.status !== 'processing') return found;
    if (closed) await this.consents.reopen(tx, subject);
    const reapplied = await this.wasDoneBefore(tx, found);
    const details = { request_id: id, ...(reapplied && { reapplied }) };
    const completedAt = await this.audit.recordErased(tx, subject, 'deletion_completed', details);
    await tx.run(
      `UPDATE deletion_requests SET status = 'completed', completed_at = ?, unrecoverable_at = ?
       WHERE bot_id = ? AND id = ?`,
      // On PostgreSQL the bytes of a destroyed key stay in the files until a rewrite.
      ...[completedAt, tx.engine === 'sqlite' || found.keyId === null ? completedAt : null, botId, id],
    );
    const ids = this.erased.idsOf(found);
    if (ids.user_id !== ERASED_ID)
      await this.events.publish(new UserForgotten(tx, { ...subject, ids }, id, completedAt));
    tx.afterCommit(() => this.metrics.count('erasures', 'completed'));
    return { ...found, status: 'completed', completedAt };
  }

  /** Records a failure and opens the subject again, unless {@link remove} was committed: then only recovery follows. */
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

  /** The ids that are stored with the key; undefined where it is lost or damaged. The unit has locked the subject. */
  private async idsOf(tx: Tx, subject: Subject): Promise<SubjectIds | undefined> {
    return (await this.keys.inForce(tx, subject))?.ids;
  }

  private async lock(tx: Tx, request: DeletionRequest): Promise<DeletionRequest | null> {
    const { botId, id } = request;
    await this.consents.lock(tx, subjectOf(request));
    await tx.get('SELECT 1 FROM deletion_requests WHERE bot_id = ? AND id = ? FOR UPDATE', botId, id);
    return tx.manager.findOneBy(DeletionRequest, { botId, id });
  }

  /** The ledger is stored beside the keys, apart from the data: a restored backup is erased again by it. */
  private async destroyKey(tx: Tx, subject: Subject, requestId: string): Promise<void> {
    const { botId, guildId, userId } = subject;
    const keyId = await this.keys.destroy(tx, subject);
    if (keyId !== undefined) {
      const sql = 'UPDATE deletion_requests SET key_id = ? WHERE bot_id = ? AND id = ?';
      await tx.run(sql, keyId, botId, requestId);
    }
    await tx.run(
      `INSERT INTO keys.erasure_ledger (bot_id, request_id, guild_id, user_id, key_id, erased_at)
       VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      ...[botId, requestId, guildId, userId, keyId ?? null, this.clock.nowIso()],
    );
  }

  /** Whether the ledger has an older entry of this request: the data was restored from a backup since. */
  private async wasDoneBefore(tx: Tx, { botId, id, createdAt }: DeletionRequest): Promise<boolean> {
    const sql = 'SELECT 1 FROM keys.erasure_ledger WHERE bot_id = ? AND request_id = ? AND erased_at < ?';
    return (await tx.get(sql, botId, id, createdAt)) !== undefined;
  }
}
