import { Injectable } from '@nestjs/common';
import { notFound } from '@app/common';
import type { Tx } from '@app/database';
import type { DataField } from './category.entity';
import { DeclaredValues } from './declared-values';

/** Declarations kept compiled at most, by the length of their texts. */
const COMPILED_MAX_LENGTH = 8 * 1024 * 1024;

/** What each category declares, ready to check values with; compiled once per declaration, read in the storing unit. */
@Injectable()
export class CategoryDeclarations {
  private readonly compiled = new Map<string, DeclaredValues>();
  private compiledLength = 0;

  /** @throws ApiError 404 for a category that is not declared. */
  async require(tx: Tx, botId: string, key: string): Promise<DeclaredValues> {
    const found = await tx.get<{ fields: string }>(
      'SELECT fields FROM categories WHERE bot_id = ? AND key = ?',
      botId,
      key,
    );
    if (found === undefined) throw notFound('Category');
    return this.compiled.get(found.fields) ?? this.compile(found.fields);
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
