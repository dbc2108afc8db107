import { Injectable } from '@nestjs/common';
import { tryLockBots } from '@app/bots';
import { categoryName, type HeldCategories, holdCategories, undeclared } from '@app/categories';
import { type NamedSubject, SubjectDigests, SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import type { Acting, Actor } from '@app/http';
import type { Act } from '@app/acts';
import { ApiError, Random } from '@app/kernel';
import { askedAlready, type ConsentAsked, requested, requireAskable } from './consent-changes';
import { type Asking, ConsentTextsService } from './consent-texts.service';
import { ConsentWriter, type NewRequest } from './consent-writer';
import { textsShown } from './consent-words';
import type { ConsentRequestedView, RequestConsent } from './consent.dto';
import type { Consent } from './consent.entity';
import { holdSubjectsAndConsents } from './consent.sql';

/** A request for a consent. */
interface ConsentRequest {
  readonly subject: NamedSubject;
  readonly input: RequestConsent;
  /** Each category once; null for all. */
  readonly keys: readonly string[] | null;
  /** The id of the request, if it is new. */
  readonly id: string;
  readonly by: Actor;
  /** What refuses the request once its subject is locked. One that has it is done alone. */
  readonly onceHeld?: (tx: Tx) => Promise<void>;
}

interface State {
  readonly subject: NamedSubject;
  readonly before: Consent | null;
  /** What the request asks for, or why that is refused. */
  readonly asking: Asking | ApiError;
  /** The names of the declared categories among those of the request. */
  readonly held: HeldCategories;
}

/** A request, new or one that repeats what the consent asks for or grants already. */
interface Change {
  readonly subject: NamedSubject;
  readonly keys: readonly string[] | null;
  readonly asking: Asking;
  readonly status: 'pending' | 'accepted';
  readonly request: ConsentAsked;
  readonly source: string | null | undefined;
  readonly by: Actor;
  /** The consent with a new request; undefined for a repeat. */
  readonly consent: Consent | undefined;
  readonly isFirst: boolean;
}

/** A request, and the digest of the texts that it shows; undefined for a request without categories. */
interface Requested {
  readonly view: ConsentRequestedView;
  readonly digest: string | undefined;
}

/** Asks users for their consent. A repeat changes nothing but the texts that its history shows. */
@Injectable()
export class ConsentRequestAct implements Act<ConsentRequest, State, Change, Requested> {
  constructor(
    private readonly texts: ConsentTextsService,
    private readonly writer: ConsentWriter,
    private readonly keys: SubjectKeys,
    private readonly digests: SubjectDigests,
    private readonly random: Random,
  ) {}

  of({ botId, actor: by }: Acting, input: RequestConsent): ConsentRequest {
    const keys = input.categories == null ? null : [...new Set(input.categories)];
    return { subject: this.digests.named(botId, input), input, keys, id: this.random.uuid(), by };
  }

  async load(tx: Tx, given: readonly ConsentRequest[]): Promise<(State | undefined)[]> {
    const subjects = given.map(({ subject }) => subject);
    const isAlone = given.length === 1;
    // Sent in this order: contents and keys are read after the locks. A declaration that the user is shown has no change beside it,
    // since a receipt states it unless it was changed after the request.
    const [bots, held, consents, askings] = await Promise.all([
      isAlone ? undefined : tryLockBots(tx, [...new Set(subjects.map(({ botId }) => botId))]),
      holdCategories(
        tx,
        given.flatMap(({ subject: { botId }, keys }) => (keys ?? []).map((key) => ({ botId, key }))),
        isAlone,
        'FOR SHARE',
      ),
      holdSubjectsAndConsents(tx, subjects, isAlone),
      this.askings(tx, given),
      this.keys.prefetch(tx, subjects),
    ]);
    if (isAlone) await given[0]?.onceHeld?.(tx);
    return given.map(({ subject, onceHeld }, at) => {
      const [before, asking] = [consents[at], askings[at]];
      const isHeld = bots?.has(subject.botId) !== false && (isAlone || onceHeld === undefined);
      if (before === undefined || asking === undefined || !isHeld) return undefined;
      return { subject, before, asking, held };
    });
  }

  /** @throws ApiError 404 for an unknown category, 400 for one that needs no consent and for a language without a text */
  decide(
    { before, asking, held }: State,
    { subject, input, keys, id, by }: ConsentRequest,
    now: string,
  ): Change {
    if (keys?.some((key) => !held.has(categoryName({ botId: subject.botId, key })))) undeclared();
    requireAskable(keys ?? [], (key) => held.get(categoryName({ botId: subject.botId, key })));
    if (asking instanceof ApiError) throw asking;
    const asked = { id, version: asking.version, categories: keys, at: now };
    const repeated = before === null ? undefined : askedAlready(before, asked);
    return {
      subject,
      keys,
      asking,
      status: repeated?.status ?? 'pending',
      request: repeated ?? asked,
      source: input.source,
      by,
      consent: repeated === undefined ? requested(subject, before, asked) : undefined,
      isFirst: before === null,
    };
  }

  async store(tx: Tx, changes: readonly Change[]): Promise<Requested[]> {
    await this.texts.keep(tx, changes);
    const fresh: NewRequest[] = [];
    for (const { subject, status, request, source, by, asking, consent, isFirst } of changes) {
      const act = { ...request, source, by };
      if (consent !== undefined) fresh.push({ subject, consent, act, shown: asking.shown, isFirst });
      else if (status === 'pending') await this.writer.askAgain(tx, subject, act, asking.shown);
    }
    if (fresh.length > 0) await this.writer.ask(tx, fresh);
    return changes.map(requestedOf);
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

function requestedOf({ keys, asking: { texts, shown }, status, request }: Change): Requested {
  const { id, version, at: requested_at } = request;
  const view = { id, status, version, requested_at };
  if (keys === null || texts === null) return { view, digest: undefined };
  return { view: { ...view, consent_id: id, categories: keys, texts }, digest: shown.texts[0]?.digest };
}

function refusalOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}
