import type { Category } from './category.entity';

/** What of a category says whether its values need a consent. */
export type Turning = Pick<Category, 'legalBasis' | 'withoutConsent'>;

/** What values a change of the basis does not leave behind, and why it is refused. */
const TURNS = {
  'to a need': {
    holds: 'all',
    message:
      'Values are stored without a consent, which cannot be given afterwards: register a new category, or erase the values first',
  },
  'to no need': {
    holds: 'uncovered',
    message:
      'Values are stored whose consent was withdrawn, or too many to look at: erase them first, or register a new category, since a withdrawal cannot be passed over',
  },
  'to consent': {
    holds: 'unmarked',
    message:
      'Values are stored that no consent in force covers and no withdrawal has given a time of erasure, or too many to look at: erase them first, or register a new category, since nothing would erase them',
  },
} as const;

/** What a change is, of which values of users could lose their basis; undefined for any other. */
export function turnOf(before: Turning, after: Turning): (typeof TURNS)[keyof typeof TURNS] | undefined {
  const requires = after.withoutConsent === null;
  if (requires !== (before.withoutConsent === null)) return TURNS[requires ? 'to a need' : 'to no need'];
  return after.legalBasis === 'consent' && before.legalBasis !== 'consent' ? TURNS['to consent'] : undefined;
}
