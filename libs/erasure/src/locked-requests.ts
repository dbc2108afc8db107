import type { DeletionRequest } from './deletion-request.entity';

/** A request as a step leaves it. */
export interface Ended {
  /** Null when its bot was deleted. */
  readonly request: DeletionRequest | null;
  /** Whether the step has found it `processing`. */
  readonly wasProcessing: boolean;
}

/** Requests whose rows are removed. */
export interface Removed extends Locked {
  /** Those of an earlier unit. */
  readonly before: readonly DeletionRequest[];
  readonly removed: readonly DeletionRequest[];
}

/** Requests that a step has locked. */
export interface Locked {
  readonly all: readonly (DeletionRequest | undefined)[];
  readonly processing: readonly DeletionRequest[];
  /** The ids of those that were done before the data was restored from a backup. */
  readonly reapplied: ReadonlySet<string>;
}

/** The requests of a step: changed ones as they are now, and the others as they were found. */
export function afterwards({ all }: Locked, changed: readonly DeletionRequest[]): Ended[] {
  const byId = new Map(changed.map((request) => [request.id, request]));
  return all.map((found) => ({
    request: found === undefined ? null : (byId.get(found.id) ?? found),
    wasProcessing: found?.status === 'processing',
  }));
}

/** Whether the rows of a request are removed. */
export function isRemoved({ deletedCategories }: DeletionRequest): boolean {
  return deletedCategories !== null;
}
