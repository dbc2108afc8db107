import { Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { holdConsents, holdSubject } from '@app/consent';
import { type NamedSubject, SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import type { Actor } from '@app/http';
import type { Act } from '@app/acts';
import { countHolders } from '../holders/bot-holders.sql';
import { HolderQuestions } from '../holders/holder-questions';
import { ExportReader, type Wanted, type WantedBy } from './export-reader';

/** An export that is asked for. */
interface AskedExport {
  readonly subject: NamedSubject;
  readonly wanted: WantedBy;
}

/** An export with its document; without a text if it is too large for the memory. */
interface Exported extends AskedExport {
  readonly text: string | undefined;
}

/** The beginning of a streamed document, and the key of its subject then. */
export interface BegunExport {
  readonly head: string;
  readonly keyId: string | undefined;
}

/** Whether the consent of a subject is locked, and whether its export asks holders. */
interface Hold {
  readonly isHeld: boolean;
  readonly asks: boolean;
}

/** What becomes of an export: its document, and the audit event that records it. */
interface Recorded {
  readonly text: string | undefined;
  readonly acts: readonly {
    readonly subject: NamedSubject;
    readonly type: 'data_exported';
    readonly details: object;
    readonly by: Actor;
  }[];
}

/**
 * Exports a subject and records it (`data_exported`) in one unit, so that no erasure comes in between. A subject without a
 * consent, with many values or nothing, and a full export are exported alone.
 */
@Injectable()
export class ExportAct implements Act<AskedExport, Exported, Recorded, Recorded> {
  constructor(
    private readonly reader: ExportReader,
    private readonly keys: SubjectKeys,
    private readonly audit: AuditService,
    private readonly questions: HolderQuestions,
  ) {}

  /** @throws ApiError 404 when nothing is stored about a single subject, or during its erasure */
  async load(tx: Tx, given: readonly AskedExport[]): Promise<(Exported | undefined)[]> {
    const [first] = given;
    if (first !== undefined && given.length === 1) {
      const { subject, wanted } = first;
      const hold = await this.hold(tx, first);
      const text = await this.reader.text(tx, subject, wanted);
      // A large one asks when it is begun.
      const isAsked = text !== undefined && (await this.ask(tx, subject, hold));
      return [{ ...first, text: isAsked ? await this.reader.text(tx, subject, wanted) : text }];
    }
    const subjects = given.filter(({ wanted }) => isRecord(wanted)).map(({ subject }) => subject);
    // Keys and values are read after the locks of their subjects: the statements are sent in this order.
    const [consents, , texts] = await Promise.all([
      holdConsents(tx, subjects, false),
      this.keys.prefetch(tx, subjects),
      this.reader.texts(tx, subjects),
    ]);
    const found = new Map(
      subjects.map((subject, at) => [subject, consents[at] == null ? undefined : texts[at]]),
    );
    return given.map((asked) => {
      const text = found.get(asked.subject);
      return text === undefined ? undefined : { ...asked, text };
    });
  }

  /** An export without a text is not recorded here: {@link begin} records it. */
  decide({ subject, wanted, text }: Exported): Recorded {
    if (text === undefined) return { text, acts: [] };
    return { text, acts: [{ subject, type: 'data_exported', details: detailsOf(wanted), by: wanted.by }] };
  }

  async store(tx: Tx, changes: readonly Recorded[]): Promise<readonly Recorded[]> {
    const acts = changes.flatMap((change) => change.acts);
    if (acts.length > 0) await this.audit.recordAll(tx, acts);
    return changes;
  }

  /** The beginning of a large export. @throws ApiError 404 when nothing is stored, or during the erasure of the subject */
  async begin(tx: Tx, { subject, wanted }: AskedExport): Promise<BegunExport> {
    await this.ask(tx, subject, await this.hold(tx, { subject, wanted }));
    const head = await this.reader.begin(tx, subject, wanted);
    await this.audit.record(tx, subject, 'data_exported', detailsOf(wanted), wanted);
    return { head, keyId: await this.keys.idOf(tx, subject) };
  }

  private async hold(tx: Tx, { subject, wanted }: AskedExport): Promise<Hold> {
    const asks = wanted.full && wanted.asks !== false;
    const [isHeld, holders] = await Promise.all([
      holdSubject(tx, subject),
      asks ? countHolders(tx, subject.botId) : 0,
    ]);
    // The holders find this key, also where it is not committed yet.
    await this.keys.inForce(tx, subject);
    return { isHeld, asks: holders > 0 };
  }

  /**
   * A full export asks the bot's own holders in the unit that records it, and is read after that, so that it says of each that it was
   * asked. Whether any was asked anew.
   */
  private async ask(tx: Tx, subject: NamedSubject, { isHeld, asks }: Hold): Promise<boolean> {
    return asks && this.questions.ask(tx, subject, isHeld);
  }
}

/** Whether an export is the record of the contract about one guild. */
function isRecord({ full, scope }: Wanted): boolean {
  return !full && scope === undefined;
}

function detailsOf({ full, scope }: Wanted): object {
  const format = full ? 'full' : 'record';
  return { format, ...(scope !== undefined && { scope }) };
}
