import { Inject, Injectable } from '@nestjs/common';
import { lockSubject, type NamedSubject, SubjectDigests, tryLockSubjects } from '@app/crypto';
import type { Tx } from '@app/database';
import { addNumberFaults } from '@app/http';
import type { About, Act } from '@app/acts';
import { type Config, CONFIG, type FieldFault, invalidRequest, requireBytes } from '@app/kernel';
import type { AuditEventView, WriteAuditEvent } from './audit.dto';
import { AuditService } from './audit.service';

/** An event of a bot's own. */
interface OwnEvent {
  readonly subject: NamedSubject;
  readonly type: WriteAuditEvent['event_type'];
  readonly details: WriteAuditEvent['details'];
}

/** Appends the events of bots to the audit log. */
@Injectable()
export class WriteEventAct implements Act<OwnEvent, About, OwnEvent, AuditEventView> {
  constructor(
    private readonly audit: AuditService,
    private readonly digests: SubjectDigests,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** The event of a request. @throws ApiError 413, then 400 */
  of(botId: string, { event_type: type, details, ...ids }: WriteAuditEvent): OwnEvent {
    if (details != null) {
      requireBytes('details', JSON.stringify(details), this.config.detailsLimitBytes);
      const faults: FieldFault[] = [];
      addNumberFaults(details, 'details', faults);
      if (faults.length > 0) throw invalidRequest(faults);
    }
    return { subject: this.digests.named(botId, ids), type, details };
  }

  async load(tx: Tx, given: readonly OwnEvent[]): Promise<(About | undefined)[]> {
    const subjects = given.map(({ subject }) => subject);
    const [first] = subjects;
    if (first !== undefined && subjects.length === 1) {
      await lockSubject(tx, first, 'together');
      return [{ subject: first }];
    }
    const locked = await tryLockSubjects(tx, subjects, 'together');
    return subjects.map((subject, at) => (locked[at] === true ? { subject } : undefined));
  }

  decide(_: About, event: OwnEvent): OwnEvent {
    return event;
  }

  async store(tx: Tx, events: readonly OwnEvent[]): Promise<AuditEventView[]> {
    const views: AuditEventView[] = [];
    for (const { subject, type, details } of events)
      views.push(await this.audit.record(tx, subject, type, details, { source: 'client' }));
    return views;
  }

  /** Without the details, which can be long and which the repeated request has. */
  kept(view: AuditEventView): AuditEventView {
    return { ...view, details: null };
  }

  async recall(_: Tx, view: AuditEventView, { details }: OwnEvent): Promise<AuditEventView> {
    return { ...view, details: details ?? null };
  }
}
