import { Flag, Of, OptionalText, Pagination, Snowflake, Text, Timestamp, Uuid } from '@app/http';

/** Code points of a server's name. */
const NAME_MAX = 100;

export class RegisterServer {
  @Snowflake() guild_id: string;
  @Text(NAME_MAX, { optional: true }) name?: string | null;
}

export class ServerView {
  @Uuid() id: string;
  @Snowflake() guild_id: string;
  @OptionalText(NAME_MAX, { optional: false, nullable: true }) name: string | null;
  @Timestamp() created_at: string;
  @Timestamp({
    nullable: true,
    description: 'When all users of the guild will be erased; null while no deletion is scheduled',
  })
  deletion_scheduled_for: string | null;
  @Flag({
    optional: true,
    description:
      'true where the stored id and name are damaged: a list shows 20 zeros as the id. A registration of the guild mends it',
  })
  unreadable?: boolean;
}

export class ServersView {
  @Of([ServerView]) servers: ServerView[];
  @Of(Pagination) pagination: Pagination;
}
