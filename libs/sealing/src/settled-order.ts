import { Injectable } from '@nestjs/common';
import { type Tx, UnitOfWork } from '@app/database';

/** The last place given to an event, committed or not, and the server that says so. */
const LAST_PLACE = `SELECT last_value - CASE WHEN is_called THEN 0 ELSE 1 END AS seq,
  pg_postmaster_start_time()::text AS server FROM audit_events_seq`;
/** Transactions that append events, or change or remove some: each holds the lock on the table until its end. */
const WRITERS = `SELECT virtualtransaction AS id FROM pg_locks
  WHERE relation = 'audit_events'::regclass AND mode = 'RowExclusiveLock'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** A place, and the writers at the time when it was the last one. */
interface Note {
  readonly seq: number;
  readonly writers: readonly string[];
}

interface Look {
  /** Every event committed before this look has a place up to this one. */
  readonly upTo: number;
  /** No further event can get a place up to this one. */
  readonly settled: number;
}

/**
 * Finds the place up to which the order of the log is final. On PostgreSQL an event takes its place before its
 * transaction commits, so that an event can appear before others that are visible already. The statement that appends
 * locks the table before it takes a place. Once all transactions have ended that held this lock at the time of a look,
 * no further event can appear up to the last place of that look.
 */
@Injectable()
export class SettledOrder {
  private notes: Note[] = [];
  private settled = 0;
  /** The server of the last look, by the time of its start. */
  private server: string | undefined;
  /** The present look and the one queued after it. */
  private present: Promise<unknown> = Promise.resolve();
  private next: Promise<Look> | undefined;

  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** Looks run one after the other, since each compares writers with earlier notes. Waiting callers share the next look. */
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

  /** Discards the notes: after a failover they belong to another server. */
  private forget(): void {
    this.notes = [];
    this.settled = 0;
  }

  private async lookIn(tx: Tx): Promise<Look> {
    // Units on SQLite take turns.
    if (tx.engine === 'sqlite') return { upTo: 0, settled: Number.MAX_SAFE_INTEGER };
    // In this order: a transaction with one of these places that has not ended is among the writers.
    const { seq: upTo = 0, server } = (await tx.get<{ seq: number; server: string }>(LAST_PLACE)) ?? {};
    const writers = (await tx.all<{ id: string }>(WRITERS)).map(({ id }) => id);
    const writing = new Set(writers);
    // A server that crashed, or a standby in its place, gives places again that had not reached it. A process that looks
    // seldom finds the places beyond its last look again.
    if (server !== this.server || upTo < (this.notes.at(-1)?.seq ?? this.settled)) this.forget();
    this.server = server;
    this.notes.push({ seq: upTo, writers });
    const open = this.notes.findIndex((note) => note.writers.some((id) => writing.has(id)));
    const ended = this.notes.splice(0, open < 0 ? this.notes.length : open);
    this.settled = Math.max(this.settled, ...ended.map(({ seq }) => seq));
    return { upTo, settled: this.settled };
  }
}
