import { ApiProperty } from '@nestjs/swagger';
import { Email, Flag, Integer, OneOf, Snowflake, Text, Timestamp, Uuid, WebUrl } from '@app/http';

/** Code points of a bot's or server's name. */
const NAME_MAX = 100;
/** Longest overlap of two webhook secrets, or of two keys: 30 days. */
export const OVERLAP_SECONDS_MAX = 2_592_000;

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

export const WEBHOOK_CONDITIONS = ['unused', 'healthy', 'failing'] as const;
export type WebhookCondition = (typeof WEBHOOK_CONDITIONS)[number];

export class WebhookHealthView {
  @OneOf(WEBHOOK_CONDITIONS, { description: '`unused` until the first call has ended' })
  status: WebhookCondition;
  @Integer(0, Number.MAX_SAFE_INTEGER, { description: 'Calls that wait for their first or next attempt' })
  pending: number;
  @Integer(0, Number.MAX_SAFE_INTEGER, { description: 'Calls that were given up; they can be sent again' })
  undelivered: number;
  @Integer(0, Number.MAX_SAFE_INTEGER, { description: 'Failed attempts since the last confirmed one' })
  consecutive_failures: number;
  @Text(32, { nullable: true, description: 'Outcome of the last attempt' }) last_outcome: string | null;
  @Timestamp({ nullable: true }) last_delivered_at: string | null;
  @Timestamp({ nullable: true }) last_failed_at: string | null;
}

export class RotateWebhookSecret {
  @Integer(0, OVERLAP_SECONDS_MAX, {
    optional: true,
    description: 'How long calls are signed with both secrets; default 86400; 0 ends the old secret at once',
  })
  overlap_seconds?: number | null;
}

export class WebhookSecretView {
  @Text(51, { description: 'The new secret; shown only here' }) webhook_secret: string;
  @Timestamp({ description: 'From then on calls are signed with the new secret alone' })
  overlap_until: string;
}

export class BotView {
  @Uuid() id: string;
  @Snowflake() platform_bot_id: string;
  @Text(NAME_MAX) name: string;
  @Email({ nullable: true }) privacy_contact: string | null;
  @WebUrl({ nullable: true }) webhook_url: string | null;
  @ApiProperty({ type: WebhookHealthView, nullable: true, description: 'null without a webhook_url' })
  webhook_health: WebhookHealthView | null;
  @Text(16, { description: 'The beginning of the key of this call' }) api_key_prefix: string;
  @Timestamp() created_at: string;
  @Timestamp() updated_at: string;
}

export class BotDeletedView {
  @Uuid() id: string;
  @Flag() deleted: boolean;
  @Timestamp() deleted_at: string;
}
