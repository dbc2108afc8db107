import { Count, Flag, Of, OneOf, QueryInteger, Snowflake, Text, Timestamp, Uuid } from '@app/http';
import { SCOPES } from '@app/crypto';
import { ApiProperty } from '@nestjs/swagger';
import { CoverageView } from '../holders/coverage.dto';
import { DELETION_STATUSES } from './deletion-request.entity';

/** Part of every answer to an erasure. */
export const NOTICE =
  'Only data stored through this service was erased. Messages and other data on the platform, and what the bot keeps elsewhere, are not affected.';

export class ForgetUser {
  @Snowflake() user_id: string;
  @Snowflake({ unless: 'scope', description: 'Required without scope, to be left out with it' })
  guild_id?: string;
  @OneOf(SCOPES, { optional: true, description: 'all_guilds: one user in every guild of the bot' })
  scope?: 'all_guilds' | null;
}

export class GuildDeletionQuery {
  /** Days in which it can be called off; 0 for at once. */
  @QueryInteger(0, 90, 0) grace_days?: string;
}

const deletedCategories = {
  type: 'array',
  items: { type: 'string' },
  nullable: true,
  description: 'Keys of the categories that held erased values',
} as const;

export class ForgottenView {
  @Uuid() request_id: string;
  @OneOf(DELETION_STATUSES) status: string;
  @ApiProperty(deletedCategories) deleted_categories: readonly string[] | null;
  @Timestamp({ nullable: true }) completed_at: string | null;
  @Text(
    64,
    'Ties the certificate to the user: a party that knows the ids verifies it with this salt. Answered only here, and to a repeat with the same `Idempotency-Key`',
  )
  certificate_salt: string;
  @Text(400) notice: string;
}

export class ForgottenInGuildView extends ForgottenView {
  @Snowflake() guild_id: string;
}

export class ForgottenEverywhereView {
  @Snowflake() user_id: string;
  @OneOf(SCOPES) scope: string;
  @OneOf(['completed']) status: string;
  @Of(
    [ForgottenInGuildView],
    'One erasure for each guild that held anything, and for a bot with holders always one of the bot-wide scope, which asks them for every guild',
  )
  requests: ForgottenInGuildView[];
  @Text(400) notice: string;
}

export class DeletionRequestView {
  @Uuid() request_id: string;
  @OneOf(DELETION_STATUSES) status: string;
  @Snowflake() user_id: string;
  @Snowflake() guild_id: string;
  @Timestamp() created_at: string;
  @Timestamp({ nullable: true }) completed_at: string | null;
  @Timestamp({
    nullable: true,
    description:
      'From this time no table of the database contains the key in its file: on SQLite completed_at, on PostgreSQL null until the tables of the keys are rewritten',
  })
  unrecoverable_at: string | null;
  @ApiProperty(deletedCategories) deleted_categories: readonly string[] | null;
  @Flag('The receiver has confirmed user_forgotten') webhook_sent: boolean;
  @Of(CoverageView, {
    optional: true,
    description:
      "What the bot's own stores have answered; left out where the bot had no holder when this was completed",
  })
  coverage?: CoverageView;
}

export class CertificateView {
  @Of(String, 'Compact JWS; the keys that verify it: /.well-known/lethe-keys.json') certificate: string;
}

export class GuildErasedView {
  @Snowflake() guild_id: string;
  @Flag() deleted: boolean;
  @Count() erased_users: number;
  @Timestamp({ optional: true, description: 'With grace_days: when all users of the guild will be erased' })
  scheduled_for?: string;
}
