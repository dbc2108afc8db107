import { Injectable } from '@nestjs/common';
import { tryLockBots } from '@app/bots';
import { categoryName, type HeldCategories, holdCategories, undeclared } from '@app/categories';
import { ConsentedDataHolders, SubjectDigests } from '@app/crypto';
import type { Tx } from '@app/database';
import type { Actor } from '@app/http';
import type { Act } from '@app/acts';
import {
  accepted,
  grantedKeys,
  grantsAlready,
  leavesData,
  notBefore,
  requireAskable,
  sameSet,
} from './consent-changes';
import { factsInForce, receiptFacts, type ReceiptFacts } from './receipt-facts';
import { type Change, ConsentWriter } from './consent-writer';
import type { AcceptConsent, ConsentView } from './consent.dto';
import type { Consent } from './consent.entity';
import { consentView } from './consent.views';
import { type Addressed, isNamed, NamedRequests, subjectIn, waitingRequest } from './named-requests';

/** The acceptance of a request that waits. */
interface Acceptance {
  readonly botId: string;
  readonly input: AcceptConsent;
  readonly by: Actor;
}

interface State extends Addressed {
  /** The names of the declared categories among those of the acceptance. */
  readonly held: HeldCategories;
}

/** A consent that is new, and whether it can leave data of an earlier one, which is erased. */
interface Given extends Change {
  readonly leavesData: boolean;
}

/** A new consent, or the one in force that the acceptance names again. */
type Accepting = Given | { readonly inForce: Consent; readonly input: AcceptConsent };

/** A consent and the facts for its receipt, which a repeat has while the consent is in force unchanged. */
interface Accepted {
  readonly consent: ConsentView;
  readonly facts: ReceiptFacts | undefined;
}

/** Grants the requests that wait. */
@Injectable()
export class ConsentAcceptAct implements Act<Acceptance, State, Accepting, Accepted> {
  constructor(
    private readonly writer: ConsentWriter,
    private readonly requests: NamedRequests,
    private readonly digests: SubjectDigests,
    private readonly holders: ConsentedDataHolders,
  ) {}

  async load(tx: Tx, given: readonly Acceptance[]): Promise<(State | undefined)[]> {
    const isAlone = given.length === 1;
    const [bots, held, addressed] = await Promise.all([
      isAlone ? undefined : tryLockBots(tx, [...new Set(given.map(({ botId }) => botId))]),
      holdCategories(
        tx,
        given.flatMap(({ botId, input }) => (input.categories ?? []).map((key) => ({ botId, key }))),
        isAlone,
      ),
      this.requests.hold(tx, given),
    ]);
    return addressed.map((each, at) =>
      bots?.has(given[at]?.botId ?? '') === false ? undefined : { ...each, held },
    );
  }

  /** @throws ApiError 404 without a request for this version, 400 for a category that it did not name */
  decide(state: State, { botId, input, by }: Acceptance, now: string): Accepting {
    const { consent: before, held } = state;
    const named = input.categories ?? null;
    const repeats = before !== null && input.consent_id != null && isNamed(before, state, input);
    if (repeats && grantsAlready(before, named)) return { inForce: before, input };
    const { consent, request } = waitingRequest(state, input);
    if (named?.some((key) => !held.has(categoryName({ botId, key })))) undeclared();
    if (request.categories === null)
      requireAskable(named ?? [], (key) => held.get(categoryName({ botId, key })));
    const after = accepted(consent, request, named, notBefore(now, request.at));
    const categories = grantedKeys(after.categories);
    const subject = subjectIn(after, input);
    const act = { ...request, categories, source: input.source, by };
    const earlier = before?.status === 'accepted' ? before : before?.beforeRequest;
    return { subject, consent: after, act, leavesData: earlier != null && leavesData(after) };
  }

  async store(tx: Tx, changes: readonly Accepting[]): Promise<Accepted[]> {
    const given = changes.filter((change) => 'act' in change);
    const recorded = given.length === 0 ? Promise.resolve([]) : this.writer.give(tx, given);
    const leaving = given.filter((one) => one.leavesData).map(({ subject }) => subject);
    const erased = leaving.length === 0 ? [] : recorded.then(() => this.holders.erasureTimes(tx, leaving));
    return Promise.all(
      changes.map(async (change) => {
        if ('inForce' in change) return this.again(tx, change.inForce, change.input);
        const decided = recorded.then((all) => all[given.indexOf(change)]);
        const [facts, times] = await Promise.all([receiptFacts(tx, change.consent, decided), erased]);
        const announced = times[leaving.indexOf(change.subject)];
        return { consent: consentView(change.consent, facts.ids, announced), facts };
      }),
    );
  }

  kept({ consent }: Accepted): ConsentView {
    return consent;
  }

  async recall(tx: Tx, consent: ConsentView, { botId }: Acceptance): Promise<Accepted> {
    const facts = await factsInForce(tx, this.digests.named(botId, consent));
    return { consent, facts: facts && isOf(facts.consent, consent) ? facts : undefined };
  }

  private async again(tx: Tx, consent: Consent, input: AcceptConsent): Promise<Accepted> {
    const subject = await this.requests.named(tx, consent, input);
    const [times] = leavesData(consent) ? await this.holders.erasureTimes(tx, [subject]) : [];
    return { consent: consentView(consent, subject.ids, times), facts: await factsInForce(tx, subject) };
  }
}

/** Whether an answered acceptance is of the consent as it is in force, of which no part was withdrawn since. */
function isOf({ id, acceptedAt, categories }: Consent, answered: ConsentView): boolean {
  const granted = answered.categories?.filter(({ status }) => status === 'accepted').map(({ key }) => key);
  const isUnchanged = sameSet(grantedKeys(categories), granted ?? null);
  return id === answered.id && acceptedAt === answered.accepted_at && isUnchanged;
}
