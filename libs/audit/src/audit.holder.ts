import { Injectable } from '@nestjs/common';
import {
  HoldsSubjectData,
  type Subject,
  type SubjectDataHolder,
  type SubjectExport,
  type Tx,
} from '@app/database';
import { AuditService } from './audit.service';

/** The subject's part of the audit log: exported in full, its details erased, the fact of each act kept (Art. 5(2)). */
@Injectable()
@HoldsSubjectData()
export class AuditHolder implements SubjectDataHolder {
  readonly tables = ['audit_events'];

  constructor(private readonly audit: AuditService) {}

  async export(tx: Tx, subject: Subject, full: boolean): Promise<SubjectExport> {
    return full ? { full: { audit_events: await this.audit.ofSubject(tx, subject) } } : {};
  }

  async erase(tx: Tx, subject: Subject): Promise<readonly string[]> {
    await this.audit.eraseDetails(tx, subject);
    return [];
  }
}
