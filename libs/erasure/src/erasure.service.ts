import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { botDeleted, UnitOfWork } from '@app/database';
import { ApiError, describeFault, Random } from '@app/kernel';
import { Metrics, NO_METRICS } from '@app/metrics';
import type { Subject } from '@app/subjects';
import { LessThan } from 'typeorm';
import { DeletionRequest } from './deletion-request.entity';
import { commitmentTo } from './erased-subject';
import { ErasureSteps, KeyCameBack, type NewErasure } from './erasure.steps';

/** Later than any time that is written down. */
const NEVER = '9999';
/** How often the key of a subject is destroyed about whom a bot goes on posting events. */
const TRIES_MAX = 10;
/** How often, and after which pause, an erasure is tried again while the same user is erased in another guild. */
const TURNS_MAX = 100;
const PAUSE_MS = 20;
const SALT_BYTES = 16;

/** An erasure that is completed, with what nobody is told again. */
export interface Erased {
  readonly request: DeletionRequest;
  /** Proves to whoever knows the ids that a certificate is about this subject. Nothing keeps it. */
  readonly certificateSalt: string;
}

/**
 * Erasure (GDPR Art. 17). The first transaction puts it on record and closes the subject for submits and exports. The
 * second destroys the subject's key and removes every row, all or nothing. Only then, once the key is gone from the
 * engine's files too, `completed` is said: on PostgreSQL by the same transaction, on SQLite, which commits to data and
 * keys one after the other, by a third. Whatever breaks off in between is finished by the recovery of whichever process
 * comes first; what fails is `failed`, with nothing erased.
 */
@Injectable()
export class ErasureService {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  private readonly logger = new Logger(ErasureService.name);
  /** Begun, or about to be, by this process and still under way: not for recovery to take up. */
  private readonly running = new Set<string>();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly steps: ErasureSteps,
    private readonly random: Random,
  ) {}

  /**
   * Erases a subject; when this resolves it is erased and durable.
   * @throws ApiError 409 `deletion_in_progress` while the same user is being erased in any guild of the bot; 503 when
   * it failed: nothing was erased then, and a retry is a new request; 401 when the bot was deleted meanwhile.
   */
  async erase(subject: Subject): Promise<Erased> {
    const { erasure, certificateSalt } = this.newErasure(subject);
    const request = await this.noted(erasure.id, async () =>
      this.carryOut(await this.unitOfWork.write((tx) => this.steps.begin(tx, subject, erasure))),
    );
    return { request, certificateSalt };
  }

  /** {@link erase} of a subject of whom anything is left; undefined for nobody, for whom there is no request then. */
  async eraseIfHeld(subject: Subject): Promise<Erased | undefined> {
    const { erasure, certificateSalt } = this.newErasure(subject);
    return this.noted(erasure.id, async () => {
      const request = await this.unitOfWork.write((tx) => this.steps.beginIfHeld(tx, subject, erasure));
      return request && { request: await this.carryOut(request), certificateSalt };
    });
  }

  /** {@link eraseIfHeld} that waits, as long as it is worth, for an erasure of the same user in another guild. */
  async eraseInTurn(subject: Subject): Promise<Erased | undefined> {
    for (let turns = 1; ; turns++) {
      try {
        return await this.eraseIfHeld(subject);
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'conflict') || turns === TURNS_MAX) throw error;
        await pause(PAUSE_MS);
      }
    }
  }

  /**
   * Erases a subject once more whom a restored backup has brought back, under the id of the request that had erased it,
   * also where that has failed meanwhile.
   * @throws ApiError as {@link erase}
   */
  async reapply(subject: Subject, id: string): Promise<void> {
    const subjectCommitment = commitmentTo(subject, this.random.bytes(SALT_BYTES));
    await this.noted(id, async () =>
      this.carryOut(
        await this.unitOfWork.write((tx) => this.steps.beginAgain(tx, subject, { id, subjectCommitment })),
      ),
    );
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
        this.logger.error(`The erasure request ${request.id} is not finished yet and is taken up again`, {
          deletionRequestId: request.id,
          ...describeFault(error),
        }),
      );
    }
  }

  private newErasure(subject: Subject): { readonly erasure: NewErasure; readonly certificateSalt: string } {
    const salt = this.random.bytes(SALT_BYTES);
    const erasure = { id: this.random.uuid(), subjectCommitment: commitmentTo(subject, salt) };
    return { erasure, certificateSalt: salt.toString('base64url') };
  }

  private async noted<T>(id: string, work: () => Promise<T>): Promise<T> {
    this.running.add(id);
    try {
      return await work();
    } finally {
      this.running.delete(id);
    }
  }

  private async carryOut(request: DeletionRequest): Promise<DeletionRequest> {
    const ended = await this.finish(request).catch((error: unknown) => this.afterFault(request, error));
    await this.unitOfWork.scrub();
    return requireCompleted(ended, request.id);
  }

  /** {@link carryOut} of a request that somebody has left, as far as it is still not ended and the database has time. */
  private async resume(request: DeletionRequest): Promise<void> {
    let isResumed = false;
    try {
      await this.finish(request, () => (isResumed = true));
    } catch (error) {
      if (error instanceof ApiError && error.code === 'service_unavailable') throw error;
      await this.afterFault(request, error);
    } finally {
      if (isResumed) this.metrics.count('erasures', 'resumed');
    }
    await this.unitOfWork.scrub();
  }

  /** Answers the request as it is then; null when its bot was deleted. */
  private async finish(request: DeletionRequest, onProcessing?: () => void): Promise<DeletionRequest | null> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.removeAndComplete(request, onProcessing);
      } catch (error) {
        if (!(error instanceof KeyCameBack) || tries === TRIES_MAX) throw error;
      }
    }
  }

  private async removeAndComplete(
    request: DeletionRequest,
    onProcessing?: () => void,
  ): Promise<DeletionRequest | null> {
    const { unitOfWork, steps } = this;
    const both = unitOfWork.engine === 'postgres';
    const removed = await unitOfWork.write(async (tx) => {
      const ended = await steps.remove(tx, request);
      if (ended?.status !== 'processing') return ended;
      onProcessing?.();
      if (both) return steps.complete(tx, request);
      await steps.keepClosed(tx, request);
      return ended;
    });
    if (removed?.status !== 'processing') return removed;
    await unitOfWork.scrubKeys();
    return unitOfWork.write((tx) => steps.complete(tx, request));
  }

  /** What became of a request whose end was not confirmed: a commit whose answer was lost may have taken place. */
  private async afterFault(request: DeletionRequest, error: unknown): Promise<DeletionRequest | null> {
    this.logger.error(
      `The erasure request ${request.id} met a fault: it is marked failed, or finished when the database answers again`,
      { deletionRequestId: request.id, ...describeFault(error) },
    );
    return this.unitOfWork
      .write((tx) => this.steps.fail(tx, request))
      .catch(() => {
        throw stillProcessing(request.id);
      });
  }
}

function stillProcessing(id: string): ApiError {
  return new ApiError(
    'service_unavailable',
    'The erasure is on record and will be finished once the database answers: ask for its status',
    { request_id: id, status: 'processing' },
  );
}

/** @throws ApiError 503 for a request that has failed or is not ended, in whichever process; 401 when it went with its bot. */
function requireCompleted(ended: DeletionRequest | null, id: string): DeletionRequest {
  if (ended === null) throw botDeleted();
  if (ended.status === 'completed') return ended;
  if (ended.status === 'processing') throw stillProcessing(id);
  throw new ApiError('service_unavailable', 'The erasure failed and nothing was erased: request it again', {
    request_id: id,
    status: 'failed',
  });
}
