import { basisOf, undeclared } from '@app/categories';
import {
  consentScope,
  decisionShown,
  holdSubjectsAndConsents,
  requireConsent,
  requireOpen,
} from '@app/consent';
import type { Subject } from '@app/crypto';
import type { Tx } from '@app/database';
import { findRefusals, requireProcessing, restrictedOf } from './processing-refusals.sql';

// What a module asks before it stores or reads data under a category, as a submit and `GET /data/values` do.

/**
 * Requires that data may be stored about a subject under a category, inside the unit that stores. Category, consent and subject are
 * locked until it ends, in the order of every act: once a withdrawal, an objection or a restriction is answered, nothing is stored.
 * @throws ApiError 403 `consent_required`, then 404 for a category that the bot has not declared; 409 `deletion_in_progress` for one
 * that needs no consent, while the data of the subject is being erased; 403 `processing_refused` (GDPR Art. 18, 21)
 */
export async function requireStorable(tx: Tx, subject: Subject, category: string): Promise<void> {
  const basis = await basisOf(tx, subject.botId, category, 'FOR KEY SHARE');
  if (basis?.requiresConsent === false)
    requireOpen((await holdSubjectsAndConsents(tx, [subject], true))[0] ?? undefined);
  else {
    const scope = await requireConsent(tx, subject, basis !== undefined);
    if (basis === undefined) undeclared();
    scope.require(category);
  }
  requireProcessing((await findRefusals(tx, [{ subject, category }]))[0]);
}

/**
 * Requires that the bot may read what is stored about a subject under a category. The user itself may see it without: that is an
 * export. @throws ApiError as {@link requireStorable}; an objection has erased what there was to read
 */
export async function requireReading(tx: Tx, subject: Subject, category: string): Promise<void> {
  await requireCovered(tx, subject, category);
  const restricted = await restrictedOf(tx, subject);
  if (restricted.has('') || restricted.has(category)) requireProcessing('restriction');
}

/** That a consent in force covers the category, or that it needs none. @throws ApiError 403 `consent_required`, 404, 409 */
export async function requireCovered(tx: Tx, subject: Subject, category: string): Promise<void> {
  const basis = await basisOf(tx, subject.botId, category);
  const decision = await decisionShown(tx, subject);
  if (basis?.requiresConsent === false) return requireOpen(decision);
  const scope = consentScope(decision, basis !== undefined);
  if (basis === undefined) undeclared();
  scope.require(category);
}
