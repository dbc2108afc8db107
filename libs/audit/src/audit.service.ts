import { Injectable, Logger } from '@nestjs/common';
import { type StoredKey, SubjectDigests, type SubjectKey } from '@app/crypto';
import { pages, type Tx, UnitOfWork } from '@app/database';
import { Page } from '@app/http';
import { type AuditEventType, Clock, Random } from '@app/kernel';
import { isDigest, UnreadableSecretError } from '@app/primitives';
import { ERASED_ID, type Subject } from '@app/subjects';
import type { AuditSource } from './audit-event.entity';
import type { AuditEventsView, AuditEventView, AuditQuery } from './audit.dto';
import { countOf, type ListedEvent, eventsOf, filterOf, pageOf } from './audit.reading';
import { appendEvents, conditionOf, type NewEvent } from './audit.sql';
import { EventDetails } from './event-details';
import { type OwnEventType, requireDeclared } from './event-types';
import { UnsealedBots } from './unsealed-bots';

/** Events of one subject read by one statement. */
const BATCH = 100;

/** The audit log: every act of the service writes its event in its own transaction, so that neither is there alone. */
@Injectable()
export class AuditService {
  private readonly logger = new Logger(AuditService.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly details: EventDetails,
    private readonly digests: SubjectDigests,
    private readonly unsealed: UnsealedBots,
  ) {}

  /**
   * Appends one event inside the transaction of the act. A module records its own types, which it has declared by
   * `declareEventTypes`.
   */
  async record(
    tx: Tx,
    subject: Subject,
    type: AuditEventType | OwnEventType,
    details: object | null = null,
    source: AuditSource = 'service',
  ): Promise<AuditEventView> {
    const id = this.random.uuid();
    const event = this.event(subject, type, id, await this.details.encrypt(tx, subject, id, details), source);
    await this.append(tx, [event]);
    return viewOf(event, details);
  }

  /**
   * {@link record} for a subject whose key is destroyed. The event does not show who the subject was; only a query for
   * the ids of this subject finds it.
   */
  async recordErased(tx: Tx, subject: Subject, type: AuditEventType, details: object): Promise<string> {
    const id = this.random.uuid();
    const erased = this.digests.digested(subject);
    const encrypted = this.details.encryptErased(erased, id, details);
    const event = { ...this.event(subject, type, id, encrypted), subject: erased };
    await this.append(tx, [event]);
    return event.createdAt;
  }

  /** {@link record} for several subjects, in as few statements as the engine allows. */
  async recordAll(
    tx: Tx,
    acts: readonly {
      readonly subject: Subject;
      readonly type: AuditEventType | OwnEventType;
      readonly details: object;
    }[],
  ): Promise<void> {
    await this.details.prepare(
      tx,
      acts.map(({ subject }) => subject),
    );
    const events: NewEvent[] = [];
    for (const { subject, type, details } of acts) {
      const id = this.random.uuid();
      events.push(this.event(subject, type, id, await this.details.encrypt(tx, subject, id, details)));
    }
    await this.append(tx, events);
  }

  /** One page, newest first, with the exact total. */
  list(botId: string, query: AuditQuery): Promise<AuditEventsView> {
    const page = new Page(query);
    const filter = filterOf(this.digests, botId, query);
    return this.unitOfWork.read(async (tx) => {
      const total = await countOf(tx, botId, query, filter);
      // At most the rest of the total: a search for one event more would read all others.
      const size = Math.min(page.size, total - page.offset);
      const rows = size > 0 ? await pageOf(tx, filter, size, page.offset) : [];
      const events = rows.map(({ key_id: id, key_sealed: sealed, ...row }) =>
        this.view(botId, row, id === null || sealed === null ? undefined : { id, sealed }, query),
      );
      return { events, pagination: page.of(total) };
    });
  }

  /** Every event of a subject, oldest first, read in parts. */
  async *ofSubject(tx: Tx, subject: Subject): AsyncGenerator<AuditEventView> {
    const { botId, guildId, userId } = subject;
    const key = await this.details.keyOf(subject);
    const known = { user_id: userId, guild_id: guildId };
    const filter = filterOf(this.digests, botId, known);
    for await (const rows of pages<ListedEvent & { seq: number }>(BATCH, (after) =>
      eventsOf(tx, filter, after?.seq ?? 0, BATCH),
    ))
      for (const row of rows) yield this.view(botId, row, key, known);
  }

  /** Removes ids and details from the events of a subject. Type and time of each act remain. */
  async eraseSubject(tx: Tx, subject: Subject): Promise<void> {
    const { botId, guildId, userId } = subject;
    const erased = this.digests.digested(subject);
    await tx.run(
      `UPDATE audit_events SET user_id = ?, guild_id = ?, details = NULL
       WHERE ${conditionOf(tx.engine, ['user_id', 'guild_id'])}`,
      ...[erased.userId, erased.guildId, botId, userId, guildId],
    );
  }

  private async append(tx: Tx, events: readonly NewEvent[]): Promise<void> {
    await appendEvents(tx, events);
    for (const { subject } of events) tx.afterCommit(() => this.unsealed.note(subject.botId));
  }

  private event(
    subject: Subject,
    type: AuditEventType | OwnEventType,
    id: string,
    details: string | null,
    source: AuditSource = 'service',
  ): NewEvent {
    requireDeclared(type);
    const createdAt = this.clock.nowIso();
    return { subject, countedGuildId: subject.guildId, id, type, source, details, createdAt };
  }

  /** Shows an erased id only to a caller that named it in the query. */
  private view(
    botId: string,
    row: ListedEvent,
    key: SubjectKey | StoredKey | undefined,
    asked: Pick<AuditQuery, 'user_id' | 'guild_id'>,
  ): AuditEventView {
    const details = this.detailsOf(botId, row, key);
    const isUnreadable = row.details !== null && details === null;
    if (isUnreadable) this.logger.error(`The details of audit event ${row.id} cannot be read`);
    const isErased = isDigest(row.user_id);
    // By name: a row may have columns that are no field of an event.
    return {
      id: row.id,
      guild_id: isErased ? (asked.guild_id ?? ERASED_ID) : row.guild_id,
      user_id: isErased ? (asked.user_id ?? ERASED_ID) : row.user_id,
      event_type: row.event_type,
      source: row.source,
      details,
      created_at: row.created_at,
      ...(isErased && { erased: true }),
      ...(isUnreadable && { unreadable: true }),
    };
  }

  /** Null without details and for details that cannot be decrypted: damage to one event or key hides no other event. */
  private detailsOf(botId: string, row: ListedEvent, key: SubjectKey | StoredKey | undefined): object | null {
    try {
      return JSON.parse(this.details.decrypt(botId, row, key) ?? 'null') as object | null;
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof UnreadableSecretError) return null;
      throw error;
    }
  }
}

function viewOf({ subject, id, type, source, createdAt }: NewEvent, details: object | null): AuditEventView {
  const { guildId, userId } = subject;
  return { id, guild_id: guildId, user_id: userId, event_type: type, source, details, created_at: createdAt };
}
