import { Injectable } from '@nestjs/common';
import { HoldsPlainRows, type PlainRows, type PlainRowsHolder, type Subject, type Tx } from '@app/database';
import { ErasedSubject } from './erased-subject';

/** Requests that are looked at in one unit. */
const BATCH = 200;

const ROWS = `SELECT id, guild_id, user_id, CASE WHEN status = 'completed' AND subject IS NULL THEN 1 ELSE 0 END AS plain
  FROM deletion_requests WHERE bot_id = ? AND id > ? ORDER BY id LIMIT ${BATCH}`;
/** Those that had failed before. */
const FAILED = `SELECT id FROM deletion_requests
  WHERE bot_id = ? AND guild_id = ? AND user_id = ? AND status = 'failed' AND subject IS NULL AND id < ?`;
const SEAL = `UPDATE deletion_requests SET guild_id = ?, user_id = ?, subject = ?
  WHERE bot_id = ? AND id = ? AND subject IS NULL`;

interface Row {
  readonly id: string;
  readonly guild_id: string;
  readonly user_id: string;
  readonly plain: number;
}

/** Takes the ids of erased users out of requests that were completed when these still stood there in plain. */
@Injectable()
@HoldsPlainRows()
export class PlainRequests implements PlainRowsHolder {
  readonly isWrittenOver = false;

  constructor(private readonly erased: ErasedSubject) {}

  async next(tx: Tx, botId: string, after: string): Promise<PlainRows> {
    const rows = await tx.all<Row>(ROWS, botId, after);
    const plain = rows.filter((row) => row.plain === 1);
    return {
      next: rows.length < BATCH ? undefined : rows.at(-1)?.id,
      plain: plain.length,
      subjects: [],
      seal: (writing) => this.seal(writing, botId, plain),
    };
  }

  private async seal(tx: Tx, botId: string, rows: readonly Row[]): Promise<number> {
    let sealed = 0;
    for (const { id, guild_id: guildId, user_id: userId } of rows) {
      const failed = await tx.all<{ id: string }>(FAILED, botId, guildId, userId, id);
      const subject = { botId, guildId, userId };
      for (const one of [{ id }, ...failed]) sealed += await this.sealOne(tx, subject, one.id);
    }
    return sealed;
  }

  private sealOne(tx: Tx, subject: Subject, id: string): Promise<number> {
    const { guildId, userId, subject: sealed } = this.erased.columnsOf(subject, id);
    return tx.run(SEAL, guildId, userId, sealed, subject.botId, id);
  }
}
