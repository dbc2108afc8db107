import { Injectable } from '@nestjs/common';
import { EVENT_KEY, InstallationKeys, type JoinedKey, type SubjectKey, SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import { subjectAt } from '@app/subjects';
import { EventCommitments, type OpenEvent, type StoredEvent } from './event-commitments';

const EVENTS = `SELECT seq, event.id, event.guild_id, event.user_id, event_type, source, details, event.created_at,
    ${EVENT_KEY.columns}
  FROM audit_events event ${EVENT_KEY.join}
  WHERE event.bot_id = ? AND seq > ?`;
const SELECT = `${EVENTS} AND seq <= ? ORDER BY seq LIMIT ?`;
const SELECT_END = `${EVENTS} AND event.user_id = ? AND event.guild_id = ? AND event_type = 'deletion_completed'
  ORDER BY seq LIMIT 1`;

/** A row of the log. */
export type EventRow = StoredEvent & JoinedKey;

/** Rows of the log and the keys of their subjects, in the same order. */
export interface StoredEvents {
  readonly rows: readonly EventRow[];
  readonly keys: readonly (SubjectKey | undefined)[];
}

/** Reads events and decrypts their details. */
@Injectable()
export class EventOpener {
  readonly commitments: EventCommitments;

  constructor(
    private readonly keys: SubjectKeys,
    service: InstallationKeys,
  ) {
    this.commitments = new EventCommitments(service.digest, service.installation);
  }

  /** At most `limit` events of a bot after the place `after`, up to `last`, in order. */
  async stored(tx: Tx, botId: string, after: number, last: number, limit: number): Promise<StoredEvents> {
    const rows = await tx.all<EventRow>(SELECT, botId, after, last, limit);
    return { rows, keys: rows.map((row) => this.keyOf(botId, row)) };
  }

  /** {@link EventOpener.stored}, decrypted before a key can be destroyed. */
  async read(tx: Tx, botId: string, after: number, last: number, limit: number): Promise<OpenEvent[]> {
    const rows = await tx.all<EventRow>(SELECT, botId, after, last, limit);
    return rows.map((row) => this.commitments.open(botId, row, this.keyOf(botId, row)));
  }

  /** The next end of an erasure of the subject of an event; undefined while none is in the log. */
  async endAfter(
    tx: Tx,
    botId: string,
    { seq, user_id, guild_id }: OpenEvent,
  ): Promise<OpenEvent | undefined> {
    const row = await tx.get<EventRow>(SELECT_END, botId, seq, user_id, guild_id);
    return row && this.commitments.open(botId, row, undefined);
  }

  /** Undefined for a damaged key, so that the log of its bot is sealed all the same. */
  private keyOf(botId: string, row: EventRow): SubjectKey | undefined {
    return this.keys.openJoined(subjectAt(botId, row), row);
  }
}
