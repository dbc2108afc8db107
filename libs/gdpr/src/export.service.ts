import { Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { holdSubject } from '@app/consent';
import { Clock, JsonStream, JsonText, notFound } from '@app/common';
import { type Subject, SubjectDataHolders, type SubjectExport, type Tx, UnitOfWork } from '@app/database';
import { ErasedSubject, OF_SUBJECT } from './erased-subject';

/** A larger export is streamed from a snapshot of its own instead of being held as one text; in UTF-16 units. */
const HELD_MAX = 1024 * 1024;

/** How often a streamed export asks whether its subject is being erased: what is on its way cannot be called back. */
const CHECK_MS = 20;

/** The document piece by piece; nothing of it is read before it is asked for. */
interface Gathered {
  readonly head: string;
  readonly data: () => AsyncGenerator<string>;
  readonly tail: () => AsyncGenerator<string>;
  readonly hasConsent: boolean;
}

/** The right of access (GDPR Art. 15): everything that any holder has about a subject, in one JSON document. */
@Injectable()
export class ExportService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly holders: SubjectDataHolders,
    private readonly audit: AuditService,
    private readonly erased: ErasedSubject,
    private readonly clock: Clock,
  ) {}

  /**
   * Hands everything out and has it on record (`data_exported`) in one unit: no erasure can come in between.
   * @throws ApiError 404 when nothing is held, or the subject is being erased.
   */
  async export(subject: Subject, full: boolean): Promise<JsonText | JsonStream> {
    const text = await this.unitOfWork.write(async (tx) => {
      await holdSubject(tx, subject);
      const held = await this.heldText(tx, subject, full);
      await this.audit.record(tx, subject, 'data_exported', { format: full ? 'full' : 'record' });
      return held;
    });
    return text === undefined
      ? new JsonStream((write) => this.stream(subject, full, write))
      : new JsonText(text);
  }

  /** The whole document, or undefined when it is too large to be held. */
  private async heldText(tx: Tx, subject: Subject, full: boolean): Promise<string | undefined> {
    const { head, data, tail, hasConsent } = await this.gather(tx, subject, full);
    let values = '';
    for await (const piece of data()) if ((values += piece).length > HELD_MAX) return undefined;
    if (values === '' && !hasConsent) throw notFound('Data of this user');
    let text = head + values;
    for await (const piece of tail()) if ((text += piece).length > HELD_MAX) return undefined;
    return text;
  }

  private async stream(
    subject: Subject,
    full: boolean,
    write: (piece: string) => Promise<void>,
  ): Promise<void> {
    await this.unitOfWork.snapshot(async (tx) => {
      const { head, data, tail } = await this.gather(tx, subject, full);
      const known = await this.requireOpen(tx, subject);
      await write(head);
      let checkedMs = -Infinity;
      for (const pieces of [data(), tail()]) {
        for await (const piece of pieces) {
          // An erasure that began meanwhile closes the subject for exports too, those under way included.
          if (this.clock.monotonicMs() - checkedMs >= CHECK_MS) {
            checkedMs = this.clock.monotonicMs();
            await this.requireOpen(this.unitOfWork, subject, known);
          }
          await write(piece);
        }
      }
    });
  }

  private async gather(tx: Tx, subject: Subject, full: boolean): Promise<Gathered> {
    // Asked for all at once, and answered one after the other: on PostgreSQL nobody waits for the way in between.
    const asked = this.holders.all().map((holder) => holder.export(tx, subject, full));
    const [, bot, parts] = await Promise.all([
      this.requireOpen(tx, subject),
      tx.get<{ id: string; name: string }>('SELECT id, name FROM bots WHERE id = ?', subject.botId),
      Promise.all(asked),
    ]);
    const consent = parts.find((part) => part.consent !== undefined)?.consent ?? null;
    const record = {
      userId: subject.userId,
      guildId: subject.guildId,
      exportedAt: this.clock.nowIso(),
      bot: { id: bot?.id, name: bot?.name },
      consent,
    };
    return {
      head: `${JSON.stringify(record).slice(0, -1)},"data":{`,
      data: () => entries(parts.map((part) => part.data ?? [])),
      tail: () => sections(parts.map((part) => part.full ?? {})),
      hasConsent: consent !== null,
    };
  }

  /**
   * How many erasures of the subject are on record.
   * @throws ApiError 404 while the subject is being erased, or when their number is not the one that was `known`.
   */
  private async requireOpen(
    database: { get<Row>(sql: string, ...values: readonly string[]): Promise<Row | undefined> },
    subject: Subject,
    known?: number,
  ): Promise<number> {
    const found = await database.get<{ requests: number | string; processing: number | string }>(
      `SELECT COUNT(*) AS requests, COUNT(CASE WHEN status = 'processing' THEN 1 END) AS processing
       FROM deletion_requests WHERE bot_id = ? AND ${OF_SUBJECT}`,
      ...[subject.botId, ...this.erased.namesOf(subject)],
    );
    const requests = Number(found?.requests ?? 0);
    if (Number(found?.processing ?? 0) > 0 || requests !== (known ?? requests))
      throw notFound('Data of this user');
    return requests;
  }
}

type Data = Iterable<readonly [string, string]> | AsyncIterable<readonly [string, string]>;

async function* entries(sources: readonly Data[]): AsyncGenerator<string> {
  let separator = '';
  for (const source of sources) {
    for await (const [name, json] of source) {
      yield `${separator}${JSON.stringify(name)}:${json}`;
      separator = ',';
    }
  }
}

/** Closes `data` and appends every further section as a list. */
async function* sections(parts: readonly NonNullable<SubjectExport['full']>[]): AsyncGenerator<string> {
  yield '}';
  for (const [name, items] of parts.flatMap((part) => Object.entries(part))) {
    let separator = `,${JSON.stringify(name)}:[`;
    for await (const item of items) {
      yield separator + JSON.stringify(item);
      separator = ',';
    }
    yield separator === ',' ? ']' : `${separator}]`;
  }
  yield '}';
}
