import { Injectable } from '@nestjs/common';
import { type AuditEventType, Clock, Page, Random } from '@app/common';
import { type Engine, type SqlValue, type Subject, type Tx, UnitOfWork } from '@app/database';
import type { AuditEventsView, AuditEventView, AuditQuery } from './audit.dto';
import type { AuditSource } from './audit-event.entity';
import { ALL_GUILDS, appendEvents, conditionOf, type NewEvent } from './audit.sql';

const COLUMNS = 'id, guild_id, user_id, event_type, source, details, created_at';

/** Events read at once where all of a subject are asked for. */
const BATCH = 100;

const FILTERS = ['user_id', 'guild_id', 'event_type'] as const;

interface Row extends Omit<AuditEventView, 'details'> {
  details: string | null;
}

/** The audit log: every act of the service writes its event in its own transaction, so that neither is there alone. */
@Injectable()
export class AuditService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** Appends one event inside the transaction of the act. */
  async record(
    tx: Tx,
    subject: Subject,
    type: AuditEventType,
    details: object | null = null,
    source: AuditSource = 'service',
  ): Promise<AuditEventView> {
    const id = this.random.uuid();
    const createdAt = this.clock.nowIso();
    const event = { subject, id, type, source, details, createdAt };
    await appendEvents(tx, [event]);
    return viewOf(event);
  }

  /** {@link record} of one act for each of several subjects, by as few statements as the engine can. */
  async recordAll(
    tx: Tx,
    acts: readonly { readonly subject: Subject; readonly type: AuditEventType; readonly details: object }[],
  ): Promise<void> {
    const createdAt = this.clock.nowIso();
    const events = acts.map((act) => ({
      ...act,
      id: this.random.uuid(),
      source: 'service' as const,
      createdAt,
    }));
    await appendEvents(tx, events);
  }

  /** One page, newest first, with the exact total. */
  list(botId: string, query: AuditQuery): Promise<AuditEventsView> {
    const page = new Page(query);
    return this.unitOfWork.read(async (tx) => {
      const filter = filterOf(tx.engine, botId, query);
      const total = await countOf(tx, botId, query, filter);
      // Never more than there are: the search for one more that is not there would go through all the others.
      const size = Math.min(page.size, total - page.offset);
      const rows = size > 0 ? await rowsOf(tx, filter, size, page.offset) : [];
      return { events: rows.map(view), pagination: page.of(total) };
    });
  }

  /** Every event of a subject, oldest first, read a batch at a time. */
  async *ofSubject(tx: Tx, { botId, guildId, userId }: Subject): AsyncGenerator<AuditEventView> {
    const where = conditionOf(tx.engine, ['user_id', 'guild_id']);
    for (let after = 0; ;) {
      const rows = await tx.all<Row & { seq: number }>(
        `SELECT seq, ${COLUMNS} FROM audit_events
         WHERE ${where} AND seq > ? ORDER BY seq LIMIT ${BATCH}`,
        ...[botId, userId, guildId, after],
      );
      for (const { seq, ...row } of rows) {
        after = seq;
        yield view(row);
      }
      if (rows.length < BATCH) return;
    }
  }

  /** Removes the details of a subject's events; that the acts took place stays on record. */
  async eraseDetails(tx: Tx, { botId, guildId, userId }: Subject): Promise<void> {
    const where = conditionOf(tx.engine, ['user_id', 'guild_id']);
    await tx.run(
      `UPDATE audit_events SET details = NULL WHERE ${where} AND details IS NOT NULL`,
      botId,
      userId,
      guildId,
    );
  }
}

interface Filter {
  readonly where: string;
  readonly values: readonly SqlValue[];
}

/** Only names of columns go into the text, so that there are eight statements and no more. */
function filterOf(
  engine: Engine,
  botId: string,
  query: Pick<AuditQuery, 'user_id' | 'guild_id' | 'event_type'>,
): Filter {
  const columns = FILTERS.filter((column) => query[column] != null);
  return {
    where: conditionOf(engine, columns),
    values: [botId, ...columns.map((column) => query[column] ?? null)],
  };
}

/** From the kept counts; only the events of one user are counted one by one, in an index alone. */
async function countOf(tx: Tx, botId: string, query: AuditQuery, filter: Filter): Promise<number> {
  if (query.user_id != null) {
    const row = await tx.get<{ total: number }>(
      `SELECT COUNT(*) AS total FROM audit_events WHERE ${filter.where}`,
      ...filter.values,
    );
    return row?.total ?? 0;
  }
  const ofType = query.event_type == null ? '' : ' AND event_type = ?';
  const values = [
    botId,
    query.guild_id ?? ALL_GUILDS,
    ...(query.event_type == null ? [] : [query.event_type]),
  ];
  const row = await tx.get<{ total: number | null }>(
    `SELECT SUM(total) AS total FROM audit_counts WHERE bot_id = ? AND guild_id = ?${ofType}`,
    ...values,
  );
  return Number(row?.total ?? 0);
}

/** Rows before the page are skipped in an index alone: SQLite does so by itself, PostgreSQL has to be told. */
function rowsOf(tx: Tx, { where, values }: Filter, limit: number, offset: number): Promise<Row[]> {
  const ofPage = `FROM audit_events WHERE ${where} ORDER BY seq DESC LIMIT ? OFFSET ?`;
  if (tx.engine === 'sqlite') return tx.all<Row>(`SELECT ${COLUMNS} ${ofPage}`, ...values, limit, offset);
  const [botId = null] = values;
  return tx.all<Row>(
    `SELECT ${COLUMNS} FROM audit_events
     WHERE bot_id = ? AND seq = ANY(ARRAY(SELECT seq ${ofPage})) ORDER BY seq DESC`,
    ...[botId, ...values, limit, offset],
  );
}

function viewOf({ subject, id, type, source, details, createdAt }: NewEvent): AuditEventView {
  const { guildId, userId } = subject;
  return { id, guild_id: guildId, user_id: userId, event_type: type, source, details, created_at: createdAt };
}

function view(row: Row): AuditEventView {
  return { ...row, details: row.details === null ? null : (JSON.parse(row.details) as object) };
}
