import { Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { holdSubject, tryHoldConsents } from '@app/consent';
import { SubjectKeys } from '@app/crypto';
import type { SharedAct, Tx } from '@app/database';
import type { NamedSubject } from '@app/subjects';
import { type Begun, ExportReader, type Wanted } from './export-reader';

/** The document of an export; no text when it is too large for the memory. */
export interface Held {
  readonly text?: string;
}

/**
 * Exports a subject and records it (`data_exported`) in one unit, so that no erasure comes in between. On PostgreSQL records
 * that wait together share a unit; a subject without a consent, with a lock, many values or nothing is exported alone.
 */
@Injectable()
export class ExportAct implements SharedAct<NamedSubject, Held> {
  readonly fewest = 2;

  constructor(
    private readonly reader: ExportReader,
    private readonly keys: SubjectKeys,
    private readonly audit: AuditService,
  ) {}

  /**
   * Without a text nothing is recorded: {@link begin} records a large export.
   * @throws ApiError 404 when nothing is stored, or during the erasure of the subject
   */
  async alone(tx: Tx, subject: NamedSubject, wanted: Wanted = { full: false }): Promise<Held> {
    await this.hold(tx, subject);
    const text = await this.reader.text(tx, subject, wanted);
    if (text !== undefined) await this.audit.record(tx, subject, 'data_exported', detailsOf(wanted));
    return { text };
  }

  /** The beginning of a large export. @throws ApiError 404 when nothing is stored, or during the erasure of the subject */
  async begin(tx: Tx, subject: NamedSubject, wanted: Wanted): Promise<Begun> {
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

  async together(tx: Tx, given: readonly NamedSubject[]): Promise<(Held | undefined)[]> {
    // Keys and values are read behind the locks of their subjects: the statements are sent in this order.
    const [consents, , texts] = await Promise.all([
      tryHoldConsents(tx, given),
      this.keys.prefetch(tx, given),
      this.reader.texts(tx, given),
    ]);
    const exported = new Map(
      given.flatMap((subject, at) => {
        const text = texts[at];
        return consents[at] === undefined || text === undefined ? [] : [[subject, { text }] as const];
      }),
    );
    const details = detailsOf({ full: false });
    const acts = [...exported.keys()].map((subject) => ({
      subject,
      type: 'data_exported' as const,
      details,
    }));
    if (acts.length > 0) await this.audit.recordAll(tx, acts);
    return given.map((subject) => exported.get(subject));
  }
}

function detailsOf({ full, scope, via }: Wanted): object {
  const format = full ? 'full' : 'record';
  return { format, ...(scope !== undefined && { scope }), ...(via !== undefined && { via }) };
}
