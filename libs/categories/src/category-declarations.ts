import { Injectable } from '@nestjs/common';
import { notFound } from '@app/common';
import type { Tx } from '@app/database';
import type { DataField } from './category.entity';
import { DeclaredValues } from './declared-values';

/** Declarations kept compiled at most. */
const COMPILED_MAX = 10_000;

/** What each category declares, ready to check values with; compiled once per declaration, read in the storing unit. */
@Injectable()
export class CategoryDeclarations {
  private readonly compiled = new Map<string, DeclaredValues>();

  /** @throws ApiError 404 for a category that is not declared. */
  async require(tx: Tx, botId: string, key: string): Promise<DeclaredValues> {
    const found = await tx.get<{ fields: string }>(
      'SELECT fields FROM categories WHERE bot_id = ? AND key = ?',
      botId,
      key,
    );
    if (found === undefined) throw notFound('Category');
    let declared = this.compiled.get(found.fields);
    if (declared === undefined) {
      if (this.compiled.size >= COMPILED_MAX) this.compiled.clear();
      declared = new DeclaredValues(JSON.parse(found.fields) as DataField[]);
      this.compiled.set(found.fields, declared);
    }
    return declared;
  }
}
