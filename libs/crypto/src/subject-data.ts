import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Tx } from '@app/database';
import { ApiError } from '@app/kernel';
import type { Digest } from './keyed-digest';
import { givenSubjects, type NamedSubject, type Subject, subjectAt, subjectName } from './subject';

/** The part of a subject's export that one holder provides. */
export interface SubjectExport {
  /** Entries of the export's `data`: a name, and the stored value as JSON text, which is exported unchanged. */
  readonly data?:
    Iterable<readonly [name: string, json: string]> | AsyncIterable<readonly [name: string, json: string]>;
  /** The `consent` of the export record; null where only its history is held. Only the consent module provides it. */
  readonly consent?: object | null;
  /** Something is held beside values and consent, so that a full export answers also without either. */
  readonly isHeld?: true;
  /**
   * Further sections of `?format=full`, each a list, whose items may be a `JsonText`. A long list is read while it is
   * exported, and whole before the next one of its holder.
   */
  readonly full?: Readonly<Record<string, Iterable<object> | AsyncIterable<object>>>;
}

/**
 * A table whose rows rest on the consent to a category. Beside `bot_id`, `guild_id` and `user_id` it has the columns
 * `updated_at`, a time, and `withdrawn_at`, a nullable time that Lethe sets.
 */
export interface ConsentedTable {
  readonly table: string;
  /** The category of all rows. Without it each row names its own in a column `category_key`. */
  readonly category?: string;
  /**
   * The indexed time by which the rows of an age are found: `updated_at`, unless an update would cost its index too much.
   * Then a time of at most `updated_at`, which Lethe sets to it once it has looked at the row.
   */
  readonly agedBy?: string;
}

/** A data category of which an erasure has removed values, as a statement returns it. It may be named several times. */
export interface ErasedCategory {
  readonly bot_id: string;
  readonly guild_id: Digest;
  readonly user_id: Digest;
  /** The slug. */
  readonly category: string;
}

/** A user in every guild, or every user of a guild. */
export type UsersErased = Pick<Subject, 'botId'> & (Pick<Subject, 'userId'> | Pick<Subject, 'guildId'>);

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
   * The export records of several subjects in few statements, for a unit on PostgreSQL that has locked them; undefined for
   * one that {@link export} has to read. Without it every subject is read by {@link export}, which is enough for a holder
   * without a part of the export record.
   */
  exportAll?(tx: Tx, subjects: readonly Subject[]): Promise<readonly (SubjectExport | undefined)[]>;
  /**
   * Removes all of it inside `tx`, for several subjects at once: `amongSubjects` is the condition for their rows. Returns
   * the data categories that had values. A holder without it keeps its rows as the proof of the erasure: they name the
   * subject by digests, and their texts lost their key.
   */
  erase?(tx: Tx, subjects: readonly Subject[]): Promise<readonly ErasedCategory[]>;
  /** By table, the condition for the rows that a certificate counts, where {@link erase} leaves some or some hold nothing. */
  readonly erasable?: Readonly<Record<string, string>>;
  /**
   * Removes what it has of subjects about whom nothing is held, which {@link erase} is not asked about: once a user is erased in
   * every guild, and once a guild is removed. For a holder that stores rows without a key of their subject.
   */
  eraseUnheld?(tx: Tx, of: UsersErased): Promise<void>;
}

/** Marks a provider as a {@link SubjectDataHolder}. */
export const HoldsSubjectData = DiscoveryService.createDecorator();

/** Every holder of every module of the application. */
@Injectable()
export class SubjectDataHolders {
  private found: readonly SubjectDataHolder[] | undefined;

  constructor(@Inject(DiscoveryService) private readonly discovery: DiscoveryService) {}

  all(): readonly SubjectDataHolder[] {
    return (this.found ??= markedBy<SubjectDataHolder>(HoldsSubjectData, this.discovery));
  }

  /** The export records of several subjects; undefined for one that has to be read alone. */
  async exportAll(
    tx: Tx,
    subjects: readonly NamedSubject[],
  ): Promise<(readonly SubjectExport[] | undefined)[]> {
    const asked = this.all().map(
      (holder) =>
        holder.exportAll?.(tx, subjects) ??
        Promise.all(subjects.map((subject) => holder.export(tx, subject, false))),
    );
    const found = await Promise.all(asked);
    return subjects.map((_, at) => {
      const parts = found.flatMap((of) => of[at] ?? []);
      return parts.length === found.length ? parts : undefined;
    });
  }

  /** The tables of which an erasure removes rows. */
  erasedTables(): string[] {
    return this.all().flatMap((holder) => (holder.erase === undefined ? [] : holder.tables));
  }

  /** For each subject, the number of its rows in each table, without those that an erasure keeps or that hold nothing. */
  async count(tx: Tx, subjects: readonly Subject[]): Promise<Readonly<Record<string, number>>[]> {
    const tables = this.erasedTables();
    const erasable = new Map(this.all().flatMap((holder) => Object.entries(holder.erasable ?? {})));
    const counts = tables.map(
      (table) => `(SELECT COUNT(*) FROM ${table} WHERE ${table}.bot_id = given.bot_id
        AND ${table}.guild_id = given.guild_id AND ${table}.user_id = given.user_id
        AND ${erasable.get(table) ?? 'TRUE'}) AS ${table}`,
    );
    const given = givenSubjects(tx, subjects);
    const rows = await tx.all<Record<string, number>>(
      `SELECT ${counts.join(', ')} FROM ${given.sql} ORDER BY given.place`,
      ...given.values,
    );
    return rows.map((row) => Object.fromEntries(tables.map((table) => [table, Number(row[table] ?? 0)])));
  }

  /**
   * Removes everything about the subjects inside `tx`, or what some of the holders have. Returns the categories of each, in the
   * order of their slugs.
   */
  async erase(
    tx: Tx,
    subjects: readonly Subject[],
    holders = this.all(),
  ): Promise<readonly (readonly string[])[]> {
    const erasing = holders.map(async (holder) => (await holder.erase?.(tx, subjects)) ?? []);
    const erased = new Map<string, Set<string>>(subjects.map((subject) => [subjectName(subject), new Set()]));
    for (const row of (await Promise.all(erasing)).flat())
      erased.get(subjectName(subjectAt(row.bot_id, row)))?.add(row.category);
    // Slugs are ASCII: this is the order of their bytes.
    return [...erased.values()].map((categories) => [...categories].sort());
  }

  /** Removes what the holders have of subjects about whom nothing is held. */
  async eraseUnheld(tx: Tx, of: UsersErased): Promise<void> {
    for (const holder of this.all()) await holder.eraseUnheld?.(tx, of);
  }
}

/** @throws ApiError 500 that names the categories whose values cannot be decrypted, and the data of a module by its name in exports, if there are any */
export function requireReadable(unreadable: readonly string[]): void {
  if (unreadable.length === 0) return;
  throw new ApiError(
    'internal_error',
    `The values of these categories cannot be decrypted: ${unreadable.join(', ')}`,
    { categories: unreadable },
  );
}

/** The providers of every module of the application that have a mark. */
export function markedBy<Holder>(
  { KEY }: typeof HoldsSubjectData,
  discovery: DiscoveryService,
): readonly Holder[] {
  return discovery.getProviders({ metadataKey: KEY }).map((wrapper) => wrapper.instance as Holder);
}
