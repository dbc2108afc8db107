import { Injectable } from '@nestjs/common';
import { type Tx, UnitOfWork } from '@app/database';

/** The last place given away, whether or not its event is committed. */
const LAST_PLACE = `SELECT last_value - CASE WHEN is_called THEN 0 ELSE 1 END AS seq FROM audit_events_seq`;
/** Numbers of transactions exceed what a JavaScript number holds: they are compared as texts of one length. */
const TRANSACTIONS = `SELECT lpad(pg_current_xact_id()::text, 20, '0') AS own,
  lpad(pg_snapshot_xmin(pg_current_snapshot())::text, 20, '0') AS oldest`;

interface Note {
  readonly seq: number;
  readonly xid: string;
}

export interface Look {
  /** No event committed before this look stands above it in the log. */
  readonly upTo: number;
  /** No event can come in at or below it any more. */
  readonly settled: number;
}

/**
 * Says up to where the order of the log stands still. On PostgreSQL an event takes its place before its transaction
 * commits, so that one may come in below another that is there already. Whoever has a place had the number of its
 * transaction before (audit.sql.ts): once no transaction is under way that is as old as a look at the last place, no
 * event can come in at or below that.
 */
@Injectable()
export class SettledOrder {
  private readonly notes: Note[] = [];
  private settled = 0;

  constructor(private readonly unitOfWork: UnitOfWork) {}

  look(): Promise<Look> {
    return this.unitOfWork.write((tx) => this.lookIn(tx));
  }

  private async lookIn(tx: Tx): Promise<Look> {
    // Units on SQLite take turns.
    if (tx.engine === 'sqlite') return { upTo: 0, settled: Number.MAX_SAFE_INTEGER };
    // In this order: a number of its own that is younger than every transaction with one of these places.
    const place = await tx.get<{ seq: number }>(LAST_PLACE);
    const { own = '', oldest = '' } = (await tx.get<{ own: string; oldest: string }>(TRANSACTIONS)) ?? {};
    const note = { seq: place?.seq ?? 0, xid: own };
    tx.afterCommit(() => this.notes.push(note));
    for (let first = this.notes[0]; first !== undefined && first.xid <= oldest; first = this.notes[0]) {
      this.settled = Math.max(this.settled, first.seq);
      this.notes.shift();
    }
    return { upTo: note.seq, settled: this.settled };
  }
}
