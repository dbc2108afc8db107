import { Injectable } from '@nestjs/common';
import { tryLockBots } from '@app/bots';
import { ConsentService } from '@app/consent';
import { SubjectKeys } from '@app/crypto';
import type { SharedAct, Tx } from '@app/database';
import { type Claim, claimedBefore, keepAll } from '@app/idempotency';
import type { NamedSubject } from '@app/subjects';
import { type BegunErasures, BegunErasuresForm } from './begun-erasures';
import { ErasureSteps } from './erasure.steps';
import type { Prepared } from './new-erasures';

/** An erasure that a bot asks for. */
export interface Asked {
  readonly subject: NamedSubject;
  readonly prepared: Prepared;
  readonly claim: Claim;
}

/**
 * Begins an erasure. On PostgreSQL those that wait together are begun and completed in one unit; one that meets another
 * erasure, a repeat of its request or a lock is begun alone.
 */
@Injectable()
export class ErasureAct implements SharedAct<Asked, BegunErasures> {
  readonly fewest = 2;

  constructor(
    private readonly steps: ErasureSteps,
    private readonly consents: ConsentService,
    private readonly keys: SubjectKeys,
    private readonly form: BegunErasuresForm,
  ) {}

  /** @throws ApiError 409 `deletion_in_progress` */
  alone(tx: Tx, { subject, prepared, claim }: Asked): Promise<BegunErasures> {
    const begin = async (): Promise<BegunErasures> =>
      begunOf(prepared, await this.steps.begin(tx, subject, prepared.of(subject.ids)));
    return claim.once(this.form, begin)(tx);
  }

  async together(tx: Tx, given: readonly Asked[]): Promise<(BegunErasures | undefined)[]> {
    const subjects = given.map(({ subject }) => subject);
    const claims = given.map(({ claim }) => claim);
    // The keys are read behind the locks of their subjects: the statements are sent in this order.
    const [bots, locked, claimed] = await Promise.all([
      tryLockBots(tx, [...new Set(subjects.map(({ botId }) => botId))]),
      this.consents.tryLock(tx, subjects),
      claimedBefore(tx, claims),
      this.keys.prefetch(tx, subjects),
    ]);
    const taken = given.filter(
      ({ subject }, at) => bots.has(subject.botId) && locked[at] === true && claimed[at] !== true,
    );
    if (taken.length === 0) return given.map(() => undefined);
    const ended = await this.steps.eraseAtOnce(
      tx,
      taken.map(({ subject, prepared }) => ({ subject, erasure: prepared.of(subject.ids) })),
    );
    const outcomes = new Map(
      taken.flatMap((asked, at) => {
        const request = ended[at];
        return request === undefined ? [] : [[asked, begunOf(asked.prepared, request)] as const];
      }),
    );
    await keepAll(
      tx,
      [...outcomes].map(([{ claim }, outcome]) => ({ claim, form: this.form, outcome })),
    );
    return given.map((asked) => outcomes.get(asked));
  }
}

function begunOf(
  { certificateSalt }: Prepared,
  request: BegunErasures['begun'][number]['request'],
): BegunErasures {
  return { begun: [{ request, certificateSalt }], isWhole: true };
}
