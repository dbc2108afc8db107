import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { botDeleted, UnitOfWork } from '@app/database';
import { ApiError, describeFault, Random } from '@app/kernel';
import { Metrics, NO_METRICS } from '@app/metrics';
import type { Subject } from '@app/subjects';
import { LessThan } from 'typeorm';
import { DeletionRequest } from './deletion-request.entity';
import { commitmentTo } from './erased-subject';
import { type ForgottenView, NOTICE } from './erasure.dto';
import { ErasurePlan } from './erasure.plan';
import { ErasureSteps, type NewErasure } from './erasure.steps';

/** Later than any recorded time. */
const NEVER = '9999';
/** Tries, and the pause between two, while the same user is being erased in another guild. */
const TURNS_MAX = 100;
const PAUSE_MS = 20;
const SALT_BYTES = 16;

/**
 * Erasure (GDPR Art. 17): removes every row about a subject and destroys its key. `ErasureSteps` has the steps,
 * `ErasurePlan` one plan for each engine:
 *
 * | State            | PostgreSQL: next step          | SQLite: next step                | A crash in it leaves   |
 * | ---------------- | ------------------------------ | -------------------------------- | ---------------------- |
 * | no request       | 1st commit: begin              | 1st commit: begin                | no request (a)         |
 * | `processing`     | 2nd commit: remove, complete   | 2nd commit: remove, close        | `processing` (b), (c)  |
 * | `processing`,    | none: remove and complete have | scrub the keys, then             | the same state (b)     |
 * | rows removed     | one commit                     | 3rd commit: reopen, complete     |                        |
 * | `completed`      | scrub                          | scrub                            | `completed` (d)        |
 *
 * - (a) Nothing is closed or recorded; the caller repeats the call.
 * - (b) The subject stays closed. `ErasureRecovery` follows the plan again: on SQLite before the next start listens, on
 *   PostgreSQL in whichever process looks first, 10 s after the request began. Removing again is harmless.
 * - (c) SQLite commits to the data first and to the keys after it. A crash between leaves the rows removed and the key
 *   in place; the plan removes again, which destroys the key.
 * - (d) The next scrub of any erasure or job covers what is left in the files of the engine.
 *
 * An error that is no crash ends in `fail`: the request is `failed`, the subject open and nothing erased. After a
 * committed removal, or while the database does not answer, it stays `processing` for the recovery.
 */
@Injectable()
export class ErasureService {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  private readonly logger = new Logger(ErasureService.name);
  /** Ids of the erasures under way in this process: the recovery leaves these out. */
  private readonly running = new Set<string>();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly steps: ErasureSteps,
    private readonly plan: ErasurePlan,
    private readonly random: Random,
  ) {}

  /**
   * Erases a subject. When this resolves, the erasure is durable.
   * @throws ApiError 409 `deletion_in_progress` while the same user is being erased in any guild of the bot; 503 when
   * it failed, with nothing erased, or is not finished yet; 401 when the bot was deleted meanwhile.
   */
  async erase(subject: Subject): Promise<ForgottenView> {
    const { erasure, certificateSalt } = this.newErasure(subject);
    return this.noted(erasure.id, async () => {
      const request = await this.unitOfWork.write((tx) => this.steps.begin(tx, subject, erasure));
      return forgottenView(await this.carryOut(request), certificateSalt);
    });
  }

  /** {@link erase} of a subject about which anything is held; undefined, and no request, for another one. */
  async eraseIfHeld(subject: Subject): Promise<ForgottenView | undefined> {
    const { erasure, certificateSalt } = this.newErasure(subject);
    return this.noted(erasure.id, async () => {
      const request = await this.unitOfWork.write((tx) => this.steps.beginIfHeld(tx, subject, erasure));
      return request && forgottenView(await this.carryOut(request), certificateSalt);
    });
  }

  /** {@link eraseIfHeld} that waits up to two seconds for an erasure of the same user in another guild. */
  async eraseInTurn(subject: Subject): Promise<ForgottenView | undefined> {
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
   * Erases a subject that a restored backup has brought back, under the id of the request that had erased it. A failed
   * request with this id is replaced.
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
   * Finishes every erasure begun before `beforeIso` that a crash or an unreachable database has left `processing`. A
   * fault of one is logged and stops no other. Takes up no further one once `stopping` is aborted.
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
    const ended = await this.plan.follow(request).catch((error: unknown) => this.afterFault(request, error));
    await this.unitOfWork.scrub();
    return requireCompleted(ended, request.id);
  }

  /** {@link carryOut} of a request that was left behind. Left as it is while the database is unavailable. */
  private async resume(request: DeletionRequest): Promise<void> {
    let isResumed = false;
    try {
      await this.plan.follow(request, () => (isResumed = true));
    } catch (error) {
      if (error instanceof ApiError && error.code === 'service_unavailable') throw error;
      await this.afterFault(request, error);
    } finally {
      if (isResumed) this.metrics.count('erasures', 'resumed');
    }
    await this.unitOfWork.scrub();
  }

  /** The commit may have taken place although its answer was lost: the request is read again under its lock. */
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

/** @throws ApiError 503 for a request that has failed or is not ended; 401 when its bot was deleted. */
function requireCompleted(ended: DeletionRequest | null, id: string): DeletionRequest {
  if (ended === null) throw botDeleted();
  if (ended.status === 'completed') return ended;
  if (ended.status === 'processing') throw stillProcessing(id);
  throw new ApiError('service_unavailable', 'The erasure failed and nothing was erased: request it again', {
    request_id: id,
    status: 'failed',
  });
}

function forgottenView(request: DeletionRequest, certificateSalt: string): ForgottenView {
  return {
    request_id: request.id,
    status: request.status,
    deleted_categories: request.deletedCategories,
    completed_at: request.completedAt,
    certificate_salt: certificateSalt,
    notice: NOTICE,
  };
}
