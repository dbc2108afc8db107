import { invalidRequest } from '@app/kernel';
import type { Subject } from '@app/crypto';
import { CONSENT_STATES, type ConsentStatus, isInForce } from './consent-states';
import type { CategoryStates, Consent, RevokedConsent } from './consent.entity';

/** The content of a request; without categories it is about all that the bot declares. */
export interface ConsentAsked {
  readonly id: string;
  readonly version: string;
  readonly categories: readonly string[] | null;
  readonly at: string;
}

const NOTHING_PENDING = {
  pendingId: null,
  pendingVersion: null,
  pendingCategories: null,
  pendingRequestedAt: null,
};

/** The time of an act on a record that an act at `earliest` has changed: it is not before that one. */
export function notBefore(now: string, earliest: string | null): string {
  return earliest !== null && now < earliest ? earliest : now;
}

/** Maps slugs to states. It has no prototype, since `__proto__` and `constructor` are valid slugs. */
function states(entries: Iterable<readonly [string, ConsentStatus]>): CategoryStates {
  const made = Object.create(null) as Record<string, ConsentStatus>;
  for (const [key, state] of entries) made[key] = state;
  return made;
}

function all(keys: readonly string[] | null, state: ConsentStatus): CategoryStates | null {
  return keys === null ? null : states(keys.map((key) => [key, state]));
}

export function sameSet(one: readonly string[] | null, other: readonly string[] | null): boolean {
  if (one === null || other === null) return one === other;
  return one.length === other.length && one.every((key) => other.includes(key));
}

/** @throws ApiError 400 that names each of `keys` whose category needs no consent; `requires` says of a declared one whether it does */
export function requireAskable(
  keys: readonly string[],
  requires: (key: string) => boolean | undefined,
): void {
  const message = 'needs no consent (requires_consent is false): leave it out';
  const faults = keys.flatMap((key, at) =>
    requires(key) === false ? [{ field: `categories[${at}]`, message }] : [],
  );
  if (faults.length > 0) throw invalidRequest(faults);
}

/** The request, waiting or granted, that `asked` would only repeat, with its state; undefined for a new request. */
export function askedAlready(
  consent: Consent,
  asked: Pick<ConsentAsked, 'version' | 'categories'>,
): (ConsentAsked & { readonly status: 'pending' | 'accepted' }) | undefined {
  const waiting = pendingRequest(consent);
  if (waiting?.version === asked.version && sameSet(asked.categories, waiting.categories))
    return { ...waiting, status: 'pending' };
  const { id, version, requestedAt, status } = consent;
  const { categories } = asked;
  return status === 'accepted' &&
    version === asked.version &&
    grantedKeys(consent.categories)?.length !== 0 &&
    (categories ?? []).every((key) => isGranted(consent, key))
    ? { id, version, categories, at: requestedAt, status }
    : undefined;
}

/** Whether the consent covers `category`. A subject that is being erased is refused before, by the gate. */
export function isGranted(
  { status, categories }: Pick<Consent, 'status' | 'categories'>,
  category: string,
): boolean {
  if (!CONSENT_STATES[status].stores) return false;
  return categories === null || (Object.hasOwn(categories, category) && categories[category] === 'accepted');
}

/** The categories that a decision grants; null for everything. */
export function grantedKeys(categories: CategoryStates | null): string[] | null {
  return categories && Object.keys(categories).filter((key) => categories[key] === 'accepted');
}

/** Whether data of an earlier, withdrawn consent can still be stored, also while a new request waits. */
export function leavesData({ status, categories }: Pick<Consent, 'status' | 'categories'>): boolean {
  const { leavesData: left } = CONSENT_STATES[status];
  // A consent to some categories does not show whether others were granted before.
  return left === 'in all' || (left === 'in those it does not name' && categories !== null);
}

/** The consent after a new request. A request does not withdraw: an accepted consent stays in force beside it. */
export function requested(subject: Subject, before: Consent | null, asked: ConsentAsked): Consent {
  if (before !== null && CONSENT_STATES[before.status].onRequest === 'stays') {
    return {
      ...before,
      pendingId: asked.id,
      pendingVersion: asked.version,
      pendingCategories: asked.categories,
      pendingRequestedAt: asked.at,
    };
  }
  const { botId, guildId, userId } = subject;
  // Every field by its name: spread objects cost several microseconds.
  return {
    botId,
    guildId,
    userId,
    id: asked.id,
    status: 'pending',
    version: asked.version,
    categories: all(asked.categories, 'pending'),
    requestedAt: asked.at,
    acceptedAt: null,
    revokedAt: null,
    erasing: before?.erasing ?? 0,
    pendingId: null,
    pendingVersion: null,
    pendingCategories: null,
    pendingRequestedAt: null,
    beforeRequest: before && replaced(before),
  };
}

/** What a new request keeps for its refusal. */
function replaced(before: Consent): RevokedConsent | null {
  if (CONSENT_STATES[before.status].onRequest !== 'replaced, restorable') return before.beforeRequest;
  const { id, version, categories, requestedAt, acceptedAt, revokedAt } = before;
  return { id, version, categories, requestedAt, acceptedAt, revokedAt };
}

