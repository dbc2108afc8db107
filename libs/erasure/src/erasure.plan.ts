import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import type { DeletionRequest } from './deletion-request.entity';
import { ErasureSteps } from './erasure.steps';

/** Answers the request as it is afterwards; null when its bot was deleted. */
type Plan = (request: DeletionRequest, onProcessing: () => void) => Promise<DeletionRequest | null>;

/** The way of a request from `processing` to `completed`, one plan for each engine. */
@Injectable()
export class ErasurePlan {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly steps: ErasureSteps,
  ) {}

  /** Follows the plan of the engine. Calls `onProcessing` when the request was still `processing`. */
  follow(
    request: DeletionRequest,
    onProcessing: () => void = () => undefined,
  ): Promise<DeletionRequest | null> {
    const plan = this.unitOfWork.engine === 'postgres' ? this.onPostgres : this.onSqlite;
    return plan(request, onProcessing);
  }

  /** Data and keys have one commit. */
  private readonly onPostgres: Plan = (request, onProcessing) =>
    this.unitOfWork.write(async (tx) => {
      const removed = await this.steps.remove(tx, request);
      if (removed?.status !== 'processing') return removed;
      onProcessing();
      // A move from SQLite can have come between the two.
      return this.steps.complete(tx, request, request.deletedCategories === null ? undefined : 'closed');
    });

  /** Data and keys are two files, each with a commit. The key file is scrubbed before the erasure is `completed`. */
  private readonly onSqlite: Plan = async (request, onProcessing) => {
    const removed = await this.unitOfWork.write(async (tx) => {
      const found = await this.steps.remove(tx, request);
      if (found?.status !== 'processing') return found;
      onProcessing();
      await this.steps.close(tx, request);
      return found;
    });
    if (removed?.status !== 'processing') return removed;
    await this.unitOfWork.scrubKeys();
    return this.unitOfWork.write((tx) => this.steps.complete(tx, request, 'closed'));
  };
}
