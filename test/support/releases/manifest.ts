import type { AuditProof } from '@lethe/sdk/evidence';
import type { RegisteredBot } from '../bot';
import type { Json } from '../client';
import type { SubjectIds } from '../snowflakes';

/** What an installation of a release answers, and has to answer after every upgrade. */
export interface Manifest {
  readonly release: string;
  /** The newest time in the fixture. It is opened as if no time had passed. */
  readonly made_at: string;
  readonly bots: readonly KeptBot[];
}

/** A bot of the fixture with all that it was answered. */
export interface KeptBot {
  readonly registered: RegisteredBot;
  /** Every GET with its answer, in the order in which they are asked. */
  readonly answers: readonly KeptAnswer[];
  readonly keys: readonly KeptKey[];
  readonly erased: readonly Erased[];
  readonly receipts: readonly string[];
  readonly proofs: readonly AuditProof[];
  readonly checkpoints: readonly string[];
  readonly repeats: readonly Repeat[];
  readonly links: readonly KeptLink[];
}

export interface KeptAnswer {
  readonly path: string;
  readonly status: number;
  readonly body: Json;
}

/** An API key, and how it is answered to a GET and to a POST. */
export interface KeptKey {
  readonly api_key: string;
  readonly reads: number;
  readonly writes: number;
}

/** An erasure, with the salt that ties its certificate to the user. */
export interface Erased extends SubjectIds {
  readonly request_id: string;
  readonly salt: string;
  readonly certificate: string;
}

/** A request that was answered under an `Idempotency-Key`. */
export interface Repeat {
  readonly path: string;
  readonly body: Json;
  readonly key: string;
  readonly answer: Json;
}

export interface KeptLink {
  readonly token: string;
  readonly status: number;
}
