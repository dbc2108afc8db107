import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Tx } from '@app/database';
import { type Subject, SUBJECT_WHERE } from './subject';

/** What a holder hands out of a subject. */
export interface SubjectExport {
  /** Entries of the export's `data`: name and the stored value as JSON text, which is passed on unchanged. */
  readonly data?:
    Iterable<readonly [name: string, json: string]> | AsyncIterable<readonly [name: string, json: string]>;
  /** The `consent` of the export record; only the consent module has one. */
  readonly consent?: object;
  /** Further sections of `?format=full`, each a list; a long one is handed out as it is read. */
  readonly full?: Readonly<Record<string, Iterable<object> | AsyncIterable<object>>>;
}

/**
 * A table whose rows rest on the consent to one category. Beside `bot_id`, `guild_id` and `user_id` it has the columns
 * `updated_at`, a time, and `withdrawn_at`, a nullable time that Lethe sets.
 */
export interface ConsentedTable {
  readonly table: string;
  readonly category: string;
}

/**
 * Implemented by whatever stores anything about a subject, and found by {@link HoldsSubjectData}: the service never
 * knows what is stored where, it asks the holders (GDPR Art. 15 and 17).
 */
export interface SubjectDataHolder {
  /** Every table with rows about a subject that this holder answers for; a test fails for one that nobody claims. */
  readonly tables: readonly string[];
  /**
   * Tables whose rows are erased `REVOKED_DATA_GRACE_DAYS` after the consent is revoked, `retention_days` of the category after
   * their `updated_at`, and with the category.
   */
  readonly consented?: readonly ConsentedTable[];
  /** What it keeps stays after an erasure, as its proof. */
  readonly outlivesErasure?: true;
  /** Erases after all others: for what others, whom the erasure had to wait for, may have written meanwhile. */
  readonly last?: true;
  /** What is held; an empty object for nothing. `full` asks for the sections beyond the export record too. */
  export(tx: Tx, subject: Subject, full: boolean): Promise<SubjectExport>;
  /** Removes all of it inside `tx`; answers the names of the data categories that really went. */
  erase(tx: Tx, subject: Subject): Promise<readonly string[]>;
  /** Users of a guild about whom this holder has something to erase, a bounded number of them; asked until none is left. */
  subjectsOf?(tx: Tx, botId: string, guildId: string): Promise<readonly string[]>;
  /**
   * Guilds in which this holder has something of one user, read bit by bit; one may come again. Who writes `subjectsOf`
   * writes this too, unless another holder names the guilds anyway.
   */
  guildsOf?(tx: Tx, botId: string, userId: string): AsyncIterable<string>;
  /** Whether there is anything to erase of this one; without it, of those whom `subjectsOf` names it is taken for granted. */
  holds?(tx: Tx, subject: Subject): Promise<boolean>;
}

/** Marks a provider as a {@link SubjectDataHolder}. */
export const HoldsSubjectData = DiscoveryService.createDecorator();

/** Every holder of the application, whichever module brought it. */
@Injectable()
export class SubjectDataHolders {
  private found: readonly SubjectDataHolder[] | undefined;

  constructor(@Inject(DiscoveryService) private readonly discovery: DiscoveryService) {}

  all(): readonly SubjectDataHolder[] {
    this.found ??= this.discovery
      .getProviders({ metadataKey: HoldsSubjectData.KEY })
      .map((wrapper) => wrapper.instance as SubjectDataHolder);
    return this.found;
  }

  /** Whether any of those who name the users of a guild still has something to erase of this one. */
  async hold(tx: Tx, subject: Subject): Promise<boolean> {
    for (const holder of this.all()) {
      if (holder.subjectsOf !== undefined && ((await holder.holds?.(tx, subject)) ?? true)) return true;
    }
    return false;
  }

  /** How many rows about the subject each table holds, but for evidence that outlives an erasure. */
  async count(tx: Tx, { botId, guildId, userId }: Subject): Promise<Record<string, number>> {
    const tables = this.all().flatMap((holder) => (holder.outlivesErasure === true ? [] : holder.tables));
    const counts = tables.map(
      (table) => `(SELECT COUNT(*) FROM ${table} WHERE ${SUBJECT_WHERE}) AS ${table}`,
    );
    const values = tables.flatMap(() => [botId, guildId, userId]);
    const row = await tx.get<Record<string, number>>(`SELECT ${counts.join(', ')}`, ...values);
    return Object.fromEntries(tables.map((table) => [table, Number(row?.[table] ?? 0)]));
  }

  /** The guilds of a bot in which anything may be held of a user, in the order of their ids. */
  async guildsOf(tx: Tx, botId: string, userId: string): Promise<readonly string[]> {
    const guildIds = new Set<string>();
    for (const holder of this.all()) {
      if (holder.guildsOf === undefined) continue;
      for await (const guildId of holder.guildsOf(tx, botId, userId)) guildIds.add(guildId);
    }
    return [...guildIds].sort();
  }

  /** Removes everything inside `tx`, holder beside holder, and then what is {@link SubjectDataHolder.last}. */
  async erase(tx: Tx, subject: Subject): Promise<readonly string[]> {
    const erased: string[] = [];
    for (const last of [false, true]) {
      const some = this.all().filter((holder) => (holder.last ?? false) === last);
      erased.push(...(await Promise.all(some.map((holder) => holder.erase(tx, subject)))).flat());
    }
    return erased;
  }
}
