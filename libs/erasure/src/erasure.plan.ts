import { Injectable } from '@nestjs/common';
import { Batcher, UnitOfWork, type Waiting } from '@app/database';
import { ApiError } from '@app/kernel';
import type { DeletionRequest } from './deletion-request.entity';
import { ErasureSteps } from './erasure.steps';
import type { Ended, Removed } from './locked-requests';

/** A unit of SQLite that has run for longer, in milliseconds, takes no further requests. */
const TURN_MS = 20;
/** So many requests share statements. The time of a unit is looked at behind each such step. */
const STEP = 8;

/**
 * The way of requests from `processing` to `completed`. On SQLite requests that wait together share its units, as many as fit
 * in a turn of the event loop, and after an error that is not of the database each of them takes the way alone. On
 * PostgreSQL each is alone, so that none waits for the locks of another one.
 */
@Injectable()
export class ErasurePlan {
  /** One lane: a second batch beside the first one would double the scrubs of the key file. */
  private readonly batches = new Batcher<DeletionRequest, Ended>((batch) => this.serve(batch), Infinity, 1);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly steps: ErasureSteps,
  ) {}

  /** Takes a request to its end. */
  async follow(request: DeletionRequest): Promise<Ended> {
    if (this.unitOfWork.engine === 'sqlite') return this.batches.join(request);
    const [ended] = await this.end([request]);
    return ended ?? NOT_FOUND;
  }

  private async serve(batch: readonly Waiting<DeletionRequest, Ended>[]): Promise<void> {
    let rest: readonly Waiting<DeletionRequest, Ended>[] = [];
    try {
      const ended = await this.end(batch.map(({ input }) => input));
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
   * Ends requests, from the first one on, as many as fit in a unit; at least one. On SQLite, where a reader of the keys
   * prevents their scrub, the end follows in a later unit.
   */
  private async end(requests: readonly DeletionRequest[]): Promise<readonly Ended[]> {
    const { steps, unitOfWork } = this;
    const ended = await unitOfWork.destroyKeys(
      async (tx) => {
        const begunMs = performance.now();
        const removed: Removed[] = [];
        for (let at = 0; at < requests.length; at += STEP) {
          removed.push(await steps.remove(tx, requests.slice(at, at + STEP)));
          if (performance.now() - begunMs > TURN_MS) break;
        }
        return allOf(removed);
      },
      (tx, removed, isScrubbed) => (isScrubbed ? steps.complete(tx, removed) : steps.close(tx, removed)),
    );
    if (ended.every(({ request }) => request?.status !== 'processing')) return ended;
    await unitOfWork.scrubKeys();
    const taken = requests.slice(0, ended.length);
    return unitOfWork.write(async (tx) => steps.complete(tx, await steps.remove(tx, taken)));
  }
}

const NOT_FOUND: Ended = { request: null, wasProcessing: false };

/** The requests of several steps. A request that was given twice is what its first step has made of it. */
function allOf(parts: readonly Removed[]): Removed {
  const once = (requests: readonly DeletionRequest[]): DeletionRequest[] => [
    ...new Map([...requests].reverse().map((request) => [request.id, request])).values(),
  ];
  return {
    all: parts.flatMap(({ all }) => all),
    processing: once(parts.flatMap(({ processing }) => processing)),
    reapplied: new Set(parts.flatMap(({ reapplied }) => [...reapplied])),
    before: once(parts.flatMap(({ before }) => before)),
    removed: once(parts.flatMap(({ removed }) => removed)),
  };
}

/** Whether the last commit may have taken effect: the request is finished by the recovery. */
export function isOfDatabase(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'service_unavailable';
}
