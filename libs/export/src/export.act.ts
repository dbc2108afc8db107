import { Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { holdConsents, holdSubject } from '@app/consent';
import { SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import type { Act } from '@app/idempotency';
import type { NamedSubject } from '@app/subjects';
import { type Begun, ExportReader, type Wanted } from './export-reader';

/** An export that is asked for. */
export interface Asked {
  readonly subject: NamedSubject;
  readonly wanted: Wanted;
}

/** The document of an export; no text when it is too large for the memory. */
export interface Held {
  readonly text?: string | undefined;
}

/** What is exported of a subject. */
type Exported = Asked & Held;

/**
 * Exports a subject and records it (`data_exported`) in one unit, so that no erasure comes in between. A subject without a
 * consent, with many values or nothing, and a full export are exported alone.
 */
@Injectable()
export class ExportAct implements Act<Asked, Exported, Exported, Held> {
  constructor(
    private readonly reader: ExportReader,
    private readonly keys: SubjectKeys,
    private readonly audit: AuditService,
  ) {}

  /** @throws ApiError 404 when nothing is stored about a single subject, or during its erasure */
  async load(tx: Tx, given: readonly Asked[]): Promise<(Exported | undefined)[]> {
    const [first] = given;
    if (first !== undefined && given.length === 1) {
      await this.hold(tx, first.subject);
      return [{ ...first, text: await this.reader.text(tx, first.subject, first.wanted) }];
    }
    const subjects = given.filter(({ wanted }) => isRecord(wanted)).map(({ subject }) => subject);
    // Keys and values are read behind the locks of their subjects: the statements are sent in this order.
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

  decide(exported: Exported): Exported {
    return exported;
  }

  /** Without a text nothing is recorded: {@link begin} records a large export. */
  async store(tx: Tx, changes: readonly Exported[]): Promise<Held[]> {
    const acts = changes.flatMap(({ subject, wanted, text }) =>
      text === undefined ? [] : [{ subject, type: 'data_exported' as const, details: detailsOf(wanted) }],
    );
    if (acts.length > 0) await this.audit.recordAll(tx, acts);
    return changes.map(({ text }) => ({ text }));
  }

  /** The beginning of a large export. @throws ApiError 404 when nothing is stored, or during the erasure of the subject */
  async begin(tx: Tx, { subject, wanted }: Asked): Promise<Begun> {
    await this.hold(tx, subject);
    const begun = await this.reader.begin(tx, subject, wanted);
    await this.audit.record(tx, subject, 'data_exported', detailsOf(wanted));
    return begun;
  }

  private async hold(tx: Tx, subject: NamedSubject): Promise<void> {
    await holdSubject(tx, subject);
    // The holders find this key, also where it is not committed yet.
    await this.keys.inForce(tx, subject);
  }
}

/** Whether an export is the record of the contract about one guild, asked for by the bot. */
function isRecord({ full, scope, via }: Wanted): boolean {
  return !full && scope === undefined && via === undefined;
}

function detailsOf({ full, scope, via }: Wanted): object {
  const format = full ? 'full' : 'record';
  return { format, ...(scope !== undefined && { scope }), ...(via !== undefined && { via }) };
}
