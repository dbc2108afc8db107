import { Injectable } from '@nestjs/common';
import { tryLockBots } from '@app/bots';
import { categoryName, holdCategories, undeclared } from '@app/categories';
import { SubjectDigests, SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import type { Act } from '@app/idempotency';
import { ApiError, Random } from '@app/kernel';
import type { NamedSubject } from '@app/subjects';
import { askedAlready, type ConsentAsked, pendingRequest, requested } from './consent-changes';
import { type Asking, ConsentTextsService } from './consent-texts.service';
import { ConsentTransitions, type NewRequest } from './consent-transitions';
import { textsShown } from './consent-words';
import type { ConsentRequestedView, RequestConsent } from './consent.dto';
import type { Consent } from './consent.entity';
import { requestedView } from './consent.views';
import { holdSubjectsAndConsents } from './consents-erasing.sql';

/** A request for a consent. */
export interface ConsentRequest {
  readonly subject: NamedSubject;
  readonly input: RequestConsent;
  /** Each category once; null for all. */
  readonly keys: readonly string[] | null;
  /** The id of the request, if it is new. */
  readonly id: string;
}

interface State {
  readonly subject: NamedSubject;
  readonly before: Consent | null;
  /** What the request asks for, or why that is refused. */
  readonly asking: Asking | ApiError;
  /** The names of the declared categories among those of the request. */
  readonly held: ReadonlySet<string>;
}

/** A new request, or one that repeats what the consent asks for or grants already. */
type Change = { readonly asking: Asking; readonly keys: readonly string[] | null } & (
  | { readonly fresh: NewRequest }
  | {
      readonly same: Consent;
      readonly state: 'pending' | 'accepted';
      readonly source: string | null | undefined;
    }
);

/** A request, and the digest of the texts that it shows; undefined for a request without categories. */
export interface Requested {
  readonly view: ConsentRequestedView;
  readonly digest: string | undefined;
}

/** Asks users for their consent. A repeat changes nothing but the texts that its history shows. */
@Injectable()
export class ConsentRequestAct implements Act<ConsentRequest, State, Change, Requested> {
  constructor(
    private readonly texts: ConsentTextsService,
    private readonly transitions: ConsentTransitions,
    private readonly keys: SubjectKeys,
    private readonly digests: SubjectDigests,
    private readonly random: Random,
  ) {}

  of(botId: string, input: RequestConsent): ConsentRequest {
    const keys = input.categories == null ? null : [...new Set(input.categories)];
    return { subject: this.digests.named(botId, input), input, keys, id: this.random.uuid() };
  }

  async load(tx: Tx, given: readonly ConsentRequest[]): Promise<(State | undefined)[]> {
    const subjects = given.map(({ subject }) => subject);
    const isAlone = given.length === 1;
    // Sent in this order: contents and keys are read behind the locks.
    const [bots, held, consents, askings] = await Promise.all([
      isAlone ? undefined : tryLockBots(tx, [...new Set(subjects.map(({ botId }) => botId))]),
      holdCategories(
        tx,
        given.flatMap(({ subject: { botId }, keys }) => (keys ?? []).map((key) => ({ botId, key }))),
        isAlone,
      ),
      holdSubjectsAndConsents(tx, subjects, isAlone),
      this.askings(tx, given),
      this.keys.prefetch(tx, subjects),
    ]);
    return subjects.map((subject, at) => {
      const [before, asking] = [consents[at], askings[at]];
      if (before === undefined || asking === undefined || bots?.has(subject.botId) === false)
        return undefined;
      return { subject, before, asking, held };
    });
  }

  /** @throws ApiError 404 for an unknown category, 400 for a language without a text */
  decide({ before, asking, held }: State, { subject, input, keys, id }: ConsentRequest, now: string): Change {
    if (keys?.some((key) => !held.has(categoryName({ botId: subject.botId, key })))) undeclared();
    if (asking instanceof ApiError) throw asking;
    const { version, shown } = asking;
    const { source } = input;
    const state = before === null ? undefined : askedAlready(before, { version, categories: keys });
    if (before !== null && state !== undefined) return { asking, keys, same: before, state, source };
    const asked: ConsentAsked = { id, version, categories: keys, at: now };
    const consent = requested(subject, before, asked);
    return {
      asking,
      keys,
      fresh: { subject, consent, act: { ...asked, source }, shown, isFirst: before === null },
    };
  }

  async store(tx: Tx, changes: readonly Change[]): Promise<Requested[]> {
    await this.texts.keep(
      tx,
      changes.map((change) => ({
        botId: 'same' in change ? change.same.botId : change.fresh.subject.botId,
        asking: change.asking,
      })),
    );
    for (const change of changes) {
      if (!('same' in change) || change.state !== 'pending') continue;
      const waiting = pendingRequest(change.same);
      if (waiting !== undefined)
        await this.transitions.askAgain(
          tx,
          change.same,
          { ...waiting, source: change.source },
          change.asking.shown,
        );
    }
    const fresh = changes.flatMap((change) => ('fresh' in change ? [change.fresh] : []));
    if (fresh.length > 0) await this.transitions.ask(tx, fresh);
    return changes.map((change) => {
      const { keys, asking } = change;
      const [consent, state] =
        'same' in change ? [change.same, change.state] : [change.fresh.consent, 'pending' as const];
      const digest = asking.texts === null ? undefined : asking.shown.texts[0]?.digest;
      return { view: requestedView(consent, state, keys, asking.texts), digest };
    });
  }

  /** Without the texts, which can be long. */
  kept({ view, digest }: Requested): object {
    return { view: { ...view, texts: undefined }, digest };
  }

  async recall(tx: Tx, { view, digest }: Requested, { subject }: ConsentRequest): Promise<Requested> {
    if (digest === undefined) return { view, digest };
    return { view: { ...view, texts: await textsShown(tx, subject.botId, digest) }, digest };
  }

  /** What each request asks for, each content read once. */
  private askings(tx: Tx, given: readonly ConsentRequest[]): Promise<(Asking | ApiError)[]> {
    const read = new Map<string, Promise<Asking | ApiError>>();
    return Promise.all(
      given.map(({ subject: { botId }, input, keys }) => {
        const name = JSON.stringify([botId, input.consent_version, input.language, keys]);
        const asking = read.get(name) ?? this.texts.asking(tx, botId, input, keys).catch(refusalOf);
        read.set(name, asking);
        return asking;
      }),
    );
  }
}

function refusalOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}
