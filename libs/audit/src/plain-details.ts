import { Injectable } from '@nestjs/common';
import { SubjectKeys } from '@app/crypto';
import { HoldsPlainRows, type PlainRows, type PlainRowsHolder, type Tx } from '@app/database';
import { EventDetails } from './event-details';

/** Events that are looked at in one unit. */
const BATCH = 200;

/** The end of an erasure tells its request alone; a key for it would be one of somebody who is erased. */
const ROWS = `SELECT seq, id, guild_id, user_id,
    CASE WHEN details LIKE 's1.%' OR (source = 'service' AND event_type = 'deletion_completed') THEN NULL ELSE details END AS details
  FROM audit_events WHERE bot_id = ? AND seq > ? ORDER BY seq LIMIT ${BATCH}`;
const SEAL = 'UPDATE audit_events SET details = ? WHERE bot_id = ? AND seq = ? AND details = ?';

interface Row {
  readonly seq: number;
  readonly id: string;
  readonly guild_id: string;
  readonly user_id: string;
  /** Null for sealed ones too. */
  readonly details: string | null;
}

/** Seals details that were written down before subjects had keys. */
@Injectable()
@HoldsPlainRows()
export class PlainDetails implements PlainRowsHolder {
  readonly isWrittenOver = false;

  constructor(
    private readonly keys: SubjectKeys,
    private readonly details: EventDetails,
  ) {}

  async next(tx: Tx, botId: string, after: string): Promise<PlainRows> {
    const rows = await tx.all<Row>(ROWS, botId, Number(after));
    const plain = rows.filter(({ details }) => details !== null);
    return {
      next: rows.length < BATCH ? undefined : String(rows.at(-1)?.seq),
      plain: plain.length,
      subjects: plain.map((row) => subjectOf(botId, row)),
      seal: (writing) => this.seal(writing, botId, plain),
    };
  }

  /** Of whoever was erased meanwhile the details are gone. */
  private async seal(tx: Tx, botId: string, rows: readonly Row[]): Promise<number> {
    const keys = await this.keys.allInForce(
      tx,
      rows.map((row) => subjectOf(botId, row)),
    );
    const sealed = await Promise.all(
      rows.map(async (row, at) => {
        const key = keys[at];
        if (row.details === null || key === undefined) return 0;
        const text = this.details.sealText(key, subjectOf(botId, row), row.id, row.details);
        return tx.run(SEAL, text, botId, row.seq, row.details);
      }),
    );
    return sealed.reduce((sum, count) => sum + count, 0);
  }
}

function subjectOf(botId: string, { guild_id: guildId, user_id: userId }: Row) {
  return { botId, guildId, userId };
}
