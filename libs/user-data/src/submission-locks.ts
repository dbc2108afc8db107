import { type Decision, holdSubjectsAndConsents } from '@app/consent';
import type { Subject, SubjectKeys } from '@app/crypto';
import { json, type Tx } from '@app/database';
import type { RefusalKind } from './processing-refusal.entity';
import { findRefusals } from './processing-refusals.sql';

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
 * The states of submissions, with the locks that are missing. A submission locks the consent of its subject. Where the category needs
 * no consent and the subject has none, there is no row to lock: the subject itself is locked. Then its consent, its refusals and its
 * key are read again, and by `readOwnAgain` what only the caller knows how to read. Of several submissions, the state is undefined
 * where another unit has locked the subject.
 */
export async function lockWithoutConsent<One extends Given, State extends Locked>(
  tx: Tx,
  keys: SubjectKeys,
  states: readonly State[],
  given: readonly One[],
  readOwnAgain: (submission: One) => Promise<Omit<State, keyof Locked>>,
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
      return { ...state, ...(await readOwnAgain(submission)), consent: decisionOf(consent), refusal };
    }),
  );
}

type Held = Awaited<ReturnType<typeof holdSubjectsAndConsents>>[number];

function decisionOf(consent: Exclude<Held, undefined>): Decision | undefined {
  if (consent === null) return undefined;
  return { status: consent.status, erasing: consent.erasing, categories: json(consent.categories) };
}
