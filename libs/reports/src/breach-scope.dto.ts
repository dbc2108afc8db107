import { Flag, Integer, Text, Timestamp } from '@app/http';
import { DATA_ACTS } from './audit-period';

import { ApiProperty } from '@nestjs/swagger';

const Count = (description?: string): PropertyDecorator =>
  Integer(0, Number.MAX_SAFE_INTEGER, description === undefined ? {} : { description });

export class BreachScopeQuery {
  @Timestamp({ description: 'The first moment of the period' }) from: string;
  @Timestamp({ description: 'The moment at which the period is over; at most 366 days later' }) to: string;
}

class ActCount {
  @Count('How often') events: number;
  @Count('Users concerned, each counted once for each guild') subjects: number;
}

class ActCounts {
  @ApiProperty({ type: ActCount, description: 'Values stored or updated' }) stored: ActCount;
  @ApiProperty({ type: ActCount, description: 'Exports' }) exported: ActCount;
  @ApiProperty({ type: ActCount, description: 'Values emptied, or removed with their category' })
  deleted: ActCount;
  @ApiProperty({ type: ActCount, description: 'Users erased' }) erased: ActCount;
}

class AffectedCount {
  @Count('Users, each counted once for each guild') subjects: number;
  @Count('Users, each counted once') users: number;
  @Count('Guilds of these users') guilds: number;
}

class CategoryScope {
  @Text(100) category: string;
  @Text(2_000) label_de: string;
  @Text(2_000) label_en: string;
  @Count('Records stored in this category now: users, each counted once for each guild') records_held: number;
  @Count('Records of which the last change was made in the period')
  records_touched: number;
}

/** The numbers for the notification of a breach (GDPR Art. 33(3)(a)); names no user. */
export class BreachScopeView {
  @Timestamp() from: string;
  @Timestamp() to: string;
  @Timestamp() generated_at: string;
  @Timestamp({
    nullable: true,
    description:
      'Time of the oldest event in the log; earlier events are not counted. null: the log is empty',
  })
  log_begins_at: string | null;
  @Flag({
    description: 'false: numbers of subjects, users and guilds above 50,000 are estimates, off by about 1 %',
  })
  exact: boolean;
  @ApiProperty({
    type: AffectedCount,
    description: 'Users and guilds with any act on their data in the period',
  })
  affected: AffectedCount;
  @ApiProperty({ type: ActCounts }) acts: Record<keyof typeof DATA_ACTS, ActCount>;
  @Count('In all categories') records_held: number;
  @Count('In all categories') records_touched: number;
  @ApiProperty({ type: [CategoryScope] }) categories: CategoryScope[];
}
