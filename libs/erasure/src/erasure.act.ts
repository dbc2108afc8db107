import { Injectable } from '@nestjs/common';
import { tryLockBots } from '@app/bots';
import { ConsentService } from '@app/consent';
import { SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import type { About, Act } from '@app/idempotency';
import type { NamedSubject } from '@app/subjects';
import type { BegunErasure } from './begun-erasures';
import { findRequest } from './deletion-requests.sql';
import { type Beginning, ErasureSteps } from './erasure.steps';
import type { Prepared } from './new-erasures';

/** An erasure that a bot asks for. */
export interface Asked {
  readonly subject: NamedSubject;
  readonly prepared: Prepared;
}

type Change = Beginning & Pick<BegunErasure, 'certificateSalt'>;

/** What a repeat knows of an erasure. */
interface Kept {
  readonly id: string;
  readonly certificateSalt: string;
}

/** Begins an erasure. Those of several callers are begun and completed in one unit. */
@Injectable()
export class ErasureAct implements Act<Asked, About, Change, BegunErasure> {
  readonly outlives = true;

  constructor(
    private readonly steps: ErasureSteps,
    private readonly consents: ConsentService,
    private readonly keys: SubjectKeys,
  ) {}

  async load(tx: Tx, given: readonly Asked[]): Promise<(About | undefined)[]> {
    const subjects = given.map(({ subject }) => subject);
    // A single erasure takes its locks when it begins.
    if (given.length === 1) return subjects.map((subject) => ({ subject }));
    // The keys are read behind the locks of their subjects: the statements are sent in this order.
    const [bots, locked] = await Promise.all([
      tryLockBots(tx, [...new Set(subjects.map(({ botId }) => botId))]),
      this.consents.tryLock(tx, subjects),
      this.keys.prefetch(tx, subjects),
    ]);
    return subjects.map((subject, at) =>
      bots.has(subject.botId) && locked[at] === true ? { subject } : undefined,
    );
  }

  decide(_: About, { subject, prepared }: Asked): Change {
    const { certificateSalt } = prepared;
    return { subject, erasure: prepared.of(subject.ids), certificateSalt };
  }

  /** @throws ApiError 409 `deletion_in_progress` for a single erasure */
  async store(tx: Tx, changes: readonly Change[]): Promise<(BegunErasure | undefined)[]> {
    const [first] = changes;
    const requests =
      first !== undefined && changes.length === 1
        ? [await this.steps.begin(tx, first.subject, first.erasure)]
        : await this.steps.eraseAtOnce(tx, changes);
    return changes.map(({ certificateSalt }, at) => {
      const request = requests[at];
      return request && { request, certificateSalt };
    });
  }

  kept({ request: { id }, certificateSalt }: BegunErasure): Kept {
    return { id, certificateSalt };
  }

  /** Undefined for an erasure that has failed: it is begun again. */
  async recall(tx: Tx, { id, certificateSalt }: Kept, { subject }: Asked): Promise<BegunErasure | undefined> {
    const request = await findRequest(tx, { botId: subject.botId, id });
    return request === null || request.status === 'failed' ? undefined : { request, certificateSalt };
  }
}
