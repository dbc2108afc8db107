import { type Engine, finding, parsed, type Tx } from '@app/database';
import { ApiError, conflict } from '@app/kernel';
import { sameSubject, type Subject, SUBJECT_KEY, SUBJECT_WHERE, subjectValues } from '@app/crypto';
import { isGranted } from './consent-changes';
import { inForce, isInForce } from './consent-states';
import type { CategoryStates, Consent } from './consent.entity';

const READ = `SELECT status, erasing, categories FROM consents WHERE ${SUBJECT_WHERE}`;

/**
 * Locks the consent until the unit ends. The lock is exclusive: PostgreSQL grants shared locks to new units even while a
 * withdrawal waits.
 */
const SELECT = `${READ} FOR UPDATE`;

/** What decides whether data may be stored about a subject. */
export type Decision = Pick<Consent, 'status' | 'erasing'> & { readonly categories: string | null };

/**
 * Requires a consent in force inside the unit that stores, and returns what it covers. The caller first looks whether the bot
 * has declared the category, and says so by `isDeclared`.
 * @throws ApiError 403 `consent_required`
 */
export async function requireConsent(tx: Tx, subject: Subject, isDeclared = true): Promise<ConsentScope> {
  return consentScope(await tx.get<Decision>(SELECT, ...subjectValues(subject)), isDeclared);
}

/** What a unit that reads decides by, without a lock. */
export function decisionShown(tx: Tx, subject: Subject): Promise<Decision | undefined> {
  return tx.get<Decision>(READ, ...subjectValues(subject));
}

/**
 * For a statement over `rows` with a `category`, both as SQL: the join with the consents, and the condition that a consent
 * in force covers the category; or both as one condition that it `exists`.
 */
export const consentCovering = (engine: Engine, rows: string, category = `${rows}.category_key`) => {
  const categories = engine === 'sqlite' ? 'consent.categories' : 'consent.categories::json';
  const same = sameSubject('consent', rows);
  const condition = `${inForce('consent')}
    AND (consent.categories IS NULL OR ${categories} ->> ${category} = 'accepted')`;
  return {
    join: `JOIN consents consent ON ${same}`,
    condition,
    /** Instead of `condition`, where no consent is needed: the subject is not being erased. For a left join. */
    open: 'COALESCE(consent.erasing, 0) = 0',
    // Not EXISTS, of which PostgreSQL may make a join that reads all consents.
    exists: `((SELECT 1 FROM consents consent WHERE ${same} AND ${condition}) IS NOT NULL)`,
  };
};

/**
 * What a consent in force covers; `isDeclared` says whether the bot has declared the category.
 * @throws ApiError 403 `consent_required`
 */
export function consentScope(found: Decision | undefined, isDeclared: boolean): ConsentScope {
  if (found === undefined || !isInForce(found)) {
    throw new ApiError(
      'consent_required',
      // The 404 comes after this 403, and a user would be asked for a category that there is not.
      isDeclared
        ? 'The user has not accepted: request a consent and store data once it is accepted'
        : 'The user has not accepted, and the category is not found: look at its key before you ask',
      { current_status: found?.status ?? 'none' },
    );
  }
  return new ConsentScope(found);
}

/** Whether a consent in force covers `category`. */
export function coversInForce(found: Decision | undefined, category: string): boolean {
  return found !== undefined && isInForce(found) && new ConsentScope(found).covers(category);
}

/**
 * Data of a category that needs no consent may be stored, unless its subject is being erased. The unit has locked the subject.
 * @throws ApiError 409 `deletion_in_progress`
 */
export function requireOpen(found: Pick<Decision, 'erasing'> | undefined): void {
  if ((found?.erasing ?? 0) !== 0)
    throw conflict(
      'deletion_in_progress',
      'The data of this user is being erased: submit again once that has ended',
    );
}

const DECIDED = ['status', 'erasing', 'categories'];
const DECISIONS = finding<Decision>('consents', SUBJECT_KEY, DECIDED, 'FOR UPDATE');

/**
 * The decisions about subjects, locked until the unit ends; undefined for a subject without a consent, and, unless `isAlone`,
 * for one that another unit has locked.
 */
export function lockDecisions(
  tx: Tx,
  subjects: readonly Subject[],
  isAlone: boolean,
): Promise<readonly (Decision | undefined)[]> {
  return DECISIONS(tx, subjects.map(subjectValues), isAlone);
}

/** The categories that a consent covers: none unless it is in force. */
class ConsentScope {
  constructor(private readonly decision: Omit<Decision, 'erasing'>) {}

  /** @throws ApiError 403 `consent_required` for a category that the user did not grant. */
  require(category: string): void {
    if (!this.covers(category)) {
      throw new ApiError('consent_required', 'The user has not consented to this category', {
        current_status: this.decision.status,
      });
    }
  }

  covers(category: string): boolean {
    const { status, categories } = this.decision;
    return isGranted({ status, categories: parsed<CategoryStates>(categories) }, category);
  }
}
