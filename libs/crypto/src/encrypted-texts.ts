import { setImmediate as nextTurn } from 'node:timers/promises';
import { pages, type Tx, UnitOfWork } from '@app/database';
import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { contextOfSecret } from './installation-keys';
import { keyIdOf } from './keyring';
import { contextOfKey } from './subject-key';

/** A column of texts that the Keyring encrypts. */
export interface EncryptedColumn {
  readonly table: string;
  readonly column: string;
  /** The primary key of the table. */
  readonly key: readonly string[];
  /** The context with which the Keyring encrypted the text of a row. */
  readonly contextOf: (row: Readonly<Record<string, string>>) => string;
}

/** A provider that stores texts encrypted by the Keyring, marked with {@link HoldsEncryptedTexts}. */
export interface EncryptedTextHolder {
  readonly columns: readonly EncryptedColumn[];
}

/** Marks a provider as an {@link EncryptedTextHolder}. A change of the master key rewraps its texts. */
export const HoldsEncryptedTexts = DiscoveryService.createDecorator();

/** An encrypted text with its place in the database. */
export interface SealedText {
  /** The values of the primary key. */
  readonly at: readonly string[];
  readonly sealed: string;
  readonly context: string;
}

const SUBJECT_KEYS: EncryptedColumn = {
  table: 'keys.subject_keys',
  column: 'sealed',
  key: ['id'],
  contextOf: ({ id = '' }) => contextOfKey(id),
};
const SERVICE_KEYS: EncryptedColumn = {
  table: 'keys.service_keys',
  column: 'sealed',
  key: ['name', 'id'],
  contextOf: ({ name = '', id = '' }) => contextOfSecret(name, id),
};

/** The primary key of a text, and the master key that has sealed it. */
type Counted = Readonly<Record<string, string>> & { readonly key_id: string };

/** Texts counted at once. */
const PAGE = 5_000;

/** The condition for the rows that follow a key; empty for the first page. */
const following = (key: readonly string[], after: readonly string[]): string =>
  after.length === 0 ? '' : `AND (${key.join(', ')}) > (${key.map(() => '?').join(', ')})`;

/** Every text in the database that is encrypted with a master key, whichever module stores it. */
@Injectable()
export class EncryptedTexts {
  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * The keys of the installation are last, and rewrapped after all other columns: every start decrypts them first, so a
   * start with keys that cannot decrypt the rest fails.
   */
  columns(): readonly EncryptedColumn[] {
    const others = this.discovery
      .getProviders({ metadataKey: HoldsEncryptedTexts.KEY })
      .flatMap((wrapper) => (wrapper.instance as EncryptedTextHolder).columns);
    return [SUBJECT_KEYS, ...others, SERVICE_KEYS];
  }

  /** The number of texts that each master key has encrypted. Texts that are written meanwhile may be missing. */
  async counts(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const column of this.columns())
      for await (const rows of pages<Counted>(PAGE, (after) => this.countPage(column, after))) {
        for (const { key_id: keyId } of rows) counts.set(keyId, (counts.get(keyId) ?? 0) + 1);
        // A read of SQLite gives the event loop no turn.
        await nextTurn();
      }
    return counts;
  }

  /**
   * The texts after `after`. Each page has a unit of its own, since on SQLite no erasure is completed while a snapshot of
   * the keys is open.
   */
  private countPage({ table, column, key }: EncryptedColumn, after: Counted | undefined): Promise<Counted[]> {
    const place = after === undefined ? [] : key.map((name) => after[name] ?? '');
    return this.unitOfWork.read((tx) =>
      tx.all<Counted>(
        `SELECT ${key.join(', ')}, ${keyIdOf(column)} AS key_id FROM ${table}
         WHERE ${column} IS NOT NULL ${following(key, place)} ORDER BY ${key.join(', ')} LIMIT ${PAGE}`,
        ...place,
      ),
    );
  }

  /** Texts that another key has encrypted, after `after`, in the order of the primary key. */
  async page(
    tx: Tx,
    { table, column, key, contextOf }: EncryptedColumn,
    keyId: string,
    after: readonly string[],
    limit: number,
  ): Promise<SealedText[]> {
    const rows = await tx.all<Record<string, string> & { encrypted_text: string }>(
      `SELECT ${key.join(', ')}, ${column} AS encrypted_text FROM ${table}
       WHERE ${column} IS NOT NULL AND ${keyIdOf(column)} <> ? ${following(key, after)} ORDER BY ${key.join(', ')} LIMIT ${limit}`,
      ...[keyId, ...after],
    );
    return rows.map((row) => ({
      at: key.map((name) => row[name] ?? ''),
      sealed: row.encrypted_text,
      context: contextOf(row),
    }));
  }

  /** Compare-and-set: resolves to false when the text has changed since it was read. */
  async replace(
    tx: Tx,
    { table, column, key }: EncryptedColumn,
    text: SealedText,
    by: string,
  ): Promise<boolean> {
    const where = [...key, column].map((name) => `${name} = ?`).join(' AND ');
    const sql = `UPDATE ${table} SET ${column} = ? WHERE ${where}`;
    return (await tx.run(sql, by, ...text.at, text.sealed)) === 1;
  }
}
