import {
  Count,
  field,
  isObject,
  OneOf,
  Pagination,
  type Presence,
  Slug,
  Snowflake,
  Text,
  Texts,
  Timestamp,
  Uuid,
  WalkPagination,
  WalkQuery,
} from '@app/http';
import { codePoints, isReadableText, momentMs } from '@app/kernel';
import { ApiProperty } from '@nestjs/swagger';
import { HOLDER_KINDS, type HolderKind } from './bot-holder.entity';
import { EXPORT_ANSWERS, type ExportAnswer } from './holder-export.entity';
import { TASK_ANSWERS, TASK_RESULTS, type TaskAnswer } from './holder-task.entity';

const COVERS_MAX = 50;
const NAME_MAX = 64;
export const LABEL_MAX = 200;
export const BASIS_MAX = 200;
const COUNTS_MAX = 50;
const STATEMENT_MAX = 16_384;
const KEY_BYTES = 32;

const isText = (value: unknown, max: number): boolean =>
  typeof value === 'string' && codePoints(value) <= max && isReadableText(value);

/** A moment of the years 0 to 9999. */
function isStorable(value: unknown): boolean {
  const atMs = momentMs(value);
  return atMs !== undefined && new Date(atMs).toISOString().length === 24;
}

/** -0 is none: it is stored as 0, which is not what the holder has signed. */
function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && !Object.is(value, -0);
}

const PublicKey = (given: Presence): PropertyDecorator =>
  field(
    {
      check: (value) =>
        typeof value === 'string' &&
        Buffer.from(value, 'base64url').length === KEY_BYTES &&
        Buffer.from(value, 'base64url').toString('base64url') === value,
      message:
        'must be an Ed25519 public key: its 32 bytes in base64url, which are 43 characters without padding',
      schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' },
    },
    { ...given, description: 'Ed25519, 32 bytes in base64url. With it each answer of the holder is signed' },
  );

/** Numbers of records, by names that the bot gives them. */
const Counts = (given: Presence): PropertyDecorator =>
  field(
    {
      check: (value) =>
        isObject(value) &&
        Object.keys(value).length <= COUNTS_MAX &&
        Object.entries(value).every(([name, count]) => isText(name, NAME_MAX) && isCount(count)),
      message: `must be an object of at most ${COUNTS_MAX} whole numbers from 0 by names of 1 to ${NAME_MAX} characters`,
      schema: {
        type: 'object',
        additionalProperties: { type: 'integer', minimum: 0 },
        maxProperties: COUNTS_MAX,
        example: { messages: 3 },
      },
    },
    given,
  );

/** Why something is kept, and until when. */
export interface KeptGiven {
  readonly basis: string;
  readonly until: string;
}

const Kept = (given: Presence): PropertyDecorator =>
  field(
    {
      check: (value) => isObject(value) && isText(value['basis'], BASIS_MAX) && isStorable(value['until']),
      message: `must be an object of basis, a text of 1 to ${BASIS_MAX} characters, and until, an ISO 8601 time with its zone before the year 10000`,
      schema: {
        type: 'object',
        required: ['basis', 'until'],
        properties: {
          basis: { type: 'string', minLength: 1, maxLength: BASIS_MAX },
          until: { type: 'string', format: 'date-time' },
        },
      },
    },
    {
      ...given,
      description:
        'The legal basis on which the store keeps data (GDPR Art. 17(3)), and when that basis ends. Only with the result kept',
    },
  );

const Statement = (given: Presence): PropertyDecorator =>
  field(
    {
      check: (value) => typeof value === 'string' && value.length <= STATEMENT_MAX,
      message: `must be a compact JWS of at most ${STATEMENT_MAX} characters`,
      schema: { type: 'string', maxLength: STATEMENT_MAX },
    },
    {
      ...given,
      description: 'Compact JWS over the answer, signed by the holder; required where it has a `public_key`',
    },
  );

