import { Injectable, Logger } from '@nestjs/common';
import { Cursors, SubjectDigests, type SubjectKey, SubjectKeys } from '@app/crypto';
import { pages, type Tx, UnitOfWork } from '@app/database';
import { ListPage } from '@app/http';
import { type AuditEventType, Clock, Random } from '@app/kernel';
import { encryptedBy, UnreadableSecretError } from '@app/primitives';
import { ERASED_IDS, type NamedSubject, type Subject, subjectAt, type SubjectIds } from '@app/subjects';
import type { AuditSource } from './audit-event.entity';
import type { AuditEventView, AuditQuery } from './audit.dto';
import { countOf, eventsOf, filterBy, filterOf, pageOf, type StoredEvent } from './audit.reading';
import { appendEvents, type NewEvent } from './audit.sql';
import { EventDetails } from './event-details';
import { type OwnEventType, requireDeclared } from './event-types';
import { UnsealedBots } from './unsealed-bots';

/** Events of one subject read by one statement; each may have 8 KiB of details. */
const BATCH = 10;

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
    private readonly keys: SubjectKeys,
    private readonly unsealed: UnsealedBots,
    private readonly cursors: Cursors,
  ) {}

  /**
   * Appends one event inside the transaction of the act. A module records its own types, which it has declared by
   * `declareEventTypes`.
   */
  async record(
    tx: Tx,
    subject: Subject | NamedSubject,
    type: AuditEventType | OwnEventType,
    details: object | null = null,
    source: AuditSource = 'service',
  ): Promise<AuditEventView> {
    const id = this.random.uuid();
    const { text, ids } = await this.details.encrypt(tx, subject, id, details);
    const event = this.event(subject, type, id, text, source);
    await this.append(tx, [event]);
    const { guild_id, user_id } = ids;
    return { id, guild_id, user_id, event_type: type, source, details, created_at: event.createdAt };
  }

  /**
   * {@link recordAll} for subjects whose keys are destroyed. The events do not show who the subjects were; only a query for
   * the ids of a subject finds its event.
   */
  async recordErased(
    tx: Tx,
    acts: readonly { readonly subject: Subject; readonly type: AuditEventType; readonly details: object }[],
    createdAt: string,
  ): Promise<void> {
    const events = acts.map(({ subject, type, details }) => {
      const id = this.random.uuid();
      const text = this.details.encryptErased(subject, id, details);
      return { ...this.event(subject, type, id, text), createdAt };
    });
    await this.append(tx, events);
  }

  /** {@link record} for several subjects, in as few statements as the engine allows; answers the ids of each. */
  async recordAll(
    tx: Tx,
    acts: readonly {
      readonly subject: Subject;
      readonly type: AuditEventType | OwnEventType;
      readonly details: object;
    }[],
  ): Promise<SubjectIds[]> {
    await this.details.prepare(
      tx,
      acts.map(({ subject }) => subject),
    );
    const events: NewEvent[] = [];
    const named: SubjectIds[] = [];
    for (const { subject, type, details } of acts) {
      const id = this.random.uuid();
      const { text, ids } = await this.details.encrypt(tx, subject, id, details);
      events.push(this.event(subject, type, id, text));
      named.push(ids);
    }
    await this.append(tx, events);
    return named;
  }

  /** One page, newest first, with the exact total. */
  list(botId: string, query: AuditQuery): Promise<ListPage> {
    const page = this.cursors.page<[seq: number, left: number]>(botId, 'events', query);
    const filter = filterOf(this.digests, botId, query);
    return this.unitOfWork.read(async (tx) => {
      const total = await page.total(() => countOf(tx, filter));
      // At most what is left: a search for one event more would read all others. Newer events are before the page.
      const [before, left] = page.after ?? [undefined, total - page.offset];
      const size = Math.min(page.limit, left);
      const read = size > 0 ? await pageOf(tx, filter, size, page.offset, before) : [];
      const rows = page.cut(read, ({ seq }) => [Number(seq), left - page.size]);
      const events = rows.map((row) =>
        this.view(botId, row, this.keys.openJoined(subjectAt(botId, row), row), query),
      );
      return new ListPage('events', events, page.of(total));
    });
  }

  /** Every event of a subject, oldest first, read in parts. */
  async *ofSubject(tx: Tx, subject: NamedSubject): AsyncGenerator<AuditEventView> {
    const { botId, ids } = subject;
    const key = await this.keys.find(subject, tx);
    const filter = filterBy(subject);
    for await (const rows of pages(BATCH, (after?: { seq: number }) =>
      eventsOf(tx, filter, after?.seq ?? 0, BATCH),
    ))
      for (const row of rows) yield this.view(botId, { ...row, key_id: key?.id ?? null }, key, ids);
  }

  private async append(tx: Tx, events: readonly NewEvent[]): Promise<void> {
    await appendEvents(tx, events);
    for (const { subject } of events) tx.afterCommit(() => this.unsealed.note(subject.botId));
  }

  private event(
    subject: Subject,
    type: AuditEventType | OwnEventType,
    id: string,
    details: string,
    source: AuditSource = 'service',
  ): NewEvent {
    requireDeclared(type);
    const createdAt = this.clock.nowIso();
    return { subject, id, type, source, details, createdAt };
  }

  /** Shows the ids of an erased subject only to a caller that named them in the query. */
  private view(
    botId: string,
    row: StoredEvent,
    key: SubjectKey | undefined,
    asked: Partial<SubjectIds>,
  ): AuditEventView {
    const details = this.detailsOf(botId, row, key);
    if (details === 'unreadable') this.logger.error(`The details of audit event ${row.id} cannot be read`);
    const by = encryptedBy(row.details);
    const ids = { ...ERASED_IDS, ...asked, ...(by === key?.id && key?.ids) };
    // By name: a row may have columns that are no field of an event.
    return {
      id: row.id,
      guild_id: ids.guild_id,
      user_id: ids.user_id,
      event_type: row.event_type,
      source: row.source,
      details: details === 'unreadable' ? null : details,
      created_at: row.created_at,
      ...(by !== undefined && by !== row.key_id && { erased: true }),
      ...(details === 'unreadable' && { unreadable: true }),
    };
  }

  /** Null without details, and once they are erased. Damage to one event or key hides no other event. */
  private detailsOf(
    botId: string,
    row: StoredEvent,
    key: SubjectKey | undefined,
  ): object | null | 'unreadable' {
    try {
      return JSON.parse(this.details.decrypt(botId, row, key) ?? 'null') as object | null;
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof UnreadableSecretError) return 'unreadable';
      throw error;
    }
  }
}
