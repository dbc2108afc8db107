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
  @Count('Of how many users, each counted once for each guild') subjects: number;
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
  @Count('Guilds in which they are') guilds: number;
}

class CategoryScope {
  @Text(100) category: string;
  @Text(2_000) label_de: string;
  @Text(2_000) label_en: string;
  @Count('Users, once for each guild, of whom something is stored in this category now') records_held: number;
  @Count('Those of which something was stored or updated in the period, and not since')
  records_touched: number;
}

/** What a notification of a breach has to say in numbers (GDPR Art. 33(3)(a)); it names nobody. */
export class BreachScopeView {
  @Timestamp() from: string;
  @Timestamp() to: string;
  @Timestamp() generated_at: string;
  @Timestamp({
    nullable: true,
    description:
      'The oldest event that the log still has: what was before it is not counted. null: there is none',
  })
  log_begins_at: string | null;
  @Flag({
    description: 'false: numbers of subjects, users and guilds above 50,000 are estimates, off by about 1 %',
  })
  exact: boolean;
  @ApiProperty({ type: AffectedCount, description: 'Whose data was acted on in the period, in any way' })
  affected: AffectedCount;
  @ApiProperty({ type: ActCounts }) acts: Record<keyof typeof DATA_ACTS, ActCount>;
  @Count('In all categories') records_held: number;
  @Count('In all categories') records_touched: number;
  @ApiProperty({ type: [CategoryScope] }) categories: CategoryScope[];
}
