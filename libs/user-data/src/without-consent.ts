import { basisOf, undeclared } from '@app/categories';
import { consentScope, decisionShown, holdSubjectsAndConsents, requireOpen } from '@app/consent';
import type { Subject, SubjectKeys } from '@app/crypto';
import { json, type Tx } from '@app/database';
import type { SubmitState } from './submit.act';
import { type SubjectValue, valuesOf } from './user-values.sql';

/**
 * The states of submissions, with a lock for each that needs no consent and whose subject has none: no consent holds that subject
 * against an erasure or another submit. Its key and value are read anew under the lock. Undefined, unless a submission is
 * alone, where another unit has locked the subject. On SQLite units run one after the other.
 */
export async function lockWithoutConsent(
  tx: Tx,
  keys: SubjectKeys,
  states: readonly SubmitState[],
  storedAt: (at: number) => Promise<SubmitState['before']> | undefined,
): Promise<(SubmitState | undefined)[]> {
  if (tx.engine === 'sqlite') return [...states];
  const isOpen = ({ declared, consent }: SubmitState) =>
    declared?.requiresConsent === false && consent === undefined;
  const open = states.filter(isOpen);
  if (open.length === 0) return [...states];
  const subjects = open.map(({ subject }) => subject);
  const [found] = await Promise.all([
    holdSubjectsAndConsents(tx, subjects, states.length === 1),
    keys.prefetch(tx, subjects, 'again'),
  ]);
  const held = new Map(open.map((state, at) => [state, found[at]]));
  return Promise.all(
    states.map(async (state, at) => {
      if (!isOpen(state)) return state;
      const consent = held.get(state);
      if (consent === undefined) return undefined;
      return { ...state, consent: decisionOf(consent), before: await storedAt(at) };
    }),
  );
}

type Held = Awaited<ReturnType<typeof holdSubjectsAndConsents>>[number];

function decisionOf(consent: Exclude<Held, undefined>): SubmitState['consent'] {
  if (consent === null) return undefined;
  return { status: consent.status, erasing: consent.erasing, categories: json(consent.categories) };
}

/**
 * The values of a subject that may be read: those that a consent in force covers, and those that need none.
 * @throws ApiError 403 `consent_required` where nothing may be read, 404 for an undeclared category, and 409 as
 * {@link requireOpen} for one that needs no consent
 */
export async function readable(
  tx: Tx,
  subject: Subject,
  category: string | undefined,
): Promise<SubjectValue[]> {
  const basis = category === undefined ? undefined : await basisOf(tx, subject.botId, category);
  const isKnown = category === undefined || basis !== undefined;
  const decision = await decisionShown(tx, subject);
  if (basis?.requiresConsent === false) {
    requireOpen(decision);
    return valuesOf(tx, subject, category);
  }
  const isInForce = decision?.status === 'accepted' && decision.erasing === 0;
  if (category === undefined && !isInForce && (decision?.erasing ?? 0) === 0) {
    const open = (await valuesOf(tx, subject, category)).filter((row) => row.open === 1);
    if (open.length > 0) return open;
  }
  const scope = consentScope(decision, isKnown);
  if (!isKnown) undeclared();
  if (category !== undefined) scope.require(category);
  return (await valuesOf(tx, subject, category)).filter(
    (row) => row.open === 1 || scope.covers(row.category_key),
  );
}
