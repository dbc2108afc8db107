import { ApiProperty } from '@nestjs/swagger';
import { Integer, Pagination, type Scope, SCOPES, SomeOf, Text, Timestamp, Uuid } from '@app/http';
import { BotPath, OVERLAP_SECONDS_MAX } from './bots.dto';

export class ApiKeyPath extends BotPath {
  @Uuid() key_id: string;
}

export class NewApiKey {
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
  @ApiProperty({ type: [ApiKeyView] }) keys: ApiKeyView[];
  @ApiProperty({ type: Pagination }) pagination: Pagination;
}

export class ApiKeyCreatedView {
  @Uuid() id: string;
  @Text(57, { description: 'Shown only here; keep it secret' }) api_key: string;
  @Text(16) api_key_prefix: string;
  @SomeOf(SCOPES) scopes: Scope[];
  @Timestamp({ nullable: true, description: 'null for a key that lasts' }) expires_at: string | null;
  @Timestamp() created_at: string;
}

export class ApiKeyRotatedView extends ApiKeyCreatedView {
  @Timestamp({ description: 'From then on the old key is void' }) overlap_until: string;
}

export class ApiKeyDeletedView {
  @Uuid() id: string;
  @ApiProperty({ type: 'boolean', enum: [true] }) deleted: true;
  @Timestamp() deleted_at: string;
}
