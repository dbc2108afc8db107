import { KEY_MAX, ListOf, Snowflake, Text, Timestamp } from '@app/http';

/** More than a bot can declare. */
const LISTED_MAX = 10_001;

export class RefuseProcessing {
  @Snowflake() user_id: string;
  @Snowflake() guild_id: string;
  @Text(KEY_MAX, { optional: true, description: 'Key of a registered category; without it, all of them' })
  category?: string | null;
}

export class RefusalsQuery {
  @Snowflake() guild_id: string;
}

export class RefusalView {
  @Text(KEY_MAX, { nullable: true, description: 'null: all of them' }) category: string | null;
  @Timestamp() since: string;
}

export class RefusalsView {
  @Snowflake() user_id: string;
  @Snowflake() guild_id: string;
  @ListOf(() => RefusalView, 0, LISTED_MAX, 'Objections in force (GDPR Art. 21)') objections: RefusalView[];
  @ListOf(() => RefusalView, 0, LISTED_MAX, 'Restrictions in force (GDPR Art. 18)')
  restrictions: RefusalView[];
}
