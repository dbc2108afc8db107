import { type ConsentedTable, sameSubject } from '@app/crypto';

const OF_SUBJECT = sameSubject('c', 'd');
/** The rows with the consent of their subject, which every writer locks. */
const HELD = { sql: `CROSS JOIN consents c WHERE ${OF_SUBJECT} AND c.erasing = 0`, lock: 'c' };
/** The rows that need no consent are locked themselves: a statement looks again at one that was updated meanwhile. */
const OPEN = {
  sql: `WHERE (SELECT 1 FROM consents c WHERE ${OF_SUBJECT} AND c.erasing <> 0) IS NULL`,
  lock: 'd',
};

/** Of rows `d`, those whose subject is not being erased, and what of them is to be locked; `isOpen` if they need no consent. */
export function heldRows(isOpen = false): typeof HELD {
  return isOpen ? OPEN : HELD;
}

/** The category of a row, as SQL. */
export function categoryOf({ category }: ConsentedTable): string {
  return category === undefined ? 'category_key' : `'${category}'`;
}
