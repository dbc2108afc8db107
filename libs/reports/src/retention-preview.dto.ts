import { Integer, OneOf, QueryInteger, Text, Timestamp, Uuid } from '@app/http';
import { ApiProperty } from '@nestjs/swagger';

/** How far ahead a preview looks. */
const IN_DAYS_MAX = 366;

const Count = (description: string): PropertyDecorator =>
  Integer(0, Number.MAX_SAFE_INTEGER, { description });

export class RetentionPreviewPath {
  @Uuid() bot_id: string;
}

export class RetentionPreviewQuery {
  @QueryInteger(0, IN_DAYS_MAX, 0) in_days?: string;
}

class DueCountView {
  @Text(100) category: string;
  @OneOf(['retention', 'consent_revoked'], {
    description: 'Not updated for `retention_days`, or the consent was withdrawn',
  })
  reason: string;
  @Count('Users, each counted once for each guild') values: number;
}

class DueGuilds {
  @Count('Guilds with a scheduled deletion') scheduled: number;
  @Count('Those of them that are due') due: number;
}

class ExpiredEvidence {
  @Count('Entries of the ledger of erasures') ledger_entries: number;
  @Count('Records of erasures') deletion_requests: number;
  @Count('Entries in the history of consents that have ended') consent_entries: number;
  @Count('Sealed audit events') audit_events: number;
}

/** What retention would erase; names no user. */
export class RetentionPreviewView {
  @Timestamp() generated_at: string;
  @Timestamp({ description: 'The moment for which is counted: `in_days` later' }) at: string;
  @ApiProperty({
    type: [DueCountView],
    description: 'Values by category. A value that is due for both reasons counts twice',
  })
  due: DueCountView[];
  @ApiProperty({ type: DueGuilds }) guilds: DueGuilds;
  @ApiProperty({ type: ExpiredEvidence, description: 'After `EVIDENCE_RETENTION_DAYS`' })
  evidence: ExpiredEvidence;
}
