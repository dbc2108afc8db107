import { Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { Clock, JsonStream, JsonText, notFound } from '@app/common';
import { type Subject, SubjectDataHolders, type SubjectExport, type Tx, UnitOfWork } from '@app/database';

/** A larger export is streamed from a snapshot of its own instead of being held as one text; in UTF-16 units. */
const HELD_MAX = 1024 * 1024;

interface Gathered {
  readonly head: string;
  readonly full: Readonly<Record<string, unknown>>;
  readonly data: () => AsyncGenerator<string>;
  readonly hasConsent: boolean;
}

/** The right of access (GDPR Art. 15): everything that any holder has about a subject, in one JSON document. */
@Injectable()
export class ExportService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly holders: SubjectDataHolders,
    private readonly audit: AuditService,
    private readonly clock: Clock,
  ) {}

  /**
   * Hands everything out and has it on record (`data_exported`) in one unit: no erasure can come in between.
   * @throws ApiError 404 when nothing is held, or the subject is being erased.
   */
  async export(subject: Subject, full: boolean): Promise<JsonText | JsonStream> {
    const text = await this.unitOfWork.write(async (tx) => {
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
    const gathered = await this.gather(tx, subject, full);
    const pieces: string[] = [];
    let length = 0;
    for await (const entry of gathered.data()) {
      pieces.push(entry);
      length += entry.length;
      if (length > HELD_MAX) return undefined;
    }
    if (pieces.length === 0 && !gathered.hasConsent) throw notFound('Data of this user');
    return `${gathered.head}${pieces.join('')}${tail(gathered.full)}`;
  }

  private async stream(
    subject: Subject,
    full: boolean,
    write: (piece: string) => Promise<void>,
  ): Promise<void> {
    await this.unitOfWork.snapshot(async (tx) => {
      const gathered = await this.gather(tx, subject, full);
      await write(gathered.head);
      for await (const entry of gathered.data()) {
        // An erasure that began meanwhile closes the subject for exports too, those under way included.
        await this.unitOfWork.read((now) => requireOpen(now, subject));
        await write(entry);
      }
      await write(tail(gathered.full));
    });
  }

  private async gather(tx: Tx, subject: Subject, full: boolean): Promise<Gathered> {
    await requireOpen(tx, subject);
    const parts: SubjectExport[] = [];
    for (const holder of this.holders.all()) parts.push(await holder.export(tx, subject, full));
    const consent = parts.find((part) => part.consent !== undefined)?.consent ?? null;
    const { id, name } =
      (await tx.get<{ id: string; name: string }>('SELECT id, name FROM bots WHERE id = ?', subject.botId)) ??
      {};
    const record = {
      userId: subject.userId,
      guildId: subject.guildId,
      exportedAt: this.clock.nowIso(),
      bot: { id, name },
      consent,
    };
    return {
      head: `${JSON.stringify(record).slice(0, -1)},"data":{`,
      full: Object.assign({}, ...parts.map((part) => part.full)) as Record<string, unknown>,
      data: () => entries(parts.map((part) => part.data ?? [])),
      hasConsent: consent !== null,
    };
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

function tail(full: Readonly<Record<string, unknown>>): string {
  const sections = Object.entries(full).map(
    ([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  return `}${sections.join('')}}`;
}

/** @throws ApiError 404 while the subject is being erased. */
async function requireOpen(tx: Tx, { botId, guildId, userId }: Subject): Promise<void> {
  const processing = await tx.get(
    `SELECT 1 FROM deletion_requests WHERE bot_id = ? AND user_id = ? AND status = 'processing' AND guild_id = ?`,
    botId,
    userId,
    guildId,
  );
  if (processing !== undefined) throw notFound('Data of this user');
}
