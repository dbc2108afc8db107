import {
  Flag,
  type ItemResult,
  Items,
  JsonObject,
  OneOf,
  Results,
  Snowflake,
  Text,
  Timestamp,
} from '@app/http';
import { getSchemaPath } from '@nestjs/swagger';

const KEY_MAX = 100;

export class SubmitData {
  @Snowflake() user_id: string;
  @Snowflake() guild_id: string;
  @Text(KEY_MAX, { description: 'Key of a registered category' }) category: string;
  @JsonObject({ description: 'Values by field key; null means no value. At most 64 KiB as JSON' })
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
