import type { Tx } from '@app/database';
import type { Subject } from '@app/subjects';
import { AnnouncedErasures } from './announced-erasures';

/**
 * A consent, or the consent to some categories, is being withdrawn (GDPR Art. 7(3)); published inside the withdrawing
 * transaction, before anything of it is written. Whoever stores data that rests on it says when that will be erased (Art. 17(1)(b)).
 */
export class ConsentWithdrawn {
  readonly announced = new AnnouncedErasures();

  constructor(
    readonly tx: Tx,
    readonly subject: Subject,
    /** null for all of them. */
    readonly categories: readonly string[] | null,
    readonly withdrawnAt: string,
  ) {}
}

/**
 * A consent is being given: what rests on it is not to be erased any more, and what it leaves out has been withdrawn by
 * it; published like {@link ConsentWithdrawn}.
 */
export class ConsentGiven {
  constructor(
    readonly tx: Tx,
    readonly subject: Subject,
    /** null for all of them. */
    readonly categories: readonly string[] | null,
    readonly givenAt: string,
  ) {}
}

/** Somebody has asked when data of a subject will be erased; published inside a transaction that only reads. */
export class ErasureTimesAsked {
  readonly announced = new AnnouncedErasures();

  constructor(
    readonly tx: Tx,
    readonly subject: Subject,
  ) {}
}
