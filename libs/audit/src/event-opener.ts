import { createHmac, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  isDigest,
  type Salts,
  sealedBy,
  ServiceKeys,
  SubjectDigests,
  type SubjectKey,
  SubjectKeys,
  UnreadableSecretError,
} from '@app/crypto';
import type { Subject, Tx } from '@app/database';
import { commitmentOf, framed, type Parts, type Skeleton } from './audit-leaf';
import { SALTED_BY, type SaltedBy } from './batch-entries';
import { EventDetails } from './event-details';

const SELECT = `SELECT seq, event.id, event.guild_id, event.user_id, event_type, source, details, event.created_at,
    stored.id AS key_id, stored.sealed AS key_sealed
  FROM audit_events event LEFT JOIN keys.subject_keys stored
    ON stored.bot_id = event.bot_id AND stored.guild_id = event.guild_id AND stored.user_id = event.user_id
  WHERE event.bot_id = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`;

interface Row extends Skeleton {
  readonly guild_id: string;
  readonly user_id: string;
  readonly details: string | null;
  readonly key_id: string | null;
  readonly key_sealed: string | null;
}

/** An event as it can be read now. */
export interface OpenEvent extends Skeleton {
  readonly botId: string;
  readonly parts: Parts;
  /** Digests stand where its ids stood. */
  readonly isErased: boolean;
  /** It has details that nobody can read. */
  readonly isClosed: boolean;
  readonly key?: SubjectKey;
  readonly saltedBy: SaltedBy;
}

/** Reads events with all that can be known of them, and computes what they are sealed by. */
@Injectable()
export class EventOpener {
  constructor(
    private readonly details: EventDetails,
    private readonly keys: SubjectKeys,
    private readonly service: ServiceKeys,
    private readonly digests: SubjectDigests,
  ) {}

  /** At most `limit` events of a bot behind `after`, up to `last`, in their order. */
  async read(tx: Tx, botId: string, after: number, last: number, limit: number): Promise<OpenEvent[]> {
    const rows = await tx.all<Row>(SELECT, botId, after, last, limit);
    return rows.map((row) => this.open(botId, row));
  }

  /** What stands for the event's parts when it is sealed now, or was sealed like this. */
  commitment(event: OpenEvent, saltedBy: SaltedBy = event.saltedBy): Buffer {
    const salts = this.salts(event, saltedBy);
    return salts === undefined ? randomBytes(32) : commitmentOf(event.parts, salts);
  }

  /** Undefined where they are gone, or never were. */
  salts({ id, key }: OpenEvent, saltedBy: SaltedBy): Salts | undefined {
    if (saltedBy === SALTED_BY.subject) return key?.salts(id);
    return saltedBy === SALTED_BY.nobody ? undefined : this.service.evidence.salts(id);
  }

  /**
   * A keyed hash over whose events they are, the same before and after an erasure: so no digest can be exchanged for
   * another, and nobody can be made out to have been erased.
   */
  identities(botId: string, events: readonly OpenEvent[], salted: readonly SaltedBy[]): string {
    const digests = new Map<string, string>();
    const digest = (kind: 'user' | 'guild', value: string): string => {
      if (isDigest(value)) return value;
      const known = digests.get(kind + value) ?? this.digests.of(botId, kind, value);
      digests.set(kind + value, known);
      return known;
    };
    const hash = createHmac('sha256', this.service.digest).update('audit-identities/');
    for (const [at, { id, parts }] of events.entries())
      hash.update(
        framed([id, digest('user', parts.user), digest('guild', parts.guild), String(salted[at] ?? '')]),
      );
    return hash.digest('base64url');
  }

  private open(botId: string, row: Row): OpenEvent {
    const isErased = isDigest(row.user_id);
    const subject = { botId, guildId: row.guild_id, userId: row.user_id };
    const key = this.keyOf(subject, row.key_id, row.key_sealed);
    const details = this.detailsOf(botId, row, key);
    const isClosed = row.details !== null && details === null;
    return {
      botId,
      seq: row.seq,
      id: row.id,
      event_type: row.event_type,
      source: row.source,
      created_at: row.created_at,
      parts: { user: row.user_id, guild: row.guild_id, details },
      isErased,
      isClosed,
      key,
      saltedBy: this.saltedBy(row.details, isErased, isClosed),
    };
  }

  /** One that is damaged opens nothing more: neither is the log of its bot to stay unsealed for it. */
  private keyOf(subject: Subject, id: string | null, sealed: string | null): SubjectKey | undefined {
    try {
      return id === null || sealed === null ? undefined : this.keys.open(subject, { id, sealed });
    } catch (error) {
      if (error instanceof UnreadableSecretError) return undefined;
      throw error;
    }
  }

  private detailsOf(botId: string, row: Row, key: SubjectKey | undefined): string | null {
    try {
      return this.details.open(botId, row, key);
    } catch (error) {
      if (error instanceof UnreadableSecretError) return null;
      throw error;
    }
  }

  private saltedBy(stored: string | null, isErased: boolean, isClosed: boolean): SaltedBy {
    if (isClosed) return SALTED_BY.nobody;
    if (isErased) return SALTED_BY.erased;
    return stored === null || sealedBy(stored) === undefined ? SALTED_BY.service : SALTED_BY.subject;
  }
}
