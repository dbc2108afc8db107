import { Injectable } from '@nestjs/common';
import { SubjectKeys } from '@app/crypto';
import { HoldsPlainRows, type PlainRows, type PlainRowsHolder, type Tx } from '@app/database';
import { sealValue } from './stored-value';

/** Values that are looked at in one unit. */
const BATCH = 100;

const ROWS = `SELECT guild_id, user_id, category_key, CASE WHEN value LIKE 's1.%' THEN NULL ELSE value END AS value
  FROM user_data WHERE bot_id = ?`;
const ORDER = `ORDER BY guild_id, user_id, category_key LIMIT ${BATCH}`;
const BEHIND = 'AND (guild_id, user_id, category_key) > (?, ?, ?)';
const SEAL = `UPDATE user_data SET value = ?
  WHERE bot_id = ? AND guild_id = ? AND user_id = ? AND category_key = ? AND value = ?`;

interface Row {
  readonly guild_id: string;
  readonly user_id: string;
  readonly category_key: string;
  /** Null for one that is sealed. */
  readonly value: string | null;
}

/** Seals values that were stored before subjects had keys. */
@Injectable()
@HoldsPlainRows()
export class PlainValues implements PlainRowsHolder {
  readonly isWrittenOver = true;

  constructor(private readonly keys: SubjectKeys) {}

  async next(tx: Tx, botId: string, after: string): Promise<PlainRows> {
    const rows =
      after === ''
        ? await tx.all<Row>(`${ROWS} ${ORDER}`, botId)
        : await tx.all<Row>(`${ROWS} ${BEHIND} ${ORDER}`, botId, ...(JSON.parse(after) as string[]));
    const last = rows.at(-1);
    const plain = rows.filter(({ value }) => value !== null);
    return {
      next:
        last === undefined || rows.length < BATCH
          ? undefined
          : JSON.stringify([last.guild_id, last.user_id, last.category_key]),
      plain: plain.length,
      subjects: plain.map((row) => subjectOf(botId, row)),
      seal: (writing) => this.seal(writing, botId, plain),
    };
  }

  /** Whoever has stored anew meanwhile has sealed it, and whoever was erased has no key. */
  private async seal(tx: Tx, botId: string, rows: readonly Row[]): Promise<number> {
    const keys = await this.keys.allInForce(
      tx,
      rows.map((row) => subjectOf(botId, row)),
    );
    const sealed = await Promise.all(
      rows.map(async (row, at) => {
        const { guild_id: guildId, user_id: userId, category_key: category, value } = row;
        const key = keys[at];
        if (value === null || key === undefined) return 0;
        const text = sealValue(key, subjectOf(botId, row), category, value);
        return tx.run(SEAL, text, botId, guildId, userId, category, value);
      }),
    );
    return sealed.reduce((sum, count) => sum + count, 0);
  }
}

function subjectOf(botId: string, { guild_id: guildId, user_id: userId }: Row) {
  return { botId, guildId, userId };
}
