import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { botDeleted, type Tx, UnitOfWork } from '@app/database';
import { Acts, type Claim } from '@app/acts';
import { type Actor, JOB } from '@app/http';
import { ApiError, describeFault, Metrics, NO_METRICS } from '@app/kernel';
import type { NamedSubject, Subject } from '@app/crypto';
import type { DeletionRequest } from './deletion-request.entity';
import { findProcessing, findRequest } from './deletion-requests.sql';
import { ErasureRecords } from './erasure-records';
import { type BegunErasure, ErasureAct } from './erasure.act';
import { type ForgottenView, NOTICE } from './erasure.dto';
import { ErasurePlan, isOfDatabase } from './erasure.plan';
import { ErasureSteps } from './erasure.steps';

/** Tries, and the pause between two, while the same user is being erased in another guild. */
const TURNS_MAX = 100;
const PAUSE_MS = 20;

/** Notes an erasure in the unit that begins it. */
export type NoteBegun = (tx: Tx, begun: BegunErasure) => Promise<void>;

/** Whether an erasure begins although nothing is held, asked in its unit before anything else. */
export type BeginsAnyway = (tx: Tx) => Promise<boolean>;

/**
 * Erasure (GDPR Art. 17): removes every row about a subject and destroys its key. `ErasureSteps` has the steps. Erasures
 * that wait together share the units of `ErasureAct`, which begins them, and of `ErasurePlan`, which carries them out:
 *
 * | State            | PostgreSQL: next step          | SQLite: next step                | A crash in it leaves   |
 * | ---------------- | ------------------------------ | -------------------------------- | ---------------------- |
 * | no request, of   | one commit: begin, remove,     | 1st commit: begin                | no request (a)         |
 * | several together | complete                       |                                  |                        |
 * | no request, of   | 1st commit: begin              | 1st commit: begin                | no request (a)         |
 * | one erasure      |                                |                                  |                        |
 * | `processing`     | 2nd commit: remove, complete   | keys committed and scrubbed,     | `processing` (b), (c)  |
 * |                  |                                | 2nd commit: remove, complete     |                        |
 * | `processing`,    | none: remove and complete have | where a reader prevented it:     | the same state (b)     |
 * | rows removed     | one commit                     | scrub, 3rd commit: complete      |                        |
 *
 * - (a) Nothing is closed or recorded; the caller repeats the call.
 * - (b) The subject stays closed. `ErasureRecovery` follows the plan again: on SQLite before the next start listens, on
 *   PostgreSQL in whichever process looks first, 10 s after the request began.
 * - (c) SQLite commits to the keys first and to the data after it. A crash between leaves the rows and no key: they
 *   cannot be read, and the plan removes them.
 *
 * A fault of the database leaves the request `processing` for the recovery, since a commit may have taken effect. Any
 * other error ends in `fail`: the request is `failed`, the subject open and nothing erased.
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
    private readonly acts: Acts,
    private readonly act: ErasureAct,
    private readonly records: ErasureRecords,
  ) {}

  /**
   * Erases a subject. When this resolves, the erasure is durable.
   * @throws ApiError 409 `deletion_in_progress` while the same user is being erased in any guild of the bot; 503 when
   * it failed, with nothing erased, or is not finished yet; 401 when the bot was deleted meanwhile.
   */
  async erase(subject: NamedSubject, claim: Claim, by: Actor): Promise<ForgottenView> {
    const erasure = this.records.prepare(subject, by);
    return this.noted(erasure.id, async () => this.finish(await this.acts.run(this.act, erasure, claim)));
  }

  /** Carries out an erasure that has begun. One that is completed is only shown. @throws ApiError as {@link erase} */
  async finish({ request, certificateSalt }: BegunErasure): Promise<ForgottenView> {
    return forgottenView(await this.carryOut(request), certificateSalt);
  }

  /**
   * {@link erase} of a subject about which anything is held; undefined, and no request, for another one unless it `beginsAnyway`. `note`
   * is called in the unit that begins it.
   */
  async eraseIfHeld(
    subject: Subject,
    by: Actor,
    note?: NoteBegun,
    beginsAnyway?: BeginsAnyway,
  ): Promise<ForgottenView | undefined> {
    const erasure = this.records.prepare(subject, by);
    return this.noted(erasure.id, async () => {
      const begun = await this.unitOfWork.write(async (tx) => {
        const isAnyway = (await beginsAnyway?.(tx)) === true;
        const request = await this.steps[isAnyway ? 'begin' : 'beginIfHeld'](tx, erasure);
        if (request === undefined) return undefined;
        const next = { request, certificateSalt: erasure.certificateSalt };
        await note?.(tx, next);
        return next;
      });
      return begun && this.finish(begun);
    });
  }

  /** {@link eraseIfHeld} that waits up to two seconds for an erasure of the same user in another guild. */
  eraseInTurn(...given: Parameters<ErasureService['eraseIfHeld']>): Promise<ForgottenView | undefined> {
    return inTurn(() => this.eraseIfHeld(...given));
  }

  /**
   * Erases a subject that a restored backup has brought back, under the id of the request that had erased it. A failed
   * request with this id is replaced, and one that was left is finished. An erasure of the same user that was under way when
   * the backup was made is finished first.
   * @throws ApiError as {@link erase}
   */
  async reapply(subject: Subject, id: string): Promise<void> {
    const left = await this.unitOfWork.read((tx) => findRequest(tx, { botId: subject.botId, id }));
    if (left !== undefined && left.status !== 'failed')
      return void (await this.noted(id, () => this.carryOut(left)));
    const erasure = this.records.prepare(subject, JOB, id);
    const begin = (): Promise<DeletionRequest> =>
      this.unitOfWork.write((tx) => this.steps.beginAgain(tx, erasure));
    await this.noted(id, async () => this.carryOut(await inTurn(begin, () => this.finishLeft())));
  }

  /**
   * Finishes every erasure that a crash or an unreachable database has left `processing`; `isLeft` says by the time of a
   * request whether that can be. A fault of one is logged and stops no other. None is taken up once `stopping` is
   * aborted.
   */
  async finishLeft(
    isLeft: (createdAt: string) => boolean = () => true,
    stopping?: AbortSignal,
  ): Promise<void> {
    for (const request of await this.unitOfWork.read(findProcessing)) {
      if (stopping?.aborted === true) return;
      if (this.running.has(request.id) || !isLeft(request.createdAt)) continue;
      await this.resume(request).catch((error: unknown) =>
        this.logger.error(`The erasure request ${request.id} is not finished yet and is taken up again`, {
          deletionRequestId: request.id,
          ...describeFault(error),
        }),
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

  private async carryOut(request: DeletionRequest): Promise<DeletionRequest> {
    if (request.status === 'completed') return request;
    const following = this.plan.follow(request).then((ended) => ended?.request);
    const ended = await following.catch((error: unknown) => this.afterFault(request, error));
    return requireCompleted(ended, request.id);
  }

  /** {@link carryOut} of a request that was left behind. Left as it is while the database is unavailable. */
  private async resume(request: DeletionRequest): Promise<void> {
    try {
      const followed = await this.plan.follow(request);
      if (followed !== undefined && followed.found !== 'ended') this.metrics.count('erasures', 'resumed');
    } catch (error) {
      if (isOfDatabase(error)) throw error;
      await this.afterFault(request, error);
    }
  }

  /** After a fault of the database the last commit may have taken effect: only another error ends the request. */
  private async afterFault(request: DeletionRequest, error: unknown): Promise<DeletionRequest | undefined> {
    this.logger.error(
      `The erasure request ${request.id} met a fault: it is marked failed, or finished when the database answers again`,
      { deletionRequestId: request.id, ...describeFault(error) },
    );
    const { id } = request;
    const after = isOfDatabase(error)
      ? this.unitOfWork.read((tx) => findRequest(tx, request))
      : this.unitOfWork.write((tx) => this.steps.fail(tx, request));
    return after.catch(() => {
      throw stillProcessing(id);
    });
  }
}

/** Tries again while the same user is being erased in another guild. */
async function inTurn<T>(work: () => Promise<T>, between?: () => Promise<void>): Promise<T> {
  for (let turns = 1; ; turns++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'conflict') || turns === TURNS_MAX) throw error;
      await between?.();
      await pause(PAUSE_MS);
    }
  }
}

/** Whether an error is about an erasure that is on record, and is finished without its caller. */
export function isOnRecord(error: unknown): boolean {
  return error instanceof ApiError && error.details?.['status'] === 'processing';
}

function stillProcessing(id: string): ApiError {
  return new ApiError(
    'service_unavailable',
    'The erasure is on record and will be finished once the database answers: ask for its status',
    { request_id: id, status: 'processing' },
  );
}

/** @throws ApiError 503 for a request that has failed or is not ended; 401 when its bot was deleted. */
function requireCompleted(ended: DeletionRequest | undefined, id: string): DeletionRequest {
  if (ended === undefined) throw botDeleted();
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
