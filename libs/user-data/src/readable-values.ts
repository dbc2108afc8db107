import { consentScope, decisionShown, isInForce, requireOpen } from '@app/consent';
import type { Subject } from '@app/crypto';
import type { Tx } from '@app/database';
import { requireCovered, requireReading } from './module.gate';
import { requireProcessing, restrictedOf } from './processing-refusals.sql';
import { type SubjectValue, valuesOf } from './user-values.sql';

/**
 * The values of a subject that may be read: those that a consent in force covers, and those that need none. Only for the user
 * itself (`isOwn`) they include restricted ones. @throws ApiError 403 `consent_required` where nothing may be read, 404 for an
 * undeclared category, 409 `deletion_in_progress` for one that needs no consent and for values of such categories, 403 `processing_refused`
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
  if (!isGiven) {
    const open = (await valuesOf(tx, subject)).filter((row) => row.open === 1);
    if (open.length > 0) {
      requireOpen(decision);
      return unrestricted(open);
    }
  }
  const scope = consentScope(decision, true);
  const rows = await valuesOf(tx, subject);
  return unrestricted(rows.filter((row) => row.open === 1 || scope.covers(row.category_key)));
}
