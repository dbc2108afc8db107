import {
  field,
  isObject,
  isText,
  Of,
  OneOf,
  type Presence,
  Slug,
  Snowflake,
  Timestamp,
  Uuid,
  WalkPagination,
  WalkQuery,
} from '@app/http';
import { storableIso } from '@app/kernel';
import { EXPORT_ANSWERS, type ExportAnswer } from './holder-export.entity';
import { TASK_ANSWERS, TASK_RESULTS, type TaskAnswer } from './holder-task.entity';
import { NAME_MAX, optional } from './holders.dto';

export const BASIS_MAX = 200;
const COUNTS_MAX = 50;
const STATEMENT_MAX = 16_384;

/** -0 is none: it is stored as 0, which is not what the holder has signed. */
function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && !Object.is(value, -0);
}

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
      check: (value) =>
        isObject(value) && isText(value['basis'], BASIS_MAX) && storableIso(value['until']) !== undefined,
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
  @Uuid('The erasure; for an export the task itself') request_id: string;
  @Snowflake('00000000000000000000 where a restore has lost the ids') user_id: string;
  @Snowflake() guild_id: string;
  @Timestamp('When the erasure was completed, or the export was made') created_at: string;
  @Timestamp('From this time the task is overdue: 14 days after `created_at`') due_at: string;
  @OneOf([...TASK_RESULTS, 'exported'], {
    nullable: true,
    description:
      'null without an answer; `failed` leaves the task open; abandoned: the holder of this key was deleted before it answered',
  })
  result: string | null;
  @Timestamp({ nullable: true, description: 'Time of the latest answer' }) answered_at: string | null;
}

export class TasksView {
  @Of([TaskView]) tasks: TaskView[];
  @Of(WalkPagination) pagination: WalkPagination;
}

export class AcknowledgeTask {
  @OneOf(
    [...new Set([...TASK_ANSWERS, ...EXPORT_ANSWERS])],
    'erased; nothing: the holder had nothing; kept: something is kept on a legal basis; failed: the task stays open; ' +
      'exported: `data` has what the holder has. A task with the act erase takes erased, nothing, kept or failed; one with the act ' +
      'export takes exported, nothing or failed',
  )
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
