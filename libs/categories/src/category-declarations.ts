import { Injectable } from '@nestjs/common';
import type { Tx } from '@app/database';
import type { DataField } from './category.entity';
import { DeclaredValues } from './declared-values';

/** Limit of compiled declarations in memory, in characters of their texts. */
const COMPILED_MAX_LENGTH = 8 * 1024 * 1024;

const FIND_ALL = `SELECT given.place, categories.fields
  FROM unnest(?::text[], ?::text[]) WITH ORDINALITY AS given (bot_id, key, place)
  JOIN categories ON categories.bot_id = given.bot_id AND categories.key = given.key
  ORDER BY categories.bot_id, categories.key FOR KEY SHARE OF categories SKIP LOCKED`;

/** Compiled declarations of categories. Each is compiled once and read in the unit that stores. */
@Injectable()
export class CategoryDeclarations {
  private readonly compiled = new Map<string, DeclaredValues>();
  private compiledLength = 0;

  /** A declaration, locked until the unit ends; undefined for an unknown category. */
  async find(tx: Tx, botId: string, key: string): Promise<DeclaredValues | undefined> {
    const found = await tx.get<{ fields: string }>(
      'SELECT fields FROM categories WHERE bot_id = ? AND key = ? FOR KEY SHARE',
      botId,
      key,
    );
    return found === undefined ? undefined : this.of(found.fields);
  }

  /** {@link find} for several subjects; on PostgreSQL undefined also for a locked category. */
  async findAll(
    tx: Tx,
    wanted: readonly { readonly botId: string; readonly key: string }[],
  ): Promise<(DeclaredValues | undefined)[]> {
    if (tx.engine === 'sqlite') return this.findEach(tx, wanted);
    const rows = await tx.all<{ place: number; fields: string }>(
      FIND_ALL,
      wanted.map(({ botId }) => botId),
      wanted.map(({ key }) => key),
    );
    const found = new Array<DeclaredValues | undefined>(wanted.length).fill(undefined);
    for (const { place, fields } of rows) found[place - 1] = this.of(fields);
    return found;
  }

  /** Each category once. */
  private async findEach(
    tx: Tx,
    wanted: readonly { readonly botId: string; readonly key: string }[],
  ): Promise<(DeclaredValues | undefined)[]> {
    const found = new Map<string, DeclaredValues | undefined>();
    for (const { botId, key } of wanted)
      if (!found.has(`${botId} ${key}`)) found.set(`${botId} ${key}`, await this.find(tx, botId, key));
    return wanted.map(({ botId, key }) => found.get(`${botId} ${key}`));
  }

  private of(fields: string): DeclaredValues {
    return this.compiled.get(fields) ?? this.compile(fields);
  }

  private compile(fields: string): DeclaredValues {
    this.compiledLength += fields.length;
    if (this.compiledLength > COMPILED_MAX_LENGTH) {
      this.compiled.clear();
      this.compiledLength = fields.length;
    }
    const declared = new DeclaredValues(JSON.parse(fields) as DataField[]);
    this.compiled.set(fields, declared);
    return declared;
  }
}
