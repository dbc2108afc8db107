import { Injectable } from '@nestjs/common';
import { CategoriesService, consentFree } from '@app/categories';
import {
  amongSubjects,
  type ErasedCategory,
  HoldsSubjectData,
  requireReadable,
  type Subject,
  SUBJECT_WHERE,
  type SubjectDataHolder,
  type SubjectExport,
  SubjectKeys,
  subjectValues,
  unlessDamaged,
} from '@app/crypto';
import { eachOf, type Tx } from '@app/database';
import { readValue } from './stored-value';

/** The maximum of the stored texts of one subject that is read together with others, in bytes. */
const SMALL_BYTES = 128 * 1024;

/** Rows read at once while a subject's values are handed out; each may have 64 KiB. */
const BATCH = 4;

/** A row of `user_data` as it is stored. */
interface StoredValue {
  readonly category_key: string;
  readonly value: string;
}

/** The stored values of a subject, category by category. */
@Injectable()
@HoldsSubjectData()
export class UserDataHolder implements SubjectDataHolder {
  readonly tables = ['user_data'];
  readonly consented = [{ table: 'user_data', agedBy: 'retention_from' }];

  constructor(
    private readonly categories: CategoriesService,
    private readonly keys: SubjectKeys,
  ) {}

  async export(tx: Tx, subject: Subject, full: boolean): Promise<SubjectExport> {
    return {
      data: valuesOf(tx, subject, this.keys),
      ...(full && { full: { categories: this.purposes(tx, subject) } }),
    };
  }

  async exportAll(tx: Tx, subjects: readonly Subject[]): Promise<(SubjectExport | undefined)[]> {
    const values = await smallValues(tx, subjects);
    return subjects.map((subject, at) => {
      const rows = values[at];
      return rows && { data: opened(tx, subject, this.keys, rows) };
    });
  }

  erase(tx: Tx, subjects: readonly Subject[]): Promise<readonly ErasedCategory[]> {
    const among = amongSubjects(tx, subjects);
    return tx.all<ErasedCategory>(
      `DELETE FROM user_data WHERE ${among.sql} RETURNING bot_id, guild_id, user_id, category_key AS category`,
      ...among.values,
    );
  }

  /** What each stored category is for, and what its values mean (GDPR Art. 15(1)(a), (b), (d)); one by one. */
  private async *purposes(tx: Tx, { botId, guildId, userId }: Subject): AsyncGenerator<object> {
    const rows = await tx.all<{ category_key: string }>(
      `SELECT category_key FROM user_data WHERE ${SUBJECT_WHERE} ORDER BY category_key`,
      botId,
      guildId,
      userId,
    );
    for (const { category_key: stored } of rows) {
      const category = await this.categories.find(tx, botId, stored);
      // Deleted meanwhile, with its values.
      if (category === null) continue;
      yield {
        key: category.key,
        label_de: category.labelDe,
        label_en: category.labelEn,
        ...(category.labels !== null && { labels: category.labels }),
        description: category.description,
        ...category.purposes,
        legal_basis: category.legalBasis,
        ...consentFree(category),
        retention_days: category.retentionDays,
        fields: category.fields,
      };
    }
  }
}

/** In the order of their keys, a batch at a time, so that no export is too large for the memory. */
async function* valuesOf(
  tx: Tx,
  subject: Subject,
  keys: SubjectKeys,
): AsyncGenerator<readonly [string, string]> {
  const { botId, guildId, userId } = subject;
  const read = (after?: StoredValue): Promise<StoredValue[]> =>
    tx.all(
      `SELECT category_key, value FROM user_data WHERE ${SUBJECT_WHERE} AND category_key > ? ORDER BY category_key LIMIT ${BATCH}`,
      ...[botId, guildId, userId, after?.category_key ?? ''],
    );
  yield* opened(tx, subject, keys, eachOf(BATCH, read));
}

/** @throws ApiError 500 with the categories whose values cannot be decrypted, after the others */
async function* opened(
  tx: Tx,
  subject: Subject,
  keys: SubjectKeys,
  rows: Iterable<StoredValue> | AsyncIterable<StoredValue>,
): AsyncGenerator<readonly [string, string]> {
  // Without a key that opens, every category is named.
  const key = await keys.find(subject, tx).catch(unlessDamaged);
  const unreadable: string[] = [];
  for await (const row of rows) {
    const json = readValue(key, subject, row.category_key, row.value);
    if (json === undefined) unreadable.push(row.category_key);
    else yield [row.category_key, json];
  }
  requireReadable(unreadable);
}

const SMALL = `SELECT category_key, CASE WHEN sum(octet_length(value)) OVER () <= ${SMALL_BYTES} THEN value END AS value
  FROM user_data WHERE ${SUBJECT_WHERE} ORDER BY category_key`;

/** A row of {@link SMALL}. */
interface Sized {
  readonly category_key: string;
  readonly value: string | null;
}
const isSmall = (row: Sized): row is StoredValue => row.value !== null;

/** The values of each subject in the order of their keys; undefined for a subject whose values are large. PostgreSQL only. */
async function smallValues(tx: Tx, subjects: readonly Subject[]): Promise<(StoredValue[] | undefined)[]> {
  const found = await tx.each<Sized>(SMALL, subjects.map(subjectValues));
  return found.map((rows) => (rows.every(isSmall) ? rows : undefined));
}
