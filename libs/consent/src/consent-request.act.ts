import { Injectable } from '@nestjs/common';
import { tryLockBots } from '@app/bots';
import { CategoriesService, categoryName, tryHoldCategories, undeclared } from '@app/categories';
import { SubjectKeys } from '@app/crypto';
import type { SharedAct, Tx } from '@app/database';
import { type Claim, claimedBefore, EncryptedForms, type Form, keepAll } from '@app/idempotency';
import { ApiError, Clock, Random } from '@app/kernel';
import { type NamedSubject, subjectName } from '@app/subjects';
import { askedAlready, type ConsentAsked, pendingRequest, requested } from './consent-changes';
import { type Requested, requestedForm } from './consent-repeats';
import { type Asking, ConsentTextsService } from './consent-texts.service';
import { ConsentTransitions, type NewRequest } from './consent-transitions';
import type { RequestConsent } from './consent.dto';
import type { Consent } from './consent.entity';
import { lockConsentOrItsLack } from './consent.sql';
import { requestedView } from './consent.views';
import { tryLockSubjectsAndConsents } from './consents-erasing.sql';

/** A request for a consent. */
export interface ConsentRequest {
  readonly subject: NamedSubject;
  readonly input: RequestConsent;
  /** Each category once; null for all. */
  readonly keys: readonly string[] | null;
  readonly claim: Claim;
}

/** A request whose subject the unit has locked, and what it has read for it. */
interface Locked {
  readonly request: ConsentRequest;
  readonly before: Consent | null;
  readonly asking: Asking;
}

/**
 * Asks users for their consent. On PostgreSQL those that wait together share a unit; one that is refused, repeats a key,
 * meets a lock or another one of its subject is asked alone.
 */
@Injectable()
export class ConsentRequestAct implements SharedAct<ConsentRequest, Requested> {
  readonly fewest = 2;

  constructor(
    private readonly categories: CategoriesService,
    private readonly texts: ConsentTextsService,
    private readonly transitions: ConsentTransitions,
    private readonly subjectKeys: SubjectKeys,
    private readonly forms: EncryptedForms,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** @throws ApiError 404 for an unknown category, 400 for a language without a text. */
  alone(tx: Tx, request: ConsentRequest): Promise<Requested> {
    const { subject, keys, claim } = request;
    const ask = async (): Promise<Requested> => {
      const held = await this.categories.hold(tx, subject.botId, keys ?? []);
      if (keys?.some((key) => !held.includes(key))) undeclared();
      const [before, asking] = await Promise.all([
        lockConsentOrItsLack(tx, subject),
        this.asking(tx, request),
      ]);
      await this.texts.keep(tx, subject.botId, [asking]);
      return this.record(tx, { request, before, asking }, (one) => this.transitions.ask(tx, [one]));
    };
    return claim.once(this.formOf(request), ask)(tx);
  }

  async together(tx: Tx, given: readonly ConsentRequest[]): Promise<(Requested | undefined)[]> {
    const subjects = given.map(({ subject }) => subject);
    // Sent in this order: contents and keys are read behind the locks.
    const [bots, held, consents, claimed, askings] = await Promise.all([
      tryLockBots(tx, [...new Set(subjects.map(({ botId }) => botId))]),
      tryHoldCategories(
        tx,
        given.flatMap(({ subject: { botId }, keys }) => (keys ?? []).map((key) => ({ botId, key }))),
      ),
      tryLockSubjectsAndConsents(tx, subjects),
      claimedBefore(
        tx,
        given.map(({ claim }) => claim),
      ),
      this.askings(tx, given),
      this.subjectKeys.prefetch(tx, subjects),
    ]);
    const taken = new Map<string, Locked>();
    given.forEach((request, at) => {
      const [before, asking, name] = [consents[at], askings[at], subjectName(request.subject)];
      if (before === undefined || asking === undefined || claimed[at] === true) return;
      const { botId } = request.subject;
      if (!bots.has(botId) || request.keys?.some((key) => !held.has(categoryName({ botId, key })))) return;
      taken.set(name, { request, before, asking });
    });
    await this.keep(tx, [...taken.values()]);
    const fresh: NewRequest[] = [];
    const outcomes = new Map<ConsentRequest, Requested>();
    for (const locked of taken.values())
      outcomes.set(locked.request, await this.record(tx, locked, (one) => void fresh.push(one)));
    if (fresh.length > 0) await this.transitions.ask(tx, fresh);
    await keepAll(
      tx,
      [...outcomes].map(([request, outcome]) => ({
        claim: request.claim,
        form: this.formOf(request),
        outcome,
      })),
    );
    return given.map((request) => outcomes.get(request));
  }

  /** Records a request: a new one by `ask`. A repeat changes nothing but the texts that its history shows. */
  private async record(
    tx: Tx,
    { request, before, asking }: Locked,
    ask: (one: NewRequest) => Promise<void> | void,
  ): Promise<Requested> {
    const { subject, keys, input } = request;
    const { version, shown, texts } = asking;
    const { source } = input;
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
    const consent = requested(subject, before, asked);
    await ask({ subject, consent, act: { ...asked, source }, shown, isFirst: before === null });
    return { view: requestedView(consent, 'pending', keys, texts), asking };
  }

  /** Keeps the texts of the requests, bot by bot in the same order everywhere. */
  private async keep(tx: Tx, taken: readonly Locked[]): Promise<void> {
    const askings = new Map<string, Asking[]>();
    for (const { request, asking } of taken) {
      const { botId } = request.subject;
      askings.set(botId, [...(askings.get(botId) ?? []), asking]);
    }
    for (const [botId, ofBot] of [...askings].sort(([one], [other]) => (one < other ? -1 : 1)))
      await this.texts.keep(tx, botId, ofBot);
  }

  /** What each request asks for, each content read once; undefined for one that is refused. */
  private askings(tx: Tx, given: readonly ConsentRequest[]): Promise<(Asking | undefined)[]> {
    const read = new Map<string, Promise<Asking | undefined>>();
    return Promise.all(
      given.map((request) => {
        const { subject, keys, input } = request;
        const name = JSON.stringify([subject.botId, input.consent_version, input.language, keys]);
        const asking = read.get(name) ?? this.asking(tx, request).catch(unlessRefused);
        read.set(name, asking);
        return asking;
      }),
    );
  }

  private asking(tx: Tx, { subject, input, keys }: ConsentRequest): Promise<Asking> {
    return this.texts.asking(tx, subject.botId, input, keys);
  }

  private formOf(request: ConsentRequest): Form<Requested> {
    return requestedForm(this.forms, request.subject, (tx) => this.asking(tx, request));
  }
}

function unlessRefused(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error;
}
