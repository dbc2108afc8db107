import { ApiProperty, getSchemaPath } from '@nestjs/swagger';
import {
  Flag,
  type ItemResult,
  Items,
  JsonObject,
  KEY_MAX,
  Of,
  OneOf,
  PageQuery,
  Pagination,
  Results,
  Snowflake,
  Text,
  Timestamp,
} from '@app/http';

export class SubmitData {
  @Snowflake() user_id: string;
  @Snowflake() guild_id: string;
  @Text(KEY_MAX, 'Key of a registered category') category: string;
  @JsonObject('Values by field key; null means no value. At most 64 KiB as JSON')
  data: Record<string, unknown>;
  @OneOf(['replace', 'merge'], { optional: true, description: 'merge: RFC 7396; default replace' })
  mode?: 'replace' | 'merge' | null;
}

export class SubmittedView {
  @Snowflake() user_id: string;
  @Snowflake() guild_id: string;
  @Text(KEY_MAX) category: string;
  @Flag() stored: boolean;
  @Timestamp() updated_at: string;
}

export class SubmitBatch {
  @Items({ $ref: getSchemaPath(SubmitData) }, 'objects') items: readonly unknown[];
}

export class SubmittedBatchView {
  @Results(SubmittedView) results: readonly ItemResult<SubmittedView>[];
}

export class ValuesQuery {
  @Snowflake() guild_id: string;
  @Text(KEY_MAX, { optional: true, description: 'One category; default all that the consent covers' })
  category?: string;
}

export class GuildValuesQuery extends PageQuery {
  @Snowflake() guild_id: string;
  @Text(KEY_MAX, 'Key of a registered category') category: string;
}

export class EraseValuesQuery {
  @Snowflake() guild_id: string;
  @Text(KEY_MAX, 'Key of a registered category') category: string;
}

export class ValuesView {
  @Snowflake() user_id: string;
  @Snowflake() guild_id: string;
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'object', additionalProperties: true },
    description: 'What is stored, by category; empty when nothing is',
  })
  values: Readonly<Record<string, object>>;
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string', format: 'date-time' },
    description: 'The time of the last submit, by category',
  })
  updated_at: Readonly<Record<string, string>>;
}

export class UserValueView {
  @Snowflake() user_id: string;
  @JsonObject({ nullable: true, description: 'null for a value that cannot be decrypted' })
  data: Readonly<Record<string, unknown>> | null;
  @Timestamp() updated_at: string;
  @Flag({ optional: true, description: 'true for a value that cannot be decrypted; left out for others' })
  unreadable?: boolean;
}

export class GuildValuesView {
  @Of([UserValueView]) values: UserValueView[];
  @Of(Pagination) pagination: Pagination;
}

export class ValuesErasedView {
  @Flag('false when nothing was stored') deleted: boolean;
}
