import {
  InstallationKeys,
  type JoinedKey,
  type Subject,
  subjectAt,
  type SubjectKey,
  subjectKeyJoin,
  SubjectKeys,
  unlessDamaged,
} from '@app/crypto';
import { ConcurrentChange, type Tx } from '@app/database';
import { Injectable } from '@nestjs/common';
import type { BatchRow } from './audit-batches';
import { type Entry, partHash, type Parts, SALTED_BY, unpacked } from './audit-leaf';
import { EventCommitments, type OpenEvent, type StoredEvent } from './event-commitments';
import type { DisclosedPart, ProvenEventView } from './sealing.dto';

const KEY = subjectKeyJoin('event');
const EVENTS = `SELECT seq, event.id, event.guild_id, event.user_id, event_type, source, details, event.created_at,
    ${KEY.columns}
  FROM audit_events event ${KEY.join}
  WHERE event.bot_id = ? AND seq > ?`;
const SELECT = `${EVENTS} AND seq <= ? ORDER BY seq LIMIT ?`;
const SELECT_END = `${EVENTS} AND event.user_id = ? AND event.guild_id = ? AND event_type = 'deletion_completed'
  ORDER BY seq LIMIT 1`;

/** By the index of the user: that of the guild has the ends of all its users, and SQLite would take it. */
const SELECT_ENDS_AT = `${EVENTS} AND event.user_id = ? AND event.guild_id || '' = ? AND event_type = 'deletion_completed'
  AND event.created_at = ?`;

/** A row of the log. */
export type EventRow = StoredEvent & JoinedKey;

/** Rows of the log and the keys of their subjects, in the same order. */
export interface StoredEvents {
  readonly rows: readonly EventRow[];
  readonly keys: readonly (SubjectKey | undefined)[];
}

/** The events of a batch, and what the batch keeps of each. */
export interface SealedEvents {
  readonly events: readonly OpenEvent[];
  readonly entries: readonly Entry[];
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

  /**
   * At most `limit` events of a bot after the place `after`, up to `last`, in order, for the sealer. The parts of an event that
   * is sealed without its key can never be proved.
   * @throws UnreadableSecretError when the master key of one is missing
   */
  async stored(tx: Tx, botId: string, after: number, last: number, limit: number): Promise<StoredEvents> {
    const rows = await tx.all<EventRow>(SELECT, botId, after, last, limit);
    return { rows, keys: rows.map((row) => this.keyOf(botId, row, unlessDamaged)) };
  }

  /** {@link EventOpener.stored}, decrypted before a key can be destroyed. */
  async read(tx: Tx, botId: string, after: number, last: number, limit: number): Promise<OpenEvent[]> {
    const rows = await tx.all<EventRow>(SELECT, botId, after, last, limit);
    return rows.map((row) => this.commitments.open(botId, row, this.keyOf(botId, row)));
  }

  /** The events of a batch, as {@link EventOpener.read} reads them, and one too many if there are more. */
  async sealed(tx: Tx, { bot_id, first_seq, last_seq, events, entries }: BatchRow): Promise<SealedEvents> {
    return {
      events: await this.read(tx, bot_id, first_seq - 1, last_seq, events + 1),
      entries: unpacked(entries) ?? [],
    };
  }

  /**
   * A sealed event for its bot. Parts that identify an erased user are hidden.
   * @throws ConcurrentChange when its key was destroyed after the reading
   */
  disclosed(event: OpenEvent, { commitment, saltedBy }: Entry): ProvenEventView {
    const { seq, id, event_type, source, created_at, parts, isErased, isClosed } = event;
    const salts = this.commitments.salts(event, saltedBy);
    const isAboutErasure = saltedBy === SALTED_BY.installation;
    return {
      ...{ seq, id, event_type, source, created_at },
      commitment: commitment.toString('base64url'),
      erased: isErased,
      parts:
        salts === undefined || isClosed || isErased !== isAboutErasure
          ? null
          : {
              user: part(salts.user, 'user', parts.user, isAboutErasure),
              guild: part(salts.guild, 'guild', parts.guild, isAboutErasure),
              details: part(salts.details, 'details', parts.details),
            },
    };
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

  /** The ends of erasures of a subject at an ISO time. */
  async endsAt(tx: Tx, { botId, guildId, userId }: Subject, at: string): Promise<OpenEvent[]> {
    const rows = await tx.all<EventRow>(SELECT_ENDS_AT, botId, 0, userId, guildId, at);
    return rows.map((row) => this.commitments.open(botId, row, undefined));
  }

  /** Undefined for a damaged key, so that the log of its bot is sealed all the same. */
  private keyOf(botId: string, row: EventRow, unless?: typeof unlessDamaged): SubjectKey | undefined {
    return this.keys.openJoined(subjectAt(botId, row), row, unless);
  }
}

function part(salt: Buffer, name: keyof Parts, value: string | null, isDigest = false): DisclosedPart {
  // One digest in all events of an erased user would show which events belong together.
  return isDigest
    ? { hash: partHash(salt, name, value).toString('base64url') }
    : { value, salt: salt.toString('base64url') };
}

/**
 * The result of `make`; undefined when a subject key was destroyed after the reading: then the events are erased, and
 * have to be read again.
 */
export async function unlessErased<Made>(make: () => Made | Promise<Made>): Promise<Made | undefined> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof ConcurrentChange) return undefined;
    throw error;
  }
}