/** What stores have, by the names that the bot gives them. */
const Stated = (given: Presence): PropertyDecorator =>
  field(
    {
      check: (value) =>
        isObject(value) &&
        Object.keys(value).length <= COUNTS_MAX &&
        Object.keys(value).every((name) => isText(name, NAME_MAX)),
      message: `must be an object of at most ${COUNTS_MAX} values by names of stores of 1 to ${NAME_MAX} characters`,
      schema: {
        type: 'object',
        additionalProperties: true,
        maxProperties: COUNTS_MAX,
        example: { messages: [{ sent_at: '2026-11-20T12:00:00.000Z', text: 'Hello' }] },
      },
    },
    {
      ...given,
      description:
        'What the stores have about the user, by names of stores; at most 229376 bytes as JSON. Only with the result exported',
    },
  );

const optional: Presence = { optional: true, nullable: true };
const COVERS = { description: 'Names of the data in the store, for people to read' };

export class RegisterHolder {
  @Slug() key: string;
  @OneOf(HOLDER_KINDS, { description: 'pull: the holder asks for its tasks' }) kind: HolderKind;
  @Texts(NAME_MAX, COVERS_MAX, COVERS) covers: string[];
  @Text(LABEL_MAX) label_de: string;
  @Text(LABEL_MAX) label_en: string;
  @PublicKey(optional) public_key?: string | null;
}

export class ChangeHolder {
  @Texts(NAME_MAX, COVERS_MAX, { ...COVERS, optional: true }) covers?: string[] | null;
  @Text(LABEL_MAX, { optional: true }) label_de?: string | null;
  @Text(LABEL_MAX, { optional: true }) label_en?: string | null;
  @PublicKey(optional) public_key?: string | null;
}

export class HolderPath {
  @Slug() key: string;
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
  @ApiProperty({ type: [HolderView] }) holders: HolderView[];
  @ApiProperty({ type: Pagination }) pagination: Pagination;
}

export class HolderDeletedView {
  @Slug() key: string;
  @ApiProperty({ enum: [true] }) deleted: boolean;
  @Count('Open tasks that got the result abandoned') abandoned: number;
}

export class TasksQuery extends WalkQuery {
  @Timestamp({
    optional: true,
    description: 'Behind the open tasks those that were answered at or after this time follow',
  })
  since?: string;
}

export class TaskPath {
  @Slug() key: string;
  @Uuid() task_id: string;
}

export class TaskView {
  @Uuid() task_id: string;
  @OneOf(['erase', 'export']) act: string;
  @Uuid({ description: 'The erasure; for an export the task itself' }) request_id: string;
  @Snowflake({ description: '00000000000000000000 where a restore has lost the ids' }) user_id: string;
  @Snowflake() guild_id: string;
  @Timestamp({ description: 'When the erasure was completed, or the export was made' }) created_at: string;
  @Timestamp({ description: 'From this time the task is overdue: 14 days after `created_at`' })
  due_at: string;
  @OneOf([...TASK_RESULTS, 'exported'], {
    nullable: true,
    description:
      'null without an answer; `failed` leaves the task open; abandoned: the holder of this key was deleted before it answered',
  })
  result: string | null;
  @Timestamp({ nullable: true, description: 'Time of the latest answer' }) answered_at: string | null;
}

export class TasksView {
  @ApiProperty({ type: [TaskView] }) tasks: TaskView[];
  @ApiProperty({ type: WalkPagination }) pagination: WalkPagination;
}

export class AcknowledgeTask {
  @OneOf([...new Set([...TASK_ANSWERS, ...EXPORT_ANSWERS])], {
    description:
      'erased; nothing: the holder had nothing; kept: something is kept on a legal basis; failed: the task stays open; ' +
      'exported: `data` has what the holder has. A task with the act erase takes erased, nothing, kept or failed; one with the act ' +
      'export takes exported, nothing or failed',
  })
  result: TaskAnswer | ExportAnswer;
  @Counts({
    ...optional,
    description: 'Numbers of records that the store has erased or keeps, by names that the bot gives',
  })
  counts?: Readonly<Record<string, number>> | null;
  @Kept(optional) kept?: KeptGiven | null;
  @Stated(optional) data?: Readonly<Record<string, unknown>> | null;
  @Statement(optional) statement?: string | null;
}
