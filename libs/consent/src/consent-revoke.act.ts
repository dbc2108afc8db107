import { Injectable } from '@nestjs/common';
import { CategoriesService, undeclared } from '@app/categories';
import { SubjectKeys } from '@app/crypto';
import type { SharedAct, Tx } from '@app/database';
import { type Claim, claimedBefore, EncryptedForms, keepAll } from '@app/idempotency';
import { Clock, notFound } from '@app/kernel';
import { type NamedSubject, subjectName } from '@app/subjects';
import { revoked, withoutCategories } from './consent-changes';
import { ConsentTransitions, type Withdrawal } from './consent-transitions';
import type { ConsentView, RevokeConsent } from './consent.dto';
import type { Consent } from './consent.entity';
import { lockConsent } from './consent.sql';
import { consentView } from './consent.views';
import { tryHoldConsents } from './consents-erasing.sql';

/** The withdrawal of an accepted consent, or of some of its categories. */
export interface Revocation {
  readonly subject: NamedSubject;
  readonly input: RevokeConsent;
  readonly claim: Claim;
  /** The page on which the user has acted; undefined for a call of the bot. */
  readonly via?: string | undefined;
}

/**
 * Withdraws accepted consents. On PostgreSQL complete withdrawals that wait together share a unit; one that is refused,
 * repeats a key, meets a lock or another one of its subject, or names categories is carried out alone.
 */
@Injectable()
export class ConsentRevokeAct implements SharedAct<Revocation, ConsentView> {
  readonly fewest = 2;

  constructor(
    private readonly categories: CategoriesService,
    private readonly transitions: ConsentTransitions,
    private readonly keys: SubjectKeys,
    private readonly forms: EncryptedForms,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError 404 without an accepted consent, or for a category that it does not grant. */
  alone(tx: Tx, revocation: Revocation): Promise<ConsentView> {
    const { subject, input, claim } = revocation;
    const revoke = async (): Promise<ConsentView> => {
      // A partly withdrawn consent to everything becomes one to each of the other categories.
      const declared = input.categories == null ? [] : await this.categories.holdAll(tx, subject.botId);
      const consent = await lockConsent(tx, subject);
      if (consent?.status !== 'accepted')
        throw notFound('Consent', { current_status: consent?.status ?? 'none' });
      const change = this.withdrawn(consent, revocation, declared);
      const [announced] = await this.transitions.withdraw(tx, [change]);
      return consentView(change.consent, subject.ids, announced);
    };
    return claim.once(this.forms.ofSubject<ConsentView>(subject), revoke)(tx);
  }

  async together(tx: Tx, given: readonly Revocation[]): Promise<(ConsentView | undefined)[]> {
    const subjects = given.map(({ subject }) => subject);
    const claims = given.map(({ claim }) => claim);
    const [consents, claimed] = await Promise.all([
      tryHoldConsents(tx, subjects),
      claimedBefore(tx, claims),
      this.keys.prefetch(tx, subjects),
    ]);
    const taken = new Map<string, { readonly revocation: Revocation; readonly change: Withdrawal }>();
    for (const [at, revocation] of given.entries()) {
      const [consent, { subject, input }] = [consents[at], revocation];
      const isAlone = input.categories != null || claimed[at] === true;
      if (isAlone || consent?.status !== 'accepted') continue;
      taken.set(subjectName(subject), { revocation, change: this.withdrawn(consent, revocation, []) });
    }
    const all = [...taken.values()];
    if (all.length === 0) return given.map(() => undefined);
    const announced = await this.transitions.withdraw(
      tx,
      all.map(({ change }) => change),
    );
    const outcomes = new Map(
      all.map(({ revocation, change }, at) => [
        revocation,
        consentView(change.consent, revocation.subject.ids, announced[at]),
      ]),
    );
    await keepAll(
      tx,
      [...outcomes].map(([{ claim, subject }, outcome]) => ({
        claim,
        form: this.forms.ofSubject<ConsentView>(subject),
        outcome,
      })),
    );
    return given.map((revocation) => outcomes.get(revocation));
  }

  /** What a withdrawal makes of an accepted consent. @throws ApiError 404 */
  private withdrawn(consent: Consent, { input, via }: Revocation, declared: readonly string[]): Withdrawal {
    const { id, version } = consent;
    const { categories, source } = input;
    const at = this.clock.nowIso(consent.acceptedAt ?? '');
    const reduced = categories == null ? undefined : reducedTo(consent, categories, declared);
    const act = { id, version, categories: reduced === undefined ? null : (categories ?? null), source, via };
    return { consent: reduced ?? revoked(consent, at), act, at };
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
