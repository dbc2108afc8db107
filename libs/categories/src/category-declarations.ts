import { Injectable } from '@nestjs/common';
import { finding, type Tx } from '@app/database';
import type { DataField } from './category.entity';
import { DeclaredValues } from './declared-values';

/** Limit of compiled declarations in memory, in characters of their texts. */
const COMPILED_MAX_LENGTH = 8 * 1024 * 1024;

const FIND = finding<{ readonly fields: string }>(
  'categories',
  ['bot_id', 'key'],
  ['fields'],
  'FOR KEY SHARE',
);

/** Compiled declarations of categories. Each is compiled once and read in the unit that stores. */
@Injectable()
export class CategoryDeclarations {
  private readonly compiled = new Map<string, DeclaredValues>();
  private compiledLength = 0;

  /**
   * Declarations, locked until the unit ends; undefined for an unknown category, and, unless `isAlone`, for one that another
   * unit has locked.
   */
  async find(
    tx: Tx,
    wanted: readonly { readonly botId: string; readonly key: string }[],
    isAlone: boolean,
  ): Promise<readonly (DeclaredValues | undefined)[]> {
    const found = await FIND(
      tx,
      wanted.map(({ botId, key }) => [botId, key]),
      isAlone,
    );
    return found.map((row) => row && this.of(row.fields));
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
