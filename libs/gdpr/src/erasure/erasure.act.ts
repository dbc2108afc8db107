import { Injectable } from '@nestjs/common';
import { tryLockBots } from '@app/bots';
import { ConsentService } from '@app/consent';
import { type Subject, SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import type { About, Act } from '@app/acts';
import type { DeletionRequest } from './deletion-request.entity';
import { findRequest } from './deletion-requests.sql';
import type { NewErasure } from './erasure-records';
import { ErasureSteps } from './erasure.steps';

/** An erasure that is on record, and the salt of its certificate. */
export interface BegunErasure {
  readonly request: DeletionRequest;
  readonly certificateSalt: string;
}

/** What is stored of an erasure for a repeat of its request. */
export interface KeptErasure {
  readonly id: string;
  readonly certificateSalt: string;
}

/** Begins an erasure. The erasures of several callers are begun and completed in one unit. */
@Injectable()
export class ErasureAct implements Act<NewErasure, About, NewErasure, BegunErasure> {
  readonly outlives = true;

  constructor(
    private readonly steps: ErasureSteps,
    private readonly consents: ConsentService,
    private readonly keys: SubjectKeys,
  ) {}

  async load(tx: Tx, given: readonly NewErasure[]): Promise<readonly (About | undefined)[]> {
    // A single erasure takes its locks when it begins.
    if (given.length === 1) return given;
    const subjects = given.map(({ subject }) => subject);
    // The keys are read after the locks of their subjects: the statements are sent in this order.
    const [bots, locked] = await Promise.all([
      tryLockBots(tx, [...new Set(subjects.map(({ botId }) => botId))]),
      this.consents.tryLock(tx, subjects),
      this.keys.prefetch(tx, subjects),
    ]);
    return given.map((erasure, at) =>
      bots.has(erasure.subject.botId) && locked[at] === true ? erasure : undefined,
    );
  }

  /** Whether the user is being erased already is known by the row that {@link store} inserts. */
  decide(_: About, erasure: NewErasure): NewErasure {
    return erasure;
  }

  /** @throws ApiError 409 `deletion_in_progress` for a single erasure */
  async store(tx: Tx, erasures: readonly NewErasure[]): Promise<(BegunErasure | undefined)[]> {
    const [first] = erasures;
    const requests =
      first !== undefined && erasures.length === 1
        ? [await this.steps.begin(tx, first)]
        : await this.steps.eraseAtOnce(tx, erasures);
    return erasures.map(({ certificateSalt }, at) => {
      const request = requests[at];
      return request && { request, certificateSalt };
    });
  }

  kept({ request: { id }, certificateSalt }: BegunErasure): KeptErasure {
    return { id, certificateSalt };
  }

  /** Undefined for an erasure that has failed: it is begun again. */
  async recall(
    tx: Tx,
    { id, certificateSalt }: KeptErasure,
    { subject: { botId } }: { readonly subject: Pick<Subject, 'botId'> },
  ): Promise<BegunErasure | undefined> {
    const request = await findRequest(tx, { botId, id });
    return request === undefined || request.status === 'failed' ? undefined : { request, certificateSalt };
  }
}
