import { Injectable } from '@nestjs/common';
import { CategoriesService, undeclared } from '@app/categories';
import { SubjectDigests, SubjectKeys } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import { about, type Claim } from '@app/idempotency';
import { BOT_WIDE_GUILD_ID, Clock, notFound, Random } from '@app/kernel';
import { lockSubject, type NamedSubject, type Subject, SUBJECT_WHERE } from '@app/subjects';
import {
  accepted,
  askedAlready,
  type ConsentAsked,
  leavesData,
  pendingRequest,
  requested,
  revoked,
  withoutCategories,
} from './consent-changes';
import { receiptFacts } from './consent-receipt.facts';
import { type Accepted, acceptedForm, type Requested, requestedForm } from './consent-repeats';
import { type Asking, ConsentTextsService } from './consent-texts.service';
import { ConsentTransitions } from './consent-transitions';
import type {
  AcceptConsent,
  ConsentRequestedView,
  ConsentStatusView,
  ConsentView,
  RequestConsent,
  RevokeConsent,
} from './consent.dto';
import type { Consent } from './consent.entity';
import { findConsentOfRequest, findStatus, lockConsent, lockConsentOrItsLack } from './consent.sql';
import { consentView, requestedView, statusView } from './consent.views';

/**
 * The consent of a subject (GDPR Art. 6(1)(a), 7). Every change is one unit: state, history entry, audit event and the
 * deliveries of listeners are committed together or not at all.
 */
