import { basisOf, undeclared } from '@app/categories';
import { consentScope, decisionShown, isInForce, requireOpen } from '@app/consent';
import type { Subject } from '@app/crypto';
import type { Tx } from '@app/database';
import { requireProcessing, restrictedOf } from './processing-refusals.sql';
import { type SubjectValue, valuesOf } from './user-values.sql';

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
