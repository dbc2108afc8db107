import type { Category } from './category.entity';
import { isObjectable } from './objectable-categories';

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
  'to an objectable one': {
    holds: 'objected',
    message:
      'Values are stored of users who have objected to everything that can be objected to, or too many to look at: erase them first, or register a new category, since the new basis comes under the objection',
  },
} as const;

/** What a change is, of which values of users could lose their basis. */
export function turnsOf(before: Turning, after: Turning): (typeof TURNS)[keyof typeof TURNS][] {
  const requires = after.withoutConsent === null;
  const isOther = requires !== (before.withoutConsent === null);
  const becomes = (is: (basis: string) => boolean): boolean => is(after.legalBasis) && !is(before.legalBasis);
  return [
    ...(isOther ? [TURNS[requires ? 'to a need' : 'to no need']] : []),
    ...(!isOther && becomes((basis) => basis === 'consent') ? [TURNS['to consent']] : []),
    ...(becomes(isObjectable) ? [TURNS['to an objectable one']] : []),
  ];
}
