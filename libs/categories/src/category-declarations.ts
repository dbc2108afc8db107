import { Injectable } from '@nestjs/common';
import type { Tx } from '@app/database';
import type { DataField } from './category.entity';
import { DeclaredValues } from './declared-values';

/** Declarations kept compiled at most, by the length of their texts. */
const COMPILED_MAX_LENGTH = 8 * 1024 * 1024;

const FIND_ALL = `SELECT given.place, categories.fields
  FROM unnest(?::text[], ?::text[]) WITH ORDINALITY AS given (bot_id, key, place)
  JOIN categories ON categories.bot_id = given.bot_id AND categories.key = given.key
  ORDER BY categories.bot_id, categories.key FOR KEY SHARE OF categories SKIP LOCKED`;

/** What each category declares, ready to check values with; compiled once per declaration, read in the storing unit. */
@Injectable()
export class CategoryDeclarations {
  private readonly compiled = new Map<string, DeclaredValues>();
  private compiledLength = 0;

  /** A declaration, held until the unit ends; undefined for a category that is not declared. */
  async find(tx: Tx, botId: string, key: string): Promise<DeclaredValues | undefined> {
    const found = await tx.get<{ fields: string }>(
      'SELECT fields FROM categories WHERE bot_id = ? AND key = ? FOR KEY SHARE',
      botId,
      key,
    );
    return found === undefined ? undefined : this.of(found.fields);
  }

  /** {@link find} of several at once, undefined also for one that would have to be waited for; PostgreSQL alone. */
  async findAll(
    tx: Tx,
    wanted: readonly { readonly botId: string; readonly key: string }[],
  ): Promise<(DeclaredValues | undefined)[]> {
    const rows = await tx.all<{ place: number; fields: string }>(
      FIND_ALL,
      wanted.map(({ botId }) => botId),
      wanted.map(({ key }) => key),
    );
    const found = new Array<DeclaredValues | undefined>(wanted.length).fill(undefined);
    for (const { place, fields } of rows) found[place - 1] = this.of(fields);
    return found;
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
