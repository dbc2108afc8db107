import { ApiProperty } from '@nestjs/swagger';
import {
  type Caller,
  Count,
  Email,
  Flag,
  Integer,
  ObjectOf,
  Of,
  OneOf,
  Pagination,
  type Scope,
  SCOPES,
  Snowflake,
  SomeOf,
  Text,
  Timestamp,
  Uuid,
  WebUrl,
} from '@app/http';
import { notFound } from '@app/kernel';
import { ChangeNoticeSettings } from './notice-settings.dto';

/** Code points of a bot's or server's name. */
const NAME_MAX = 100;
/** Longest overlap of two webhook secrets, or of two keys: 30 days; a day unless the caller names one. */
const OVERLAP_SECONDS_MAX = 2_592_000;
export const OVERLAP_SECONDS_DEFAULT = 86_400;
/** Code points of the name of a key. */
const KEY_NAME_MAX = 60;

export class RegisterBot {
  @Snowflake('The id that the platform gave the bot') platform_bot_id: string;
  @Text(NAME_MAX) name: string;
  @Email({ optional: true, nullable: true }) privacy_contact?: string | null;
  @WebUrl({ optional: true, nullable: true, description: 'Target of the webhook calls' }) webhook_url?:
    string | null;
  @ObjectOf(() => ChangeNoticeSettings, {
    optional: true,
    nullable: true,
    // The field `notice` of a bot is a text in the contract: a client may send the bot back that it was answered.
    ignoresText: true,
    description:
      'What the privacy notice says about the bot, as in `PUT /bots/{bot_id}/notice-settings`. A text is ignored',
  })
  notice?: ChangeNoticeSettings | string | null;
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
  @Text(57, 'Shown only here; keep it secret') api_key: string;
  @Text(16) api_key_prefix: string;
  @Text(51, 'Shown only here; verifies the signatures of webhook calls') webhook_secret: string;
  @Text(400) notice: string;
}

/** A larger number of a bot's calls is answered with this one. */
export const CALLS_COUNTED_MAX = 10_000;

const WEBHOOK_CONDITIONS = ['unused', 'healthy', 'failing'] as const;

export class WebhookHealthView {
  @OneOf(WEBHOOK_CONDITIONS, '`unused` until the first call to this `webhook_url` has ended')
  status: (typeof WEBHOOK_CONDITIONS)[number];
  @Count(`Calls that wait for their first or next attempt, counted up to ${CALLS_COUNTED_MAX}`)
  pending: number;
  @Count(
    `Calls that were given up, counted up to ${CALLS_COUNTED_MAX}; they can be sent again. A \`ping\` is none of them`,
  )
  undelivered: number;
  @Count('Failed attempts since the last confirmed one')
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
  @Text(51, 'The new secret; shown only here') webhook_secret: string;
  @Timestamp('From then on calls are signed with the new secret alone') overlap_until: string;
}

export class BotView {
  @Uuid() id: string;
  @Snowflake() platform_bot_id: string;
  @Text(NAME_MAX) name: string;
  @Email({ nullable: true }) privacy_contact: string | null;
  @WebUrl({ nullable: true }) webhook_url: string | null;
  @Of(WebhookHealthView, { nullable: true, description: 'null without a webhook_url' })
  webhook_health: WebhookHealthView | null;
  @Text(16, 'The beginning of the key of this call') api_key_prefix: string;
  @Timestamp() created_at: string;
  @Timestamp() updated_at: string;
  @Timestamp({ optional: true, description: 'Since when the operator has suspended the bot; else left out' })
  suspended_at?: string;
}

export class BotDeletedView {
  @Uuid() id: string;
  @Flag() deleted: boolean;
  @Timestamp() deleted_at: string;
}

export class ApiKeyPath extends BotPath {
  @Uuid() key_id: string;
}

export class NewApiKey {
  @Text(KEY_NAME_MAX, {
    optional: true,
    description: 'What the key is for or whose it is, shown in the list of keys',
  })
  name?: string | null;
  @SomeOf(SCOPES, {
    optional: true,
    description: 'What the key allows; default all. The key of this call must have each of them',
  })
  scopes?: Scope[] | null;
  @Timestamp({
    optional: true,
    description: 'A time in the future, from which on the key is void; without it the key lasts',
  })
  expires_at?: string | null;
}

export class RotateApiKey {
  @Integer(0, OVERLAP_SECONDS_MAX, {
    optional: true,
    description: 'How long both keys are valid; default 86400; 0 voids the old key at once',
  })
  overlap_seconds?: number | null;
}

export class ApiKeyView {
  @Uuid() id: string;
  @Text(KEY_NAME_MAX, { optional: true, description: 'Only of a key that was given one' }) name?: string;
  @Text(16) api_key_prefix: string;
  @SomeOf(SCOPES) scopes: Scope[];
  @Timestamp({ nullable: true, description: 'null for a key that lasts' }) expires_at: string | null;
  @Timestamp({
    nullable: true,
    description: 'Exact to about two minutes; null for a key that was never used',
  })
  last_used_at: string | null;
  @Timestamp() created_at: string;
}

export class ApiKeysView {
  @Of([ApiKeyView]) keys: ApiKeyView[];
  @Of(Pagination) pagination: Pagination;
}

export class ApiKeyCreatedView {
  @Uuid() id: string;
  @Text(KEY_NAME_MAX, { optional: true, description: 'Only of a key that was given one' }) name?: string;
  @Text(57, 'Shown only here; keep it secret') api_key: string;
  @Text(16) api_key_prefix: string;
  @SomeOf(SCOPES) scopes: Scope[];
  @Timestamp({ nullable: true, description: 'null for a key that lasts' }) expires_at: string | null;
  @Timestamp() created_at: string;
}

export class ApiKeyRotatedView extends ApiKeyCreatedView {
  @Timestamp('From then on the old key is void') overlap_until: string;
}

export class ApiKeyDeletedView {
  @Uuid() id: string;
  @ApiProperty({ type: 'boolean', enum: [true] }) deleted: true;
  @Timestamp() deleted_at: string;
}

/** The path may name the authenticated bot only; any other id is answered like one that does not exist. */
export function ownBot(bot: Caller, { bot_id }: BotPath): string {
  if (bot_id.toLowerCase() !== bot.botId) throw notFound('Bot');
  return bot.botId;
}
