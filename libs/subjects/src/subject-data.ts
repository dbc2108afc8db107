import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Tx } from '@app/database';
import { type Subject, SUBJECT_WHERE } from './subject';

/** The part of a subject's export that one holder provides. */
export interface SubjectExport {
  /** Entries of the export's `data`: a name, and the stored value as JSON text, which is exported unchanged. */
  readonly data?:
    Iterable<readonly [name: string, json: string]> | AsyncIterable<readonly [name: string, json: string]>;
  /** The `consent` of the export record. Only the consent module provides it. */
  readonly consent?: object;
  /** Further sections of `?format=full`, each a list. A long list is read while it is exported. */
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
  /**
   * Every table with rows about a subject for which this holder is responsible. A test fails for a table without a
   * holder.
   */
  readonly tables: readonly string[];
  /**
   * Tables whose rows are erased `REVOKED_DATA_GRACE_DAYS` after the consent is revoked, `retention_days` of the category after
   * their `updated_at`, and with the category.
   */
  readonly consented?: readonly ConsentedTable[];
  /** What it keeps stays after an erasure, as its proof. */
  readonly outlivesErasure?: true;
  /** This holder erases after all others, since its rows can be written while the erasure waits for other holders. */
  readonly last?: true;
  /** The stored data; an empty object for none. `full` requests the sections beyond the export record. */
  export(tx: Tx, subject: Subject, full: boolean): Promise<SubjectExport>;
  /** Removes all of it inside `tx`. Returns the slugs of the data categories that had values. */
  erase(tx: Tx, subject: Subject): Promise<readonly string[]>;
  /**
   * A bounded number of users of a guild with data to erase in this holder. It is called until it returns
   * none.
   */
  subjectsOf?(tx: Tx, botId: string, guildId: string): Promise<readonly string[]>;
  /**
   * Guilds in which this holder has data of one user, as a stream; a guild may occur twice. A holder with `subjectsOf`
   * needs this method unless another holder returns the same guilds.
   */
  guildsOf?(tx: Tx, botId: string, userId: string): AsyncIterable<string>;
  /** Whether there is data to erase of this subject. Without it, every subject of `subjectsOf` counts as held. */
  holds?(tx: Tx, subject: Subject): Promise<boolean>;
}

/** Marks a provider as a {@link SubjectDataHolder}. */
export const HoldsSubjectData = DiscoveryService.createDecorator();

/** Every holder of every module of the application. */
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

  /** Whether a holder with `subjectsOf` still has data to erase of this subject. */
  async hold(tx: Tx, subject: Subject): Promise<boolean> {
    for (const holder of this.all()) {
      if (holder.subjectsOf !== undefined && ((await holder.holds?.(tx, subject)) ?? true)) return true;
    }
    return false;
  }

  /** The number of rows about the subject in each table, without those that outlive an erasure. */
  async count(tx: Tx, { botId, guildId, userId }: Subject): Promise<Record<string, number>> {
    const tables = this.all().flatMap((holder) => (holder.outlivesErasure === true ? [] : holder.tables));
    const counts = tables.map(
      (table) => `(SELECT COUNT(*) FROM ${table} WHERE ${SUBJECT_WHERE}) AS ${table}`,
    );
    const values = tables.flatMap(() => [botId, guildId, userId]);
    const row = await tx.get<Record<string, number>>(`SELECT ${counts.join(', ')}`, ...values);
    return Object.fromEntries(tables.map((table) => [table, Number(row?.[table] ?? 0)]));
  }

  /** The guilds of a bot in which a holder may have data of a user, in the order of their ids. */
  async guildsOf(tx: Tx, botId: string, userId: string): Promise<readonly string[]> {
    const guildIds = new Set<string>();
    for (const holder of this.all()) {
      if (holder.guildsOf === undefined) continue;
      for await (const guildId of holder.guildsOf(tx, botId, userId)) guildIds.add(guildId);
    }
    return [...guildIds].sort();
  }

  /** Removes everything inside `tx`: first all holders, then those with {@link SubjectDataHolder.last}. */
  async erase(tx: Tx, subject: Subject): Promise<readonly string[]> {
    const erased: string[] = [];
    for (const last of [false, true]) {
      const some = this.all().filter((holder) => (holder.last ?? false) === last);
      erased.push(...(await Promise.all(some.map((holder) => holder.erase(tx, subject)))).flat());
    }
    return erased;
  }
}