@Injectable()
export class ConsentService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly categories: CategoriesService,
    private readonly texts: ConsentTextsService,
    private readonly transitions: ConsentTransitions,
    private readonly digests: SubjectDigests,
    private readonly keys: SubjectKeys,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** Records a request. A repeat changes nothing. @throws ApiError 404 for an unknown category. */
  request(botId: string, input: RequestConsent, claim: Claim): Promise<ConsentRequestedView> {
    const subject = this.digests.named(botId, input);
    const { source } = input;
    const keys = input.categories == null ? null : [...new Set(input.categories)];
    const ask = (tx: Tx): Promise<Asking> => this.texts.asking(tx, botId, input, keys);
    const request = async (tx: Tx): Promise<Requested> => {
      const held = await this.categories.hold(tx, botId, keys ?? []);
      if (keys?.some((key) => !held.includes(key))) undeclared();
      const [before, asking] = await Promise.all([lockConsentOrItsLack(tx, subject), ask(tx)]);
      const { version, shown, texts } = asking;
      const state = before === null ? undefined : askedAlready(before, { version, categories: keys });
      if (before !== null && state !== undefined) {
        const waiting = state === 'pending' ? pendingRequest(before) : undefined;
        if (waiting !== undefined) await this.transitions.askAgain(tx, before, { ...waiting, source }, shown);
        return { view: requestedView(before, state, keys, texts), asking };
      }
      const asked: ConsentAsked = {
        id: this.random.uuid(),
        version,
        categories: keys,
        at: this.clock.nowIso(),
      };
      const after = requested(subject, before, asked);
      await this.transitions.ask(tx, subject, after, { ...asked, source }, shown, before === null);
      return { view: requestedView(after, 'pending', keys, texts), asking };
    };
    return this.unitOfWork.write(claim.once(requestedForm(subject, ask), request)).then(({ view }) => view);
  }

  /** Grants the request that waits. @throws ApiError 404 without a request for this version. */
  accept(botId: string, input: AcceptConsent, claim: Claim): Promise<Accepted> {
    const accept = async (tx: Tx): Promise<Accepted> => {
      const held = await this.categories.hold(tx, botId, input.categories ?? []);
      const consent = await this.addressed(tx, botId, input);
      const request = consent === null ? undefined : pendingRequest(consent);
      if (consent === null || request === undefined || !this.matches(consent, request, input)) {
        throw notFound('Consent request', { current_status: consent?.status ?? 'none' });
      }
      if (input.categories?.some((key) => !held.includes(key))) undeclared();
      const after = accepted(consent, request, input.categories ?? null, this.clock.nowIso(request.at));
      const granted =
        after.categories &&
        Object.keys(after.categories).filter((key) => after.categories?.[key] === 'accepted');
      const act = { ...request, categories: granted, source: input.source };
      const facts = await receiptFacts(tx, after, this.transitions.give(tx, after, act));
      return { consent: consentView(after, facts.ids), facts };
    };
    return this.unitOfWork.write(claim.once(acceptedForm(this.keys), accept));
  }

  /**
   * Withdraws the accepted consent, or some of its categories. After the commit nothing is stored under it.
   * @throws ApiError 404 without an accepted consent.
   */
  revoke(botId: string, input: RevokeConsent, claim: Claim): Promise<ConsentView> {
    const subject = this.digests.named(botId, input);
    const { source } = input;
    const revoke = async (tx: Tx): Promise<ConsentView> => {
      // A partly withdrawn consent to everything becomes one to each of the other categories.
      const declared = input.categories == null ? [] : await this.categories.holdAll(tx, botId);
      const consent = await lockConsent(tx, subject);
      if (consent?.status !== 'accepted')
        throw notFound('Consent', { current_status: consent?.status ?? 'none' });
      const { id, version } = consent;
      const reduced = input.categories == null ? undefined : reducedTo(consent, input.categories, declared);
      const at = this.clock.nowIso(consent.acceptedAt ?? '');
      const categories = reduced === undefined ? null : (input.categories ?? null);
      const after = reduced ?? revoked(consent, at);
      const act = { id, version, categories, source };
      return consentView(after, subject.ids, await this.transitions.withdraw(tx, after, act, at));
    };
    return this.unitOfWork.write(claim.once(about<ConsentView>(subject, subject.ids), revoke));
  }

  async status(subject: NamedSubject): Promise<ConsentStatusView> {
    const found = await findStatus(this.unitOfWork, subject);
    const asks = found !== null && leavesData(found);
    const announced = asks
      ? await this.unitOfWork.read((tx) => this.transitions.announced(tx, subject))
      : undefined;
    return statusView(found, subject.ids, subject.ids.guild_id === BOT_WIDE_GUILD_ID, announced);
  }

  /** Closes a subject for submits before its erasure, with or without a consent; answers the time of closing. */
  async close(tx: Tx, subject: Subject): Promise<string> {
    const { botId, guildId, userId } = subject;
    await lockSubject(tx, subject, 'alone');
    const closedAt = this.clock.nowIso();
    await tx.run(
      `INSERT INTO consents (bot_id, guild_id, user_id, id, status, version, requested_at, erasing)
       VALUES (?, ?, ?, ?, 'none', '', ?, 1) ON CONFLICT (bot_id, guild_id, user_id) DO UPDATE SET erasing = 1`,
      ...[botId, guildId, userId, this.random.uuid(), closedAt],
    );
    return closedAt;
  }

  /** Locks a subject against all units that decide about it or store data about it. */
  async lock(tx: Tx, subject: Subject): Promise<void> {
    await lockSubject(tx, subject, 'alone');
    await lockConsent(tx, subject);
  }

  /** Opens a subject again after its erasure has failed. */
  async reopen(tx: Tx, { botId, guildId, userId }: Subject): Promise<void> {
    const subject = [botId, guildId, userId];
    await tx.run(`DELETE FROM consents WHERE ${SUBJECT_WHERE} AND status = 'none'`, ...subject);
    await tx.run(`UPDATE consents SET erasing = 0 WHERE ${SUBJECT_WHERE}`, ...subject);
  }

  private addressed(tx: Tx, botId: string, input: AcceptConsent): Promise<Consent | null> {
    if (input.consent_id != null) return findConsentOfRequest(tx, botId, input.consent_id.toLowerCase());
    const { user_id = '', guild_id = '' } = input;
    return lockConsent(tx, this.digests.named(botId, { user_id, guild_id }));
  }

  /** Whether the request that waits is the one that the caller names; all given parts have to agree. */
  private matches(consent: Consent, request: ConsentAsked, input: AcceptConsent): boolean {
    const { botId, userId, guildId } = consent;
    if (input.consent_version != null && input.consent_version !== request.version) return false;
    // Without an id the consent was found by its user and guild.
    if (input.consent_id == null) return true;
    return (
      input.consent_id.toLowerCase() === request.id &&
      (input.user_id == null || this.digests.user(botId, input.user_id) === userId) &&
      (input.guild_id == null || this.digests.guild(botId, input.guild_id) === guildId)
    );
  }
}

/** @throws ApiError 404 for an undeclared category, or when no `withdrawn` category was granted. */
function reducedTo(
  consent: Consent,
  withdrawn: readonly string[],
  declared: readonly string[],
): Omit<Consent, 'bot'> | undefined {
  if (withdrawn.some((key) => !declared.includes(key))) undeclared();
  const granted = consent.categories ?? Object.fromEntries(declared.map((key) => [key, 'accepted']));
  if (!withdrawn.some((key) => Object.hasOwn(granted, key) && granted[key] === 'accepted')) {
    throw notFound('Consent to these categories', { current_status: consent.status });
  }
  return withoutCategories(consent, withdrawn, declared);
}
