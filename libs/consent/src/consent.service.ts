import { Injectable } from '@nestjs/common';
import { SubjectDigests } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import { type Claim, EncryptedForms } from '@app/idempotency';
import { BOT_WIDE_GUILD_ID, Clock, notFound, Random } from '@app/kernel';
import { lockSubjects, type NamedSubject, type Subject } from '@app/subjects';
import { declined, leavesData, pendingRequest } from './consent-changes';
import { ConsentAcceptAct } from './consent-accept.act';
import { type Accepted, type Found, foundForm } from './consent-repeats';
import { ConsentRequestAct } from './consent-request.act';
import { ConsentRevokeAct } from './consent-revoke.act';
import { findStatus, findStatuses, type FoundStatus, NEVER_ASKED } from './consent-status.sql';
import { ConsentTransitions } from './consent-transitions';
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
import { NamedRequests } from './named-requests';

/**
 * The consent of a subject (GDPR Art. 6(1)(a), 7). Every change is one unit: state, history entry, audit event and the
 * deliveries of listeners are committed together or not at all.
 */
@Injectable()
export class ConsentService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly requesting: ConsentRequestAct,
    private readonly accepting: ConsentAcceptAct,
    private readonly revoking: ConsentRevokeAct,
    private readonly transitions: ConsentTransitions,
    private readonly requests: NamedRequests,
    private readonly digests: SubjectDigests,
    private readonly forms: EncryptedForms,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** Records a request. A repeat changes nothing. @throws ApiError 404 for an unknown category. */
  async request(botId: string, input: RequestConsent, claim: Claim): Promise<ConsentRequestedView> {
    const subject = this.digests.named(botId, input);
    const keys = input.categories == null ? null : [...new Set(input.categories)];
    return (await this.unitOfWork.share(this.requesting, { subject, input, keys, claim })).view;
  }

  /** Grants the request that waits. @throws ApiError 404 without a request for this version. */
  accept(botId: string, input: AcceptConsent, claim: Claim, via?: string): Promise<Accepted> {
    return this.unitOfWork.share(this.accepting, { botId, input, claim, via });
  }

  /**
   * Withdraws the accepted consent, or some of its categories. After the commit nothing is stored under it.
   * @throws ApiError 404 without an accepted consent.
   */
  revoke(botId: string, input: RevokeConsent, claim: Claim, via?: string): Promise<ConsentView> {
    const subject = this.digests.named(botId, input);
    return this.unitOfWork.share(this.revoking, { subject, input, claim, via });
  }

  /**
   * Ends the request that waits; what was before it stays or is there again.
   * @throws ApiError 404 without a request that waits.
   */
  async decline(botId: string, input: DeclineConsent, claim: Claim): Promise<ConsentDeclinedView> {
    const decline = async (tx: Tx): Promise<Found<ConsentDeclinedView>> => {
      const consent = await this.requests.lock(tx, botId, input);
      const request = consent === null ? undefined : pendingRequest(consent);
      if (consent === null || request === undefined || !this.requests.matches(consent, request, input))
        throw notFound('Consent request', { current_status: consent?.status ?? 'none' });
      const after = declined(consent);
      const act = { ...request, source: input.source };
      const declined_at = await this.transitions.decline(tx, consent, after, act);
      const found = { consent: after, declinedAt: declined_at };
      const subject = await this.requests.named(tx, consent, input);
      return { subject, answer: { ...(await this.viewOf(tx, subject, found)), declined_at } };
    };
    const form = foundForm<ConsentDeclinedView>(this.forms);
    return (await this.unitOfWork.write(claim.once(form, decline))).answer;
  }

  async status(subject: NamedSubject): Promise<ConsentStatusView> {
    const found = await findStatus(this.unitOfWork, subject);
    if (hasLeftData(found)) return this.unitOfWork.read((tx) => this.viewOf(tx, subject, found));
    return statusView(found, subject.ids, isBotWide(subject));
  }

  /** {@link status} of several users, at one time. */
  async statuses(botId: string, items: readonly ConsentQuery[]): Promise<ConsentStatusView[]> {
    const subjects = items.map((item) => this.digests.named(botId, item));
    return this.unitOfWork.read(async (tx) => {
      const found = await findStatuses(tx, botId, subjects);
      return Promise.all(subjects.map((subject, at) => this.viewOf(tx, subject, found[at] ?? NEVER_ASKED)));
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

  /** A status that the unit has read. */
  private async viewOf(tx: Tx, subject: NamedSubject, found: FoundStatus): Promise<ConsentStatusView> {
    const [announced] = hasLeftData(found) ? await this.transitions.announced(tx, [subject]) : [];
    return statusView(found, subject.ids, isBotWide(subject), announced);
  }
}

function hasLeftData({ consent }: FoundStatus): boolean {
  return consent !== null && leavesData(consent);
}

function isBotWide({ ids }: NamedSubject): boolean {
  return ids.guild_id === BOT_WIDE_GUILD_ID;
}
