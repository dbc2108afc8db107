import { Injectable } from '@nestjs/common';
import { CategoriesService, type HeldKeys, undeclared } from '@app/categories';
import { type NamedSubject, SubjectDigests, SubjectKeys } from '@app/crypto';
import { ConcurrentChange, type Tx } from '@app/database';
import type { Acting, Actor } from '@app/http';
import type { Act } from '@app/acts';
import { notFound } from '@app/kernel';
import { isGranted, notBefore, requireAskable, revoked, withoutCategories } from './consent-changes';
import { ConsentWriter, type Withdrawal } from './consent-writer';
import type { ConsentView, RevokeConsent } from './consent.dto';
import type { Consent } from './consent.entity';
import { holdConsents } from './consent.sql';
import { consentView } from './consent.views';

/** The withdrawal of an accepted consent, or of some of its categories. */
interface Revocation {
  readonly subject: NamedSubject;
  readonly input: RevokeConsent;
  readonly by: Actor;
}

interface State {
  readonly subject: NamedSubject;
  readonly consent: Consent | null;
  /** The categories of the bot, for a withdrawal of some. */
  readonly declared: HeldKeys;
}

/** Withdraws accepted consents, or some of their categories. After the commit nothing is stored under them. */
@Injectable()
export class ConsentRevokeAct implements Act<Revocation, State, Withdrawal, ConsentView> {
  constructor(
    private readonly categories: CategoriesService,
    private readonly writer: ConsentWriter,
    private readonly keys: SubjectKeys,
    private readonly digests: SubjectDigests,
  ) {}

  of({ botId, actor: by }: Acting, input: RevokeConsent): Revocation {
    return { subject: this.digests.named(botId, input), input, by };
  }

  async load(tx: Tx, given: readonly Revocation[]): Promise<(State | undefined)[]> {
    const subjects = given.map(({ subject }) => subject);
    const isAlone = given.length === 1;
    // A partly withdrawn consent to everything becomes one to each of the other categories.
    const names = isAlone && given[0]?.input.categories != null;
    const botId = given[0]?.subject.botId ?? '';
    const [declared, consents] = await Promise.all([
      names ? this.categories.keysOf(tx, botId, 'FOR KEY SHARE') : new Map(),
      holdConsents(tx, subjects, isAlone),
      this.keys.prefetch(tx, subjects),
    ]);
    // One that was registered while the consent was waited for can have values under it, which what is left has to cover.
    const isOfAll = names && consents[0]?.status === 'accepted' && consents[0].categories === null;
    if (isOfAll && (await this.categories.keysOf(tx, botId, '')).size !== declared.size)
      throw new ConcurrentChange();
    return given.map(({ subject, input }, at) =>
      isAlone || input.categories == null ? { subject, consent: consents[at] ?? null, declared } : undefined,
    );
  }

  /** @throws ApiError 404 without an accepted consent, or for a category that it does not grant; 400 for one that needs none and that it does not name */
  decide({ consent, declared }: State, { subject, input, by }: Revocation, now: string): Withdrawal {
    if (consent?.status !== 'accepted')
      throw notFound('Consent', { current_status: consent?.status ?? 'none' });
    const named = input.categories ?? null;
    if (named?.some((key) => !declared.has(key))) undeclared();
    // What a consent names can be withdrawn, also where none is needed any more.
    const isNamed = (key: string): boolean => consent.categories !== null && isGranted(consent, key);
    requireAskable(named ?? [], (key) => isNamed(key) || declared.get(key)?.requires);
    if (named !== null && !named.some((key) => isGranted(consent, key)))
      throw notFound('Consent to these categories', { current_status: consent.status });
    const { id, version, acceptedAt } = consent;
    const at = notBefore(now, acceptedAt);
    const reduced = named === null ? undefined : withoutCategories(consent, named, askable(declared));
    // What is recorded is what the user has withdrawn.
    const withdrawn = [...new Set(named)].filter((key) => isGranted(consent, key));
    const categories = reduced === undefined ? null : withdrawn;
    const act = { id, version, categories, source: input.source, by };
    return { subject, consent: reduced ?? revoked(consent, at), act, at };
  }

  async store(tx: Tx, changes: readonly Withdrawal[]): Promise<ConsentView[]> {
    const announced = await this.writer.withdraw(tx, changes);
    return changes.map(({ subject, consent }, at) => consentView(consent, subject.ids, announced[at]));
  }
}

/** The categories that need a consent, and that one may come to name. */
function askable(declared: HeldKeys): string[] {
  return [...declared].flatMap(([key, { requires, isEnding }]) => (requires && !isEnding ? [key] : []));
}
