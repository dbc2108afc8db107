import { Email, Flag, Snowflake, Text, Timestamp, Uuid, WebUrl } from '@app/common';

/** Code points of a bot's or server's name. */
const NAME_MAX = 100;

export class RegisterBot {
  @Snowflake({ description: 'The id that the platform gave the bot' }) platform_bot_id: string;
  @Text(NAME_MAX) name: string;
  @Email({ optional: true, nullable: true }) privacy_contact?: string | null;
  @WebUrl({ optional: true, nullable: true, description: 'Target of the webhook calls' }) webhook_url?:
    string | null;
}

export class ChangeBot {
  @Text(NAME_MAX, { optional: true }) name?: string | null;
  @Email({ optional: true, nullable: true, description: 'null removes it' }) privacy_contact?: string | null;
  @WebUrl({ optional: true, nullable: true, description: 'null removes it' }) webhook_url?: string | null;
}

export class BotPath {
  @Uuid() bot_id: string;
}

export class BotRegisteredView {
  @Uuid() id: string;
  @Snowflake() platform_bot_id: string;
  @Text(NAME_MAX) name: string;
  @Text(57, { description: 'Shown only here; keep it secret' }) api_key: string;
  @Text(16) api_key_prefix: string;
  @Text(51, { description: 'Shown only here; verifies the signatures of webhook calls' })
  webhook_secret: string;
  @Text(400) notice: string;
}

export class BotView {
  @Uuid() id: string;
  @Snowflake() platform_bot_id: string;
  @Text(NAME_MAX) name: string;
  @Email({ nullable: true }) privacy_contact: string | null;
  @WebUrl({ nullable: true }) webhook_url: string | null;
  @Text(16) api_key_prefix: string;
  @Timestamp() created_at: string;
  @Timestamp() updated_at: string;
}

export class BotDeletedView {
  @Uuid() id: string;
  @Flag() deleted: boolean;
  @Timestamp() deleted_at: string;
}
