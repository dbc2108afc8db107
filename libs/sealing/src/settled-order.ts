import { Injectable } from '@nestjs/common';
import { type Tx, UnitOfWork } from '@app/database';

/** The last place given away, whether or not its event is committed. */
const LAST_PLACE = `SELECT last_value - CASE WHEN is_called THEN 0 ELSE 1 END AS seq FROM audit_events_seq`;
/** Transactions that append events, or change or remove some: each holds the lock on the table until its end. */
const WRITERS = `SELECT virtualtransaction AS id FROM pg_locks
  WHERE relation = 'audit_events'::regclass AND mode = 'RowExclusiveLock'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** A place, and who was writing when it was the last one. */
interface Note {
  readonly seq: number;
  readonly writers: readonly string[];
}

export interface Look {
  /** No event committed before this look stands above it in the log. */
  readonly upTo: number;
  /** No event can come in at or below it any more. */
  readonly settled: number;
}

/**
 * Says up to where the order of the log stands still. On PostgreSQL an event takes its place before its transaction
 * commits, so that one may come in below another that is there already. PostgreSQL locks the table before the statement
 * that appends takes a place: once every transaction has ended that held the lock after a look at the last place, no
 * event can come in at or below that.
 */
@Injectable()
export class SettledOrder {
  private notes: Note[] = [];
  private settled = 0;
  /** The look that is under way, and the one behind it. */
  private present: Promise<unknown> = Promise.resolve();
  private next: Promise<Look> | undefined;

  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** One after the other, since who writes is compared with earlier notes alone; whoever waits shares the next one. */
  look(): Promise<Look> {
    if (this.next === undefined) {
      this.next = this.present.then(() => this.begin());
      this.present = this.next.catch(() => this.forget());
    }
    return this.next;
  }

  private begin(): Promise<Look> {
    this.next = undefined;
    return this.unitOfWork.read((tx) => this.lookIn(tx));
  }

  /** What was known counts for nothing on another server, as there is after a failover. */
  private forget(): void {
    this.notes = [];
    this.settled = 0;
  }

  private async lookIn(tx: Tx): Promise<Look> {
    // Units on SQLite take turns.
    if (tx.engine === 'sqlite') return { upTo: 0, settled: Number.MAX_SAFE_INTEGER };
    // In this order: whoever has taken one of these places, and has not ended, is among the writers.
    const upTo = (await tx.get<{ seq: number }>(LAST_PLACE))?.seq ?? 0;
    const writers = (await tx.all<{ id: string }>(WRITERS)).map(({ id }) => id);
    const writing = new Set(writers);
    // Places that were not on the disk when the server fell are given away once more.
    if (upTo < (this.notes.at(-1)?.seq ?? this.settled)) this.forget();
    this.notes.push({ seq: upTo, writers });
    const open = this.notes.findIndex((note) => note.writers.some((id) => writing.has(id)));
    const ended = this.notes.splice(0, open < 0 ? this.notes.length : open);
    this.settled = Math.max(this.settled, ...ended.map(({ seq }) => seq));
    return { upTo, settled: this.settled };
  }
}
