import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Tx } from '@app/database';
import type { Actor } from '@app/http';
import { DAY_MS } from '@app/kernel';
import type { Subject } from './subject';
import { markedBy } from './subject-data';

/** When the data that a withdrawn consent has left in one category will be erased, in ISO 8601. */
export type ErasureTime = readonly [category: string, erasedAt: string];

/** A consent that a user has given or withdrawn. */
export interface DecidedConsent {
  readonly subject: Subject;
  /** null: all categories. */
  readonly categories: readonly string[] | null;
  readonly at: string;
}

/**
 * Rows of a category: every one, those that no consent in force covers, those of them without the mark of a withdrawal, or those of
 * users who have objected to everything (GDPR Art. 21(1)).
 */
export type HeldRows = 'all' | 'uncovered' | 'unmarked' | 'objected';

/** What a batch has done: whether the holder may have more, and the place after which its next batch begins. */
export interface ErasedPart {
  readonly isMore: boolean;
  readonly after: Subject | undefined;
}

/** What the last batch of each holder has done. */
export type ErasedParts = ReadonlyMap<ConsentedDataHolder, ErasedPart>;

/**
 * Implemented by what stores data under a category, and found by {@link HoldsConsentedData}. A module with a plain table
 * of its own needs no implementation: `SubjectDataHolder.consented` names its table, and `@app/user-data` does the rest. An implementation
 * also erases what is due, withdrawn or older than `retention_days`, by a `BotSweep` of its own.
 */
export interface ConsentedDataHolder {
  /**
   * Removes up to `limit` rows that are stored under a category, before its declaration is removed. Returns how many rows
   * it removed: after a full batch it is called again, in a unit of its own, and once more at the end. Its events name `by`. A holder
   * without an index for it looks at `limit` rows in their order, and begins its next batch `after` them: from the end of the first
   * batch on no row may come under the category there.
   */
  eraseCategory(
    tx: Tx,
    botId: string,
    category: string,
    limit: number,
    by: Actor,
    after?: Subject,
  ): Promise<number | ErasedPart>;
  /**
   * Removes what is stored of a subject under some categories (GDPR Art. 17, 21(1)). The unit has locked the subject. Returns the
   * categories under which there was anything.
   */
  eraseOf(tx: Tx, subject: Subject, categories: readonly string[]): Promise<readonly string[]>;
  /** Whether a category has such rows; a declaration is not changed against them. */
  holdsCategory(tx: Tx, botId: string, category: string, what: HeldRows): Promise<boolean>;
  /** The time of the newest request or decision of a bot on record. */
  newestTime?(tx: Tx, botId: string): Promise<string | undefined>;
  /**
   * Marks what rests on withdrawn consents, in the unit that withdraws them (GDPR Art. 7(3)) and before they are written.
   * Each is of another subject.
   */
  withdraw(tx: Tx, withdrawn: readonly DecidedConsent[]): Promise<void>;
  /** Takes the mark from what new consents cover, and marks what they leave out. Each is of another subject. */
  give(tx: Tx, given: readonly DecidedConsent[]): Promise<void>;
  /**
   * When what is marked of each subject will be erased (GDPR Art. 17(1)(b)), in their order; nothing for what is never
   * erased by itself.
   */
  erasureTimes?(tx: Tx, subjects: readonly Subject[]): Promise<readonly Iterable<ErasureTime>[]>;
}

/** Ends with the declaration of its category, and rests on no consent: what a user has decided about the category. */
export abstract class EndsWithDeclaration implements Omit<ConsentedDataHolder, 'eraseCategory'> {
  /** What was stored under a category is erased, not the decisions about it. */
  eraseOf(): Promise<readonly []> {
    return Promise.resolve([]);
  }

  holdsCategory(): Promise<boolean> {
    return Promise.resolve(false);
  }

  async withdraw(): Promise<void> {}

  async give(): Promise<void> {}
}

/** Whether any holder may have more of the category. */
export function hasMore(parts: ErasedParts): boolean {
  return [...parts.values()].some(({ isMore }) => isMore);
}

/** Marks a provider as a {@link ConsentedDataHolder}. */
export const HoldsConsentedData = DiscoveryService.createDecorator();

/** Every {@link ConsentedDataHolder} of the application, called one after the other. An error of one rolls the unit back. */
@Injectable()
export class ConsentedDataHolders {
  private found: readonly ConsentedDataHolder[] | undefined;

  constructor(@Inject(DiscoveryService) private readonly discovery: DiscoveryService) {}

  async withdraw(tx: Tx, withdrawn: readonly DecidedConsent[]): Promise<void> {
    for (const holder of this.all()) await holder.withdraw(tx, withdrawn);
  }

  async give(tx: Tx, given: readonly DecidedConsent[]): Promise<void> {
    for (const holder of this.all()) await holder.give(tx, given);
  }

  /** The times of each subject. A category may come several times, once for each holder. */
  async erasureTimes(tx: Tx, subjects: readonly Subject[]): Promise<readonly (readonly ErasureTime[])[]> {
    const times = subjects.map((): ErasureTime[] => []);
    for (const holder of this.all()) {
      const announced = (await holder.erasureTimes?.(tx, subjects)) ?? [];
      for (const [at, found] of announced.entries()) times[at]?.push(...found);
    }
    return times;
  }

  /** One batch of each holder; behind `before`, of those that may have more, or of all if none may. */
  async eraseCategory(
    tx: Tx,
    botId: string,
    category: string,
    limit: number,
    by: Actor,
    before: ErasedParts = new Map(),
  ): Promise<ErasedParts> {
    const parts = new Map(before);
    const isLast = !hasMore(before);
    for (const holder of this.all()) {
      const part = before.get(holder);
      if (!isLast && part?.isMore !== true) continue;
      const erased = await holder.eraseCategory(tx, botId, category, limit, by, part?.after);
      parts.set(holder, typeof erased === 'number' ? { isMore: erased >= limit, after: undefined } : erased);
    }
    return parts;
  }

  /** Removes what each holder has stored of a subject under the categories. Returns those under which there was anything. */
  async eraseOf(tx: Tx, subject: Subject, categories: readonly string[]): Promise<ReadonlySet<string>> {
    const erased = new Set<string>();
    for (const holder of this.all())
      for (const category of await holder.eraseOf(tx, subject, categories)) erased.add(category);
    return erased;
  }

  /** Whether any holder has what is asked for. */
  async holdsCategory(tx: Tx, botId: string, category: string, what: HeldRows): Promise<boolean> {
    for (const holder of this.all()) if (await holder.holdsCategory(tx, botId, category, what)) return true;
    return false;
  }

  /**
   * `now`, or the time of the newest request or decision of the bot on record, where a process whose clock is ahead has written that. A time
   * that is a day ahead is of a wrong clock, and would spoil the receipts of all users until then.
   */
  async timeAfter(tx: Tx, botId: string, now: string): Promise<string> {
    let at = now;
    const wrong = new Date(Date.parse(now) + DAY_MS).toISOString();
    for (const holder of this.all()) {
      const newest = await holder.newestTime?.(tx, botId);
      if (newest !== undefined && newest > at && newest < wrong) at = newest;
    }
    return at;
  }

  private all(): readonly ConsentedDataHolder[] {
    return (this.found ??= markedBy<ConsentedDataHolder>(HoldsConsentedData, this.discovery));
  }
}
