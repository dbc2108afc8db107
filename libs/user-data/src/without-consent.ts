import { basisOf, undeclared } from '@app/categories';
import { consentScope, decisionShown, holdSubjectsAndConsents, isInForce, requireOpen } from '@app/consent';
import type { Subject, SubjectKeys } from '@app/crypto';
import { json, type Tx } from '@app/database';
import { findRefusals, requireProcessing, restrictedOf } from './processing-refusals.sql';
import type { Submission, SubmitState } from './submit.act';
import { type SubjectValue, valuesOf } from './user-values.sql';

/**
 * The states of submissions, those that need no consent under a lock. A submission locks the consent of its subject. Where the
 * category needs no consent and the subject has none, there is no row to lock: the subject itself is locked, and refusals, key and
 * value are read again. With several submissions a state is undefined where another unit has locked the subject.
 */
export async function lockWithoutConsent(
  tx: Tx,
  keys: SubjectKeys,
  states: readonly SubmitState[],
  given: readonly Submission[],
  stored: (submission: Submission) => Promise<SubmitState['before']>,
): Promise<(SubmitState | undefined)[]> {
  if (tx.engine === 'sqlite') return [...states];
  const isOpen = ({ declared, consent }: SubmitState) =>
    declared?.requiresConsent === false && consent === undefined;
  const open = given.filter((_, at) => states[at] !== undefined && isOpen(states[at]));
  if (open.length === 0) return [...states];
  const subjects = open.map(({ subject }) => subject);
  const [consents, , refusals] = await Promise.all([
    holdSubjectsAndConsents(tx, subjects, states.length === 1),
    keys.prefetch(tx, subjects, 'again'),
    findRefusals(tx, open),
  ]);
  const held = new Map(open.map((one, at) => [one, [consents[at], refusals[at]] as const]));
  return Promise.all(
    states.map(async (state, at) => {
      const submission = given[at];
      const now = submission && held.get(submission);
      if (submission === undefined || now === undefined) return state;
      const [consent, refusal] = now;
      if (consent === undefined) return undefined;
      return { ...state, consent: decisionOf(consent), refusal, before: await stored(submission) };
    }),
  );
}

type Held = Awaited<ReturnType<typeof holdSubjectsAndConsents>>[number];

function decisionOf(consent: Exclude<Held, undefined>): SubmitState['consent'] {
  if (consent === null) return undefined;
  return { status: consent.status, erasing: consent.erasing, categories: json(consent.categories) };
}

/**
 * The values of a subject that may be read: those that a consent in force covers, and those that need none. Only for the user
 * itself (`isOwn`) they include restricted ones. @throws ApiError 403 `consent_required` where nothing may be read, 404 for an
 * undeclared category, 409 as {@link requireOpen} for one that needs no consent, 403 `processing_refused`
 */
export async function readable(
  tx: Tx,
  subject: Subject,
  category: string | undefined,
  isOwn = false,
): Promise<SubjectValue[]> {
  const restricted = isOwn ? new Set<string>() : await restrictedOf(tx, subject);
  const unrestricted = (rows: readonly SubjectValue[]): SubjectValue[] => {
    if (restricted.has('') || (category !== undefined && restricted.has(category)))
      requireProcessing('restriction');
    return rows.filter((row) => !restricted.has(row.category_key));
  };
  const basis = category === undefined ? undefined : await basisOf(tx, subject.botId, category);
  const isKnown = category === undefined || basis !== undefined;
  const decision = await decisionShown(tx, subject);
  if (basis?.requiresConsent === false) {
    requireOpen(decision);
    return unrestricted(await valuesOf(tx, subject, category));
  }
  const isGiven = decision !== undefined && isInForce(decision);
  if (category === undefined && !isGiven && (decision?.erasing ?? 0) === 0) {
    const open = (await valuesOf(tx, subject, category)).filter((row) => row.open === 1);
    if (open.length > 0) return unrestricted(open);
  }
  const scope = consentScope(decision, isKnown);
  if (!isKnown) undeclared();
  if (category !== undefined) scope.require(category);
  const rows = await valuesOf(tx, subject, category);
  return unrestricted(rows.filter((row) => row.open === 1 || scope.covers(row.category_key)));
}
