import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Tx } from '@app/database';
import type { Subject } from './subject';

/** When the data that a withdrawn consent has left in one category will be erased, in ISO 8601. */
export type ErasureTime = readonly [category: string, erasedAt: string];

/** A consent that a user has given. */
export interface GivenConsent {
  readonly subject: Subject;
  /** null: it covers all categories. */
  readonly categories: readonly string[] | null;
  readonly at: string;
}

/**
 * Implemented by what stores data under a category, and found by {@link HoldsConsentedData}. A module with a plain table
 * of its own needs no implementation: `SubjectDataHolder.consented` names its table, and `@app/user-data` does the rest.
 */
export interface ConsentedDataHolder {
  /**
   * Removes up to `limit` rows that are stored under a category, before its declaration is removed. Answers how many rows
   * it removed: after a full batch it is called again, in a unit of its own.
   */
  eraseCategory(tx: Tx, botId: string, category: string, limit: number): Promise<number>;
  /**
   * Marks what rests on a consent to `categories`, or on the whole consent for null, in the unit that withdraws it (GDPR
   * Art. 7(3)) and before the consent itself is written.
   */
  withdraw?(tx: Tx, subject: Subject, categories: readonly string[] | null, at: string): Promise<void>;
  /** Takes the mark from what new consents cover, and marks what they leave out. Each is of another subject. */
  give?(tx: Tx, given: readonly GivenConsent[]): Promise<void>;
  /** When what is marked will be erased (GDPR Art. 17(1)(b)); nothing for what is never erased by itself. */
  erasureTimes?(tx: Tx, subject: Subject): Promise<Iterable<ErasureTime>>;
}

/** Marks a provider as a {@link ConsentedDataHolder}. */
export const HoldsConsentedData = DiscoveryService.createDecorator();

/** Every {@link ConsentedDataHolder} of the application, called one after the other. An error of one rolls the unit back. */
@Injectable()
export class ConsentedDataHolders {
  private found: readonly ConsentedDataHolder[] | undefined;

  constructor(@Inject(DiscoveryService) private readonly discovery: DiscoveryService) {}

  async withdraw(tx: Tx, subject: Subject, categories: readonly string[] | null, at: string): Promise<void> {
    for (const holder of this.all()) await holder.withdraw?.(tx, subject, categories, at);
  }

  async give(tx: Tx, given: readonly GivenConsent[]): Promise<void> {
    for (const holder of this.all()) await holder.give?.(tx, given);
  }

  /** A category may come several times, once for each holder. */
  async erasureTimes(tx: Tx, subject: Subject): Promise<readonly ErasureTime[]> {
    const times: ErasureTime[] = [];
    for (const holder of this.all()) times.push(...((await holder.erasureTimes?.(tx, subject)) ?? []));
    return times;
  }

  /** Removes up to `limit` rows of each holder. Answers whether a holder may have more. */
  async eraseCategory(tx: Tx, botId: string, category: string, limit: number): Promise<boolean> {
    let hasMore = false;
    for (const holder of this.all())
      if ((await holder.eraseCategory(tx, botId, category, limit)) >= limit) hasMore = true;
    return hasMore;
  }

  private all(): readonly ConsentedDataHolder[] {
    this.found ??= this.discovery
      .getProviders({ metadataKey: HoldsConsentedData.KEY })
      .map((wrapper) => wrapper.instance as ConsentedDataHolder);
    return this.found;
  }
}