/** The consent after its waiting request is declined, which is the one before the request; null for the status `none`. */
export function declined(consent: Consent): Consent | null {
  if (CONSENT_STATES[consent.status].onRequest === 'stays') return { ...consent, ...NOTHING_PENDING };
  const { beforeRequest, erasing } = consent;
  if (beforeRequest !== null) return { ...consent, ...beforeRequest, status: 'revoked', beforeRequest: null };
  // The row closes the subject until its erasure has ended.
  return erasing === 0 ? null : { ...consent, status: 'none', version: '', categories: null };
}

/** The request that waits for an answer, if there is one. */
export function pendingRequest(consent: Consent): ConsentAsked | undefined {
  if (consent.status === 'pending') {
    const { id, version, categories, requestedAt } = consent;
    return { id, version, categories: categories && Object.keys(categories), at: requestedAt };
  }
  const { pendingId, pendingVersion, pendingCategories, pendingRequestedAt } = consent;
  if (pendingId === null || pendingVersion === null || pendingRequestedAt === null) return undefined;
  return { id: pendingId, version: pendingVersion, categories: pendingCategories, at: pendingRequestedAt };
}

/**
 * The consent after its waiting request is granted, for `named` categories or for all that it names.
 * @throws ApiError 400 for a category that the request did not name
 */
export function accepted(
  consent: Consent,
  request: ConsentAsked,
  named: readonly string[] | null,
  at: string,
): Consent {
  const asked = request.categories;
  const unasked = asked === null ? -1 : (named ?? []).findIndex((key) => !asked.includes(key));
  if (unasked >= 0)
    throw invalidRequest([
      { field: `categories[${unasked}]`, message: 'was not part of this consent request' },
    ]);
  const keys = asked ?? named;
  const granted =
    keys && states(keys.map((key) => [key, named === null || named.includes(key) ? 'accepted' : 'none']));
  return {
    ...consent,
    id: request.id,
    status: 'accepted',
    version: request.version,
    categories: granted,
    requestedAt: request.at,
    acceptedAt: at,
    revokedAt: null,
    ...NOTHING_PENDING,
    beforeRequest: null,
  };
}

/** Whether the consent in force grants what its request would grant for `named` categories, or for all that it names. */
export function grantsAlready(consent: Consent, named: readonly string[] | null): boolean {
  if (!isInForce(consent)) return false;
  const { categories } = consent;
  const wanted = named === null ? categories && Object.keys(categories) : [...new Set(named)];
  return sameSet(grantedKeys(categories), wanted);
}

/** The consent after a complete withdrawal, which also cancels a newer request that waits. */
export function revoked(consent: Consent, at: string): Consent {
  const { categories } = consent;
  const withdrawn =
    categories &&
    states(Object.entries(categories).map(([key, state]) => [key, state === 'accepted' ? 'revoked' : state]));
  return { ...consent, status: 'revoked', categories: withdrawn, revokedAt: at, ...NOTHING_PENDING };
}

/**
 * The consent without the `withdrawn` categories; undefined when no granted category would remain, which is a
 * revocation. A consent to everything first becomes one to each of the `declared` categories.
 */
export function withoutCategories(
  consent: Consent,
  withdrawn: readonly string[],
  declared: readonly string[],
): Consent | undefined {
  const before = consent.categories ?? all(declared, 'accepted') ?? {};
  const left = Object.entries(before).map(
    ([key, state]) => [key, state === 'accepted' && withdrawn.includes(key) ? 'revoked' : state] as const,
  );
  return left.some(([, state]) => state === 'accepted')
    ? { ...consent, categories: states(left) }
    : undefined;
}

/**
 * The consent without a deleted `category`: a later declaration with the same slug needs a new consent. A request for nothing else ends,
 * which leaves what {@link declined} leaves.
 */
export function withoutDeclaration(consent: Consent, category: string): Consent | null {
  const { categories, pendingCategories, beforeRequest: before } = consent;
  const others = (decided: CategoryStates | null): CategoryStates | null =>
    decided && states(Object.entries(decided).filter(([key]) => key !== category));
  const left = {
    ...consent,
    categories: others(categories),
    pendingCategories: pendingCategories && pendingCategories.filter((key) => key !== category),
    beforeRequest: before && { ...before, categories: others(before.categories) },
  };
  return pendingRequest(left)?.categories?.length === 0 ? declined(left) : left;
}

/**
 * The states that `status` answers: decisions, and `pending` for categories of a request that waits. undefined for a consent to
 * everything, also beside a newer request: a list would say that the consent covers no more than it names.
 */
export function categoryStates(
  consent: Pick<Consent, 'categories' | 'pendingCategories'>,
): { key: string; status: ConsentStatus }[] | undefined {
  const { categories: decided, pendingCategories: asked } = consent;
  if (decided === null) return undefined;
  const found = new Map<string, ConsentStatus>(Object.entries(decided));
  for (const key of asked ?? []) if (found.get(key) !== 'accepted') found.set(key, 'pending');
  return [...found].map(([key, status]) => ({ key, status }));
}
