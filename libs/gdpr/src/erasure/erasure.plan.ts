import { Injectable } from '@nestjs/common';
import { Batcher, UnitOfWork, type Waiting } from '@app/database';
import { ApiError } from '@app/kernel';
import type { DeletionRequest } from './deletion-request.entity';
import { ErasureSteps, type Followed } from './erasure.steps';

/** A unit of SQLite that has run for longer, in milliseconds, takes no further requests. */
const TURN_MS = 20;
/** Number of requests that share statements. The time of a unit is looked at after each such step. */
const STEP = 8;

type Following = Waiting<DeletionRequest, Followed | undefined>;

/**
 * The way of requests from `processing` to `completed`. On SQLite requests that wait together share its units, as many as fit
 * in a turn of the event loop; after an error that does not come from the database each request is tried again alone. On
 * PostgreSQL each is alone, so that none waits for the locks of another one.
 */
@Injectable()
export class ErasurePlan {
  /** One lane: a second batch beside the first one would double the scrubs of the key file. */
  private readonly batches = new Batcher<DeletionRequest, Followed | undefined>(
    (batch) => this.serve(batch),
    Infinity,
    1,
  );

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly steps: ErasureSteps,
  ) {}

  /** Takes a request to its end; undefined when its bot was deleted. */
  async follow(request: DeletionRequest): Promise<Followed | undefined> {
    if (this.unitOfWork.engine === 'sqlite') return this.batches.join(request);
    const [ended] = await this.end([request]);
    return ended;
  }

  private async serve(batch: readonly Following[]): Promise<void> {
    let rest: readonly Following[] = [];
    try {
      const ended = await this.end(untilRepeated(batch.map(({ input }) => input)));
      rest = batch.slice(ended.length);
      ended.forEach((each, at) => batch[at]?.resolve(each));
    } catch (error) {
      const isShared = batch.length > 1 && !isOfDatabase(error);
      for (const each of batch) {
        if (isShared) await this.serve([each]);
        else each.reject(error);
      }
    }
    if (rest.length > 0) await this.serve(rest);
  }

  /**
   * Ends requests, from the first one on, as many as fit in a unit; at least one. On SQLite a reader of the keys can prevent
   * their scrub: the end follows in a later unit then.
   */
  private async end(requests: readonly DeletionRequest[]): Promise<readonly (Followed | undefined)[]> {
    const { steps, unitOfWork } = this;
    const ended = await unitOfWork.destroyKeys(
      async (tx) => {
        const begunMs = performance.now();
        const removed: (Followed | undefined)[] = [];
        for (let at = 0; at < requests.length; at += STEP) {
          removed.push(...(await steps.remove(tx, requests.slice(at, at + STEP))));
          if (performance.now() - begunMs > TURN_MS) break;
        }
        return removed;
      },
      (tx, removed, isScrubbed) => (isScrubbed ? steps.complete(tx, removed) : steps.close(tx, removed)),
    );
    if (ended.every((each) => each?.request.status !== 'processing')) return ended;
    await unitOfWork.scrubKeys();
    const taken = requests.slice(0, ended.length);
    return unitOfWork.write(async (tx) => steps.complete(tx, await steps.remove(tx, taken)));
  }
}

/** Two callers may resume the same request: its second place waits for a later unit, which finds it ended. */
function untilRepeated(requests: readonly DeletionRequest[]): readonly DeletionRequest[] {
  const ids = new Set<string>();
  const end = requests.findIndex(({ id }) => ids.size === ids.add(id).size);
  return end === -1 ? requests : requests.slice(0, end);
}

/** Whether the last commit may have taken effect: the request is finished by the recovery. */
export function isOfDatabase(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'service_unavailable';
}
