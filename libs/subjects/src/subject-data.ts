import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Tx } from '@app/database';
import { type NamedSubject, type Subject, SUBJECT_WHERE } from './subject';

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
  /**
   * The stored data; an empty object for none. `full` requests the sections beyond the export record. What is read while it
   * is exported may be read in several snapshots, if the export is long.
   */
  export(tx: Tx, subject: NamedSubject, full: boolean): Promise<SubjectExport>;
  /**
   * Removes all of it inside `tx`. Returns the slugs of the data categories that had values. A holder without it keeps
   * its rows as the proof of the erasure: they name the subject by digests, and their texts lost their key.
   */
  erase?(tx: Tx, subject: Subject): Promise<readonly string[]>;
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

  /** The number of rows about the subject in each table, without those that an erasure keeps. */
  async count(tx: Tx, { botId, guildId, userId }: Subject): Promise<Record<string, number>> {
    const tables = this.all().flatMap((holder) => (holder.erase === undefined ? [] : holder.tables));
    const counts = tables.map(
      (table) => `(SELECT COUNT(*) FROM ${table} WHERE ${SUBJECT_WHERE}) AS ${table}`,
    );
    const values = tables.flatMap(() => [botId, guildId, userId]);
    const row = await tx.get<Record<string, number>>(`SELECT ${counts.join(', ')}`, ...values);
    return Object.fromEntries(tables.map((table) => [table, Number(row?.[table] ?? 0)]));
  }

  /** Removes everything inside `tx`. */
  async erase(tx: Tx, subject: Subject): Promise<readonly string[]> {
    const erasing = this.all().map(async (holder) => (await holder.erase?.(tx, subject)) ?? []);
    return (await Promise.all(erasing)).flat();
  }
}
