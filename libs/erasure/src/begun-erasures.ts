import type { DeletionRequest } from './deletion-request.entity';

/** An erasure that is on record, and the salt of its certificate. */
export interface BegunErasure {
  readonly request: DeletionRequest;
  readonly certificateSalt: string;
}
