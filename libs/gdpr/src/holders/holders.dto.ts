import { Count, field, Of, OneOf, Pagination, type Presence, Slug, Text, Texts, Timestamp } from '@app/http';
import { ApiProperty } from '@nestjs/swagger';
import { HOLDER_KINDS, type HolderKind } from './bot-holder.entity';
import { isVerifyingKey } from './verifying-key';

const COVERS_MAX = 50;
export const NAME_MAX = 64;
export const LABEL_MAX = 200;
const KEY_BYTES = 32;

const PublicKey = (given: Presence): PropertyDecorator =>
  field(
    {
      check: (value) =>
        typeof value === 'string' &&
        Buffer.from(value, 'base64url').length === KEY_BYTES &&
        Buffer.from(value, 'base64url').toString('base64url') === value &&
        isVerifyingKey(Buffer.from(value, 'base64url')),
      message:
        'must be an Ed25519 public key: its 32 bytes in base64url, which are 43 characters without padding, and a point that can verify a signature',
      schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' },
    },
    { ...given, description: 'Ed25519, 32 bytes in base64url. With it each answer of the holder is signed' },
  );

export const optional: Presence = { optional: true, nullable: true };
const KIND =
  'pull: the holder asks for its tasks; webhook: each task is also sent to the `webhook_url` of the bot, as `holder_task`';
const COVERS = 'Names of the data in the store, for people to read';

export class RegisterHolder {
  @Slug() key: string;
  @OneOf(HOLDER_KINDS, KIND) kind: HolderKind;
  @Texts(NAME_MAX, COVERS_MAX, COVERS) covers: string[];
  @Text(LABEL_MAX) label_de: string;
  @Text(LABEL_MAX) label_en: string;
  @PublicKey(optional) public_key?: string | null;
}

export class ChangeHolder {
  @OneOf(HOLDER_KINDS, { optional: true, description: KIND }) kind?: HolderKind | null;
  @Texts(NAME_MAX, COVERS_MAX, { optional: true, description: COVERS }) covers?: string[] | null;
  @Text(LABEL_MAX, { optional: true }) label_de?: string | null;
  @Text(LABEL_MAX, { optional: true }) label_en?: string | null;
  @PublicKey(optional) public_key?: string | null;
}

export class HolderDeletionQuery {
  @OneOf(['true', 'false'], {
    optional: true,
    description: 'true: the open tasks of the holder get the result abandoned',
  })
  abandon?: string;
}

export class HolderView {
  @Slug() key: string;
  @OneOf(HOLDER_KINDS) kind: string;
  @Texts(NAME_MAX, COVERS_MAX) covers: readonly string[];
  @Text(LABEL_MAX) label_de: string;
  @Text(LABEL_MAX) label_en: string;
  @PublicKey({ nullable: true }) public_key: string | null;
  @Count('Counted up to 1000') open_tasks: number;
  @Timestamp({ nullable: true, description: 'When the oldest open task was made' }) oldest_open_at:
    string | null;
  @Timestamp() created_at: string;
  @Timestamp() updated_at: string;
}

export class HoldersView {
  @Of([HolderView]) holders: HolderView[];
  @Of(Pagination) pagination: Pagination;
}

export class HolderDeletedView {
  @Slug() key: string;
  @ApiProperty({ enum: [true] }) deleted: boolean;
  @Count('Open tasks that got the result abandoned') abandoned: number;
}
