import { Injectable } from '@nestjs/common';
import type { Tx } from '@app/database';
import {
  HoldsSubjectData,
  type NamedSubject,
  type SubjectDataHolder,
  type SubjectExport,
} from '@app/subjects';
import { AuditService } from './audit.service';

/** The subject's part of the audit log. An export holds all of it; an erasure leaves the fact of each act (Art. 5(2)). */
@Injectable()
@HoldsSubjectData()
export class AuditHolder implements SubjectDataHolder {
  readonly tables = ['audit_events'];

  constructor(private readonly audit: AuditService) {}

  async export(tx: Tx, subject: NamedSubject, full: boolean): Promise<SubjectExport> {
    return full ? { full: { audit_events: this.audit.ofSubject(tx, subject) } } : {};
  }
}
