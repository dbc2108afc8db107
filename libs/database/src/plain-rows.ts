import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Subject } from './subject-data';
import type { Tx } from './tx';

/** Rows that were looked at, of which some may stand there as an older Lethe wrote them: in plain. */
export interface PlainRows {
  /** Behind which the next ones are looked for; undefined behind the last. */
  readonly next: string | undefined;
  /** How many do. */
  readonly plain: number;
  /** Whose key it takes to seal them. */
  readonly subjects: readonly Subject[];
  /**
   * Seals those that are still as they were, and whose subject has a key; answers how many. The unit keeps erasures of
   * the subjects out.
   */
  seal(tx: Tx): Promise<number>;
}

/** Implemented by whatever stores what was plain once, and found by {@link HoldsPlainRows}. */
export interface PlainRowsHolder {
  /** An act can write over such a row: of a SQLite file these are sealed before requests are answered. */
  readonly isWrittenOver: boolean;
  /** The next rows of a bot, a bounded number; from the first for an empty `after`. */
  next(tx: Tx, botId: string, after: string): Promise<PlainRows>;
}

/** Marks a provider as a {@link PlainRowsHolder}. */
export const HoldsPlainRows = DiscoveryService.createDecorator();

/** Every {@link PlainRowsHolder} of the application, those first whose rows are written over. */
@Injectable()
export class PlainRowsHolders {
  constructor(@Inject(DiscoveryService) private readonly discovery: DiscoveryService) {}

  all(): readonly PlainRowsHolder[] {
    return this.discovery
      .getProviders({ metadataKey: HoldsPlainRows.KEY })
      .map((wrapper) => wrapper.instance as PlainRowsHolder)
      .sort((a, b) => Number(b.isWrittenOver) - Number(a.isWrittenOver));
  }
}
