import { Injectable } from '@nestjs/common';
import { SubjectDigests } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import { Acts, type Claim } from '@app/idempotency';
import { Clock, Random } from '@app/kernel';
import { lockSubjects, type NamedSubject, type Subject } from '@app/subjects';
import { type Accepted, ConsentAcceptAct } from './consent-accept.act';
import { ConsentDeclineAct } from './consent-decline.act';
import { ConsentRequestAct } from './consent-request.act';
import { ConsentRevokeAct } from './consent-revoke.act';
import { findStatus, findStatuses, NEVER_ASKED } from './consent-status.sql';
import { ConsentTransitions, hasLeftData, isBotWide } from './consent-transitions';
import {
  type AcceptConsent,
  type ConsentDeclinedView,
  ConsentQuery,
  type ConsentRequestedView,
  type ConsentStatusView,
  type ConsentView,
  type DeclineConsent,
  type RequestConsent,
  type RevokeConsent,
} from './consent.dto';
import {
  closeConsents,
  lockConsents,
  reopenConsents,
  tryLockSubjectsAndConsents,
} from './consents-erasing.sql';
import { statusView } from './consent.views';

/**
 * The consent of a subject (GDPR Art. 6(1)(a), 7). Every change is one unit: state, history entry, audit event and the
 * deliveries of listeners are committed together or not at all.
 */
@Injectable()
export class ConsentService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly acts: Acts,
    private readonly requesting: ConsentRequestAct,
    private readonly accepting: ConsentAcceptAct,
    private readonly declining: ConsentDeclineAct,
    private readonly revoking: ConsentRevokeAct,
    private readonly transitions: ConsentTransitions,
    private readonly digests: SubjectDigests,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** Records a request. A repeat changes nothing. @throws ApiError 404 for an unknown category. */
  async request(botId: string, input: RequestConsent, claim: Claim): Promise<ConsentRequestedView> {
    return (await this.acts.run(this.requesting, this.requesting.of(botId, input), claim)).view;
  }

  /** Grants the request that waits. @throws ApiError 404 without a request for this version. */
  accept(botId: string, input: AcceptConsent, claim: Claim, via?: string): Promise<Accepted> {
    return this.acts.run(this.accepting, { botId, input, via }, claim);
  }

  /**
   * Withdraws the accepted consent, or some of its categories. After the commit nothing is stored under it.
   * @throws ApiError 404 without an accepted consent.
   */
  revoke(botId: string, input: RevokeConsent, claim: Claim, via?: string): Promise<ConsentView> {
    return this.acts.run(this.revoking, this.revoking.of(botId, input, via), claim);
  }

  /**
   * Ends the request that waits; what was before it stays or is there again.
   * @throws ApiError 404 without a request that waits.
   */
  decline(botId: string, input: DeclineConsent, claim: Claim): Promise<ConsentDeclinedView> {
    return this.acts.run(this.declining, { botId, input }, claim);
  }

  async status(subject: NamedSubject): Promise<ConsentStatusView> {
    const found = await findStatus(this.unitOfWork, subject);
    if (hasLeftData(found))
      return this.unitOfWork.read((tx) => this.transitions.statusOf(tx, subject, found));
    return statusView(found, subject.ids, isBotWide(subject));
  }

  /** {@link status} of several users, at one time. */
  async statuses(botId: string, items: readonly ConsentQuery[]): Promise<ConsentStatusView[]> {
    const subjects = items.map((item) => this.digests.named(botId, item));
    return this.unitOfWork.read(async (tx) => {
      const found = await findStatuses(tx, botId, subjects);
      return Promise.all(
        subjects.map((subject, at) => this.transitions.statusOf(tx, subject, found[at] ?? NEVER_ASKED)),
      );
    });
  }

  /** Closes subjects for submits before their erasure, with or without a consent; answers the time of closing. */
  async close(tx: Tx, subjects: readonly Subject[]): Promise<string> {
    await lockSubjects(tx, subjects);
    const closedAt = this.clock.nowIso();
    await closeConsents(tx, subjects, closedAt, () => this.random.uuid());
    return closedAt;
  }

  /** Locks subjects against all units that decide about them or store data about them. */
  async lock(tx: Tx, subjects: readonly Subject[]): Promise<void> {
    await Promise.all([lockSubjects(tx, subjects), lockConsents(tx, subjects)]);
  }

  /** {@link lock} that waits for no other unit: answers for each subject whether it is locked. PostgreSQL only. */
  async tryLock(tx: Tx, subjects: readonly Subject[]): Promise<boolean[]> {
    return (await tryLockSubjectsAndConsents(tx, subjects)).map((consent) => consent !== undefined);
  }

  /** Opens subjects again, and leaves what their users have decided since {@link close}. */
  async reopen(tx: Tx, subjects: readonly Subject[]): Promise<void> {
    await reopenConsents(tx, subjects);
  }
}
