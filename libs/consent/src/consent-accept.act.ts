import { Injectable } from '@nestjs/common';
import { tryLockBots } from '@app/bots';
import { CategoriesService, categoryName, tryHoldCategories, undeclared } from '@app/categories';
import { SubjectKeys } from '@app/crypto';
import type { SharedAct, Tx } from '@app/database';
import { type Claim, claimedBefore, EncryptedForms, type Form, keepAll } from '@app/idempotency';
import { ApiError, Clock, notFound } from '@app/kernel';
import { type Subject, subjectName } from '@app/subjects';
import { accepted, grantsAlready, pendingRequest } from './consent-changes';
import { factsInForce, receiptFacts } from './consent-receipt.facts';
import { type Accepted, acceptedForm } from './consent-repeats';
import { type Change, ConsentTransitions, type Decided } from './consent-transitions';
import type { AcceptConsent } from './consent.dto';
import type { Consent } from './consent.entity';
import { findSubjectsOfRequests } from './consent.sql';
import { consentView } from './consent.views';
import { tryLockConsents } from './consents-erasing.sql';
import { NamedRequests } from './named-requests';

/** The acceptance of a request that waits. */
export interface Acceptance {
  readonly botId: string;
  readonly input: AcceptConsent;
  readonly claim: Claim;
  /** The page on which the user has acted; undefined for a call of the bot. */
  readonly via?: string | undefined;
}

/**
 * Grants the requests that wait. On PostgreSQL acceptances that wait together share a unit; one that is refused, repeats a
 * key, meets a lock or another one of its subject is granted alone.
 */
@Injectable()
export class ConsentAcceptAct implements SharedAct<Acceptance, Accepted> {
  readonly fewest = 2;
  private readonly form: Form<Accepted>;

  constructor(
    private readonly categories: CategoriesService,
    private readonly transitions: ConsentTransitions,
    private readonly requests: NamedRequests,
    private readonly keys: SubjectKeys,
    private readonly clock: Clock,
    forms: EncryptedForms,
  ) {
    this.form = acceptedForm(forms);
  }

  /** @throws ApiError 404 without a request for this version, 400 for a category that it did not name. */
  alone(tx: Tx, { botId, input, claim, via }: Acceptance): Promise<Accepted> {
    const accept = async (): Promise<Accepted> => {
      const held = await this.categories.hold(tx, botId, input.categories ?? []);
      const consent = await this.requests.lock(tx, botId, input);
      const repeated = await this.repeated(tx, consent, input);
      if (repeated !== undefined) return repeated;
      const change = this.granted(consent, { input, via }, (key) => held.includes(key));
      return answer(tx, change, this.transitions.give(tx, [change]), 0);
    };
    return claim.once(this.form, accept)(tx);
  }

  async together(tx: Tx, given: readonly Acceptance[]): Promise<(Accepted | undefined)[]> {
    const subjects = await this.addressed(tx, given);
    const known = given.flatMap((acceptance, at) => {
      const subject = subjects[at];
      return subject === undefined ? [] : [{ acceptance, subject }];
    });
    const [bots, held, consents, claimed] = await Promise.all([
      tryLockBots(tx, [...new Set(given.map(({ botId }) => botId))]),
      tryHoldCategories(
        tx,
        given.flatMap(({ botId, input }) => (input.categories ?? []).map((key) => ({ botId, key }))),
      ),
      tryLockConsents(
        tx,
        known.map(({ subject }) => subject),
      ),
      claimedBefore(
        tx,
        known.map(({ acceptance }) => acceptance.claim),
      ),
      this.keys.prefetch(
        tx,
        known.map(({ subject }) => subject),
      ),
    ]);
    const taken = new Map<string, { readonly acceptance: Acceptance; readonly change: Change }>();
    known.forEach(({ acceptance, subject }, at) => {
      const [consent, name, { botId }] = [consents[at], subjectName(subject), acceptance];
      if (consent == null || !bots.has(botId) || claimed[at] === true) return;
      const change = ifAllowed(() =>
        this.granted(consent, acceptance, (key) => held.has(categoryName({ botId, key }))),
      );
      if (change !== undefined) taken.set(name, { acceptance, change });
    });
    if (taken.size === 0) return given.map(() => undefined);
    const all = [...taken.values()];
    const recorded = this.transitions.give(
      tx,
      all.map(({ change }) => change),
    );
    const outcomes = new Map(
      await Promise.all(
        all.map(
          async ({ acceptance, change }, at) => [acceptance, await answer(tx, change, recorded, at)] as const,
        ),
      ),
    );
    await keepAll(
      tx,
      [...outcomes].map(([{ claim }, outcome]) => ({ claim, form: this.form, outcome })),
    );
    return given.map((acceptance) => outcomes.get(acceptance));
  }

  /** What an acceptance makes of a consent. @throws ApiError 404 or 400 */
  private granted(
    consent: Consent | null,
    { input, via }: Pick<Acceptance, 'input' | 'via'>,
    isHeld: (category: string) => boolean,
  ): Change {
    const request = consent === null ? undefined : pendingRequest(consent);
    if (consent === null || request === undefined || !this.requests.matches(consent, request, input))
      throw notFound('Consent request', { current_status: consent?.status ?? 'none' });
    if (input.categories?.some((key) => !isHeld(key))) undeclared();
    const after = accepted(consent, request, input.categories ?? null, this.clock.nowIso(request.at));
    const { categories } = after;
    const granted = categories && Object.keys(categories).filter((key) => categories[key] === 'accepted');
    return { consent: after, act: { ...request, categories: granted, source: input.source, via } };
  }

  /** What an acceptance answers that names the consent in force by its id and would change nothing. */
  private async repeated(
    tx: Tx,
    consent: Consent | null,
    input: AcceptConsent,
  ): Promise<Accepted | undefined> {
    if (consent === null || input.consent_id == null || !this.requests.matches(consent, consent, input))
      return undefined;
    if (!grantsAlready(consent, input.categories ?? null)) return undefined;
    const subject = await this.requests.named(tx, consent, input);
    return { consent: consentView(consent, subject.ids), facts: await factsInForce(tx, subject) };
  }

  /** The subjects whose consents the acceptances address, not locked; undefined for an unknown request. */
  private async addressed(tx: Tx, given: readonly Acceptance[]): Promise<(Subject | undefined)[]> {
    const ids = given.map(({ botId, input }) => ({ botId, id: input.consent_id?.toLowerCase() ?? null }));
    const found = ids.some(({ id }) => id !== null) ? await findSubjectsOfRequests(tx, ids) : [];
    return given.map(({ botId, input }, at) =>
      input.consent_id == null ? this.requests.subject(botId, input) : found[at],
    );
  }
}

/** The outcome of the change at a place of those that are being recorded. */
async function answer(
  tx: Tx,
  { consent }: Change,
  recorded: Promise<readonly Decided[]>,
  at: number,
): Promise<Accepted> {
  const decided = recorded.then((all) => all[at]);
  const facts = await receiptFacts(tx, consent, decided);
  return { consent: consentView(consent, facts.ids), facts };
}

/** What `work` answers; undefined where it refuses. */
function ifAllowed<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
