import { Inject, Injectable, Logger } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { ApiError, conflict, describeFault, DomainEvents, Metrics, NO_METRICS, Random } from '@app/common';
import { ConsentService } from '@app/consent';
import { botDeleted, type Subject, SubjectDataHolders, type Tx, UnitOfWork } from '@app/database';
import { LessThan } from 'typeorm';
import { DeletionRequest } from './deletion-request.entity';
import { UserForgotten } from './user-forgotten.event';

/** Later than any time that is written down. */
const NEVER = '9999';

/**
 * Erasure (GDPR Art. 17) in two transactions. The first puts it on record and closes the subject for submits and
 * exports; the second removes everything, and only it says `completed`. Whatever breaks off in between is finished by
 * the recovery of whichever process comes first; what fails is `failed`, never half done.
 */
@Injectable()
export class ErasureService {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  private readonly logger = new Logger(ErasureService.name);
  /** Begun, or about to be, by this process and still under way: not for recovery to take up. */
  private readonly running = new Set<string>();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly holders: SubjectDataHolders,
    private readonly consents: ConsentService,
    private readonly audit: AuditService,
    private readonly events: DomainEvents,
    private readonly random: Random,
  ) {}

  /**
   * Erases a subject; when this resolves it is erased and durable.
   * @throws ApiError 409 `deletion_in_progress` while the same user is being erased in any guild of the bot; 503 when
   * it failed: nothing was erased then, and a retry is a new request; 401 when the bot was deleted meanwhile.
   */
  async erase(subject: Subject): Promise<DeletionRequest> {
    const id = this.random.uuid();
    return this.noted(id, async () =>
      this.carryOut(await this.unitOfWork.write((tx) => this.begin(tx, subject, id))),
    );
  }

  /** {@link erase} of a subject of whom anything is left; false for nobody, for whom there is no request then. */
  async eraseIfHeld(subject: Subject): Promise<boolean> {
    const id = this.random.uuid();
    return this.noted(id, async () => {
      const request = await this.unitOfWork.write(async (tx) => {
        await this.consents.lock(tx, subject);
        return (await this.holders.hold(tx, subject)) ? this.begin(tx, subject, id) : undefined;
      });
      if (request !== undefined) await this.carryOut(request);
      return request !== undefined;
    });
  }

  /**
   * Finishes every erasure begun before `beforeIso` that a crash or an unreachable database has left `processing`; one
   * that fails stops no other. One that another process is still at, or that the database has no time for, is left as it is.
   * Begins no further one once `stopping` says so.
   */
  async finishLeft(beforeIso = NEVER, stopping?: AbortSignal): Promise<void> {
    const left = await this.unitOfWork.read((tx) =>
      tx.manager.findBy(DeletionRequest, { status: 'processing', createdAt: LessThan(beforeIso) }),
    );
    for (const request of left) {
      if (stopping?.aborted === true) return;
      if (this.running.has(request.id)) continue;
      await this.resume(request).catch((error: unknown) =>
        this.logger.error(JSON.stringify(describeFault(error))),
      );
    }
  }

  private async noted<T>(id: string, work: () => Promise<T>): Promise<T> {
    this.running.add(id);
    try {
      return await work();
    } finally {
      this.running.delete(id);
    }
  }

  private async begin(tx: Tx, subject: Subject, id: string): Promise<DeletionRequest> {
    const { botId, guildId, userId } = subject;
    const createdAt = await this.consents.close(tx, subject);
    const inserted = await tx.run(
      `INSERT INTO deletion_requests (bot_id, id, guild_id, user_id, status, webhook_sent, created_at)
       VALUES (?, ?, ?, ?, 'processing', 0, ?) ON CONFLICT DO NOTHING`,
      ...[botId, id, guildId, userId, createdAt],
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
    };
  }

  private async carryOut(request: DeletionRequest): Promise<DeletionRequest> {
    const ended = await this.unitOfWork
      .write((tx) => this.remove(tx, request))
      .catch((error: unknown) => this.afterFault(request, error));
    await this.unitOfWork.scrub();
    return requireCompleted(ended, request.id);
  }

  /** {@link carryOut} of a request that somebody has left, as far as it is still not ended and the database has time. */
  private async resume(request: DeletionRequest): Promise<void> {
    let isResumed = false;
    try {
      await this.unitOfWork.write((tx) => this.remove(tx, request, () => (isResumed = true)));
    } catch (error) {
      if (error instanceof ApiError && error.code === 'service_unavailable') throw error;
      await this.afterFault(request, error);
    } finally {
      if (isResumed) this.metrics.count('erasures', 'resumed');
    }
    await this.unitOfWork.scrub();
  }

  /** What became of a request whose removal was not confirmed: a commit whose answer was lost may have taken place. */
  private async afterFault(request: DeletionRequest, error: unknown): Promise<DeletionRequest | null> {
    this.logger.error(JSON.stringify(describeFault(error)));
    return this.fail(request).catch(() => {
      throw new ApiError(
        'service_unavailable',
        'The erasure is on record and will be finished once the database answers: ask for its status',
        { request_id: request.id, status: 'processing' },
      );
    });
  }

  /** Everything goes at once, or nothing does. Answers the request as it is then; null when its bot was deleted. */
  private async remove(
    tx: Tx,
    request: DeletionRequest,
    onProcessing?: () => void,
  ): Promise<DeletionRequest | null> {
    const { botId, guildId, userId, id } = request;
    const subject = { botId, guildId, userId };
    await this.consents.lock(tx, subject);
    const found = await lockRequest(tx, botId, id);
    // Another worker that took it up has ended it meanwhile.
    if (found?.status !== 'processing') return found;
    onProcessing?.();
    const deletedCategories = await this.holders.erase(tx, subject);
    const { created_at: completedAt } = await this.audit.record(tx, subject, 'deletion_completed', {
      request_id: id,
    });
    await tx.run(
      `UPDATE deletion_requests SET status = 'completed', completed_at = ?, deleted_categories = ?
       WHERE bot_id = ? AND id = ?`,
      ...[completedAt, JSON.stringify(deletedCategories), botId, id],
    );
    await this.events.publish(new UserForgotten(tx, botId, id, userId, guildId, completedAt));
    tx.afterCommit(() => this.metrics.count('erasures', 'completed'));
    return { ...request, status: 'completed', completedAt, deletedCategories };
  }

  /**
   * Puts the failure on record and opens the subject again, unless the request has ended meanwhile; answers it as it is
   * then. If even that fails, recovery takes the request up.
   */
  private async fail({ botId, guildId, userId, id }: DeletionRequest): Promise<DeletionRequest | null> {
    const subject = { botId, guildId, userId };
    return this.unitOfWork.write(async (tx) => {
      await this.consents.lock(tx, subject);
      const found = await lockRequest(tx, botId, id);
      if (found?.status !== 'processing') return found;
      await tx.run(`UPDATE deletion_requests SET status = 'failed' WHERE bot_id = ? AND id = ?`, botId, id);
      await this.consents.reopen(tx, subject);
      await this.audit.record(tx, subject, 'deletion_failed', { request_id: id });
      tx.afterCommit(() => this.metrics.count('erasures', 'failed'));
      return { ...found, status: 'failed' };
    });
  }
}

/** @throws ApiError 503 for a request that has failed, in whichever process; 401 when it went with its bot. */
function requireCompleted(ended: DeletionRequest | null, id: string): DeletionRequest {
  if (ended === null) throw botDeleted();
  if (ended.status === 'completed') return ended;
  throw new ApiError('service_unavailable', 'The erasure failed and nothing was erased: request it again', {
    request_id: id,
    status: 'failed',
  });
}

async function lockRequest(tx: Tx, botId: string, id: string): Promise<DeletionRequest | null> {
  await tx.get('SELECT 1 FROM deletion_requests WHERE bot_id = ? AND id = ? FOR UPDATE', botId, id);
  return tx.manager.findOneBy(DeletionRequest, { botId, id });
}
