import { Injectable, Logger } from '@nestjs/common';
import {
  Cursors,
  detailsContext,
  encryptedBy,
  ERASED_IDS,
  HoldsSubjectData,
  InstallationKeys,
  type NamedSubject,
  openDetails,
  type Subject,
  subjectAt,
  type SubjectDataHolder,
  SubjectDigests,
  type SubjectExport,
  type SubjectIds,
  type SubjectKey,
  SubjectKeys,
  UnreadableSecretError,
} from '@app/crypto';
import { pages, type Tx, UnitOfWork } from '@app/database';
import { type Actor, ListPage } from '@app/http';
import { Clock, Random } from '@app/kernel';
import type { AuditSource } from './audit-event.entity';
import type { AuditEventView, AuditQuery } from './audit.dto';
import {
  appendEvents,
  countOf,
  eventsOf,
  filterOf,
  type NewEvent,
  pageOf,
  type StoredEvent,
} from './audit.sql';
import { type AnyEventType, requireDeclared } from './event-types';
import { UnsealedBots } from './unsealed-bots';

/** Events of one subject read by one statement; each may have 8 KiB of details. */
const BATCH = 10;

/** The page of users. Its acts also say `via`, as the contract does. */
const PRIVACY_PAGE: Actor = 'privacy_page';

/** An act to record. */
interface Recorded {
  readonly subject: Subject;
  readonly type: AnyEventType;
  readonly details: object | null;
  /** Undefined for an event of the bot, and for one of a team's module that names none. */
  readonly by?: Actor | undefined;
}

/**
 * The audit log: every act of the service writes its event in its own transaction, so that neither is there alone. An export
 * holds all events of its subject; an erasure leaves the fact of each act (GDPR Art. 5(2)), without its details.
 */
@Injectable()
@HoldsSubjectData()
export class AuditService implements SubjectDataHolder {
  readonly tables = ['audit_events'];
  private readonly logger = new Logger(AuditService.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly digests: SubjectDigests,
    private readonly keys: SubjectKeys,
    private readonly service: InstallationKeys,
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
    type: AnyEventType,
    details: object | null = null,
    { source = 'service', by }: { readonly source?: AuditSource; readonly by?: Actor } = {},
  ): Promise<AuditEventView> {
    const key = await this.keys.forWriting(tx, subject);
    const event = this.event(key, { subject, type, details, by }, source);
    await this.append(tx, [event]);
    const { guild_id, user_id } = key.ids ?? ERASED_IDS;
    return {
      id: event.id,
      guild_id,
      user_id,
      event_type: type,
      source,
      details,
      created_at: event.createdAt,
    };
  }

  /** {@link record} for several subjects, in as few statements as the engine allows; returns the ids of each. */
  async recordAll(tx: Tx, acts: readonly Recorded[]): Promise<SubjectIds[]> {
    const keys = await this.keys.allForWriting(
      tx,
      acts.map(({ subject }) => subject),
    );
    await this.append(
      tx,
      acts.map((act, at) => this.event(keys[at] as SubjectKey, act)),
    );
    return keys.map(({ ids }) => ids ?? ERASED_IDS);
  }

  /**
   * {@link recordAll} for subjects whose keys are destroyed, with the key of the installation: the details must not name
   * them. The events do not show who the subjects were; only a query for the ids of a subject finds its event.
   */
  async recordErased(tx: Tx, acts: readonly Recorded[], createdAt: string): Promise<void> {
    const { installation } = this.service;
    await this.append(
      tx,
      acts.map((act) => ({ ...this.event(installation, act), createdAt })),
    );
  }

  /** One page, newest first, with the exact total; `of` a subject whose ids in the query may be unknown. */
  list(botId: string, query: AuditQuery, of?: Subject): Promise<ListPage> {
    const page = this.cursors.page<[seq: number, left: number]>(botId, 'events', query);
    const filter = filterOf(this.digests, botId, query, of);
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

  async export(tx: Tx, subject: NamedSubject, full: boolean): Promise<SubjectExport> {
    return full ? { full: { audit_events: this.ofSubject(tx, subject) } } : {};
  }

  /** Every event of a subject, oldest first, read in parts. */
  private async *ofSubject(tx: Tx, subject: NamedSubject): AsyncGenerator<AuditEventView> {
    const { botId, ids } = subject;
    const key = await this.keys.find(subject, tx);
    const read = (after?: { seq: number }): ReturnType<typeof eventsOf> =>
      eventsOf(tx, subject, after?.seq ?? 0, BATCH);
    for await (const rows of pages(BATCH, read))
      for (const row of rows) yield this.view(botId, { ...row, key_id: key?.id ?? null }, key, ids);
  }

  private async append(tx: Tx, events: readonly NewEvent[]): Promise<void> {
    await appendEvents(tx, events);
    for (const { subject } of events) tx.afterCommit(() => this.unsealed.note(subject.botId));
  }

  private event(
    key: SubjectKey,
    { subject, type, details, by }: Recorded,
    source: AuditSource = 'service',
  ): NewEvent {
    requireDeclared(type);
    const id = this.random.uuid();
    const { botId, guildId, userId } = subject;
    const text = key.encrypt(
      JSON.stringify(by === undefined ? details : named(details, by)),
      detailsContext(botId, guildId, userId, id),
    );
    return { subject, id, type, source, details: text, createdAt: this.clock.nowIso() };
  }

  /** Shows the ids of an erased subject only to a caller that named them in the query. */
  private view(
    botId: string,
    row: StoredEvent,
    key: SubjectKey | undefined,
    asked: Partial<SubjectIds>,
  ): AuditEventView {
    const details = this.detailsOf(botId, row, key);
    if (details === undefined) this.logger.error(`The details of audit event ${row.id} cannot be read`);
    const by = encryptedBy(row.details);
    const ids = { ...ERASED_IDS, ...asked, ...(by === key?.id && key?.ids) };
    // By name: a row may have columns that are no field of an event.
    return {
      id: row.id,
      guild_id: ids.guild_id,
      user_id: ids.user_id,
      event_type: row.event_type,
      source: row.source,
      details: details ?? null,
      created_at: row.created_at,
      ...(by !== undefined && by !== row.key_id && { erased: true }),
      ...(details === undefined && { unreadable: true }),
    };
  }

  /**
   * Null without details, and once they are erased; undefined for details that were changed, or whose key is lost. Damage to
   * one event or key hides no other event.
   */
  private detailsOf(botId: string, row: StoredEvent, key: SubjectKey | undefined): object | null | undefined {
    try {
      return JSON.parse(openDetails(botId, row, this.service.installation, key) ?? 'null') as object | null;
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof UnreadableSecretError) return undefined;
      throw error;
    }
  }
}

function named(details: object | null, actor: Actor): object {
  return { ...details, ...(actor === PRIVACY_PAGE && { via: actor }), actor };
}
