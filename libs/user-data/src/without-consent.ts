import { consentScope, type Decision, decisionShown, holdSubjectsAndConsents, isInForce } from '@app/consent';
import type { Subject, SubjectKeys } from '@app/crypto';
import { json, type Tx } from '@app/database';
import { requireCovered, requireReading } from './module.gate';
import type { RefusalKind } from './processing-refusal.entity';
import { findRefusals, requireProcessing, restrictedOf } from './processing-refusals.sql';
import { type SubjectValue, valuesOf } from './user-values.sql';

/** What of the state of a submission is read under the lock. */
interface Locked {
  readonly declared: { readonly requiresConsent: boolean } | undefined;
  readonly consent: Decision | undefined;
  readonly refusal: RefusalKind | undefined;
}

interface Given {
  readonly subject: Subject;
  readonly category: string;
}

/**
 * The states of submissions, those that need no consent under a lock. A submission locks the consent of its subject. Where the
 * category needs no consent and the subject has none, there is no row to lock: the subject itself is locked, and refusals, key and
 * what `again` reads are read again. With several submissions a state is undefined where another unit has locked the subject.
 */
export async function lockWithoutConsent<One extends Given, State extends Locked>(
  tx: Tx,
  keys: SubjectKeys,
  states: readonly State[],
  given: readonly One[],
  again: (submission: One) => Promise<Omit<State, keyof Locked>>,
): Promise<(State | undefined)[]> {
  if (tx.engine === 'sqlite') return [...states];
  const isOpen = ({ declared, consent }: State) =>
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
      return { ...state, ...(await again(submission)), consent: decisionOf(consent), refusal };
    }),
  );
}

type Held = Awaited<ReturnType<typeof holdSubjectsAndConsents>>[number];

function decisionOf(consent: Exclude<Held, undefined>): Decision | undefined {
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
  if (category !== undefined) {
    await (isOwn ? requireCovered : requireReading)(tx, subject, category);
    return valuesOf(tx, subject, category);
  }
  const restricted = isOwn ? new Set<string>() : await restrictedOf(tx, subject);
  const unrestricted = (rows: readonly SubjectValue[]): SubjectValue[] => {
    if (restricted.has('')) requireProcessing('restriction');
    return rows.filter((row) => !restricted.has(row.category_key));
  };
  const decision = await decisionShown(tx, subject);
  const isGiven = decision !== undefined && isInForce(decision);
  if (!isGiven && (decision?.erasing ?? 0) === 0) {
    const open = (await valuesOf(tx, subject)).filter((row) => row.open === 1);
    if (open.length > 0) return unrestricted(open);
  }
  const scope = consentScope(decision, true);
  const rows = await valuesOf(tx, subject);
  return unrestricted(rows.filter((row) => row.open === 1 || scope.covers(row.category_key)));
}
