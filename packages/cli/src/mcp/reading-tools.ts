import { AUDIT_EVENT_TYPES, DELIVERY_STATUSES, type Lethe, type Schemas, WEBHOOK_EVENTS } from '@lethe/sdk';
import { refused } from '../failures';
import type { Session } from '../session';
import { type Given, GUILD, NEXT, PAGE, type Schema, type Tool, USER } from './tool';
import { summaryOf } from './user-summary';

const oneOf = (names: readonly string[]): Schema => ({
  ...{ type: 'string', enum: names },
  description: `only these, one of ${names.join(', ')}`,
});
const DAY: Schema = {
  ...{ type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
  description: 'a day like 2026-01-31',
};
const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
const ARRAY = { type: 'array' } as const;
const OBJECT = { type: 'object' } as const;
const TEXT = { type: 'string' } as const;
const SUBJECT = { input: { user_id: USER, guild_id: GUILD }, required: ['user_id', 'guild_id'] };

type Event = Schemas['AuditEventView'];

interface Pagination {
  readonly next: string | null;
  readonly total_count: number;
}

const paged = ({ next, total_count }: Pagination): object => ({ next, total_count });
/** The arguments as those of the route, whose checks are the same. */
const asked = <T>(given: Given): T => ({ page_size: 20, ...given }) as T;

/** A bot writes into the details of an event what it likes, also what it knows about a user. */
const withoutDetails = ({
  id,
  event_type,
  source,
  user_id,
  guild_id,
  created_at,
  erased,
}: Event): object => ({
  ...{ id, event_type, source, user_id, guild_id, created_at },
  ...(erased !== undefined && { erased }),
});

/** The tools that read. None has a value of a user in its result. */
export const readingTools = (session: Session): Tool[] => [
  {
    name: 'service_status',
    description: 'Whether the service answers, the bot of the API key, and how its webhook calls fare.',
    ...{ input: {}, required: [] },
    output: { service: TEXT, bot: OBJECT, webhook_health: { type: ['object', 'null'] } },
    run: async (_, { lethe, signal }) => {
      const { webhook_url: url, webhook_health, ...bot } = await lethe.bots.me({}, { signal });
      const { id, name, platform_bot_id, created_at, suspended_at } = bot;
      const has = { has_webhook_url: url !== null, has_privacy_contact: bot.privacy_contact !== null };
      return {
        service: new URL(session.url).origin,
        bot: { id, name, platform_bot_id, created_at, ...(suspended_at && { suspended_at }), ...has },
        webhook_health,
      };
    },
  },
  {
    name: 'list_categories',
    description: 'What the bot has declared that it stores: categories with fields, purposes and retention.',
    ...{ input: PAGE, required: [], output: { categories: ARRAY, ...NEXT } },
    run: async (given, { lethe, signal }) => {
      const { categories, pagination } = await lethe.request('GET /data/categories', asked(given), {
        signal,
      });
      return { categories, ...paged(pagination) };
    },
  },
  {
    name: 'consent_status',
    description: 'The state of the consent of a user in a guild.',
    ...{ ...SUBJECT, output: { status: TEXT } },
    run: (given, { lethe, signal }) => lethe.consents.status(given as never, { signal }),
  },
  {
    name: 'consent_history',
    description: 'What a user was shown and has decided in a guild, newest first, with digests of the words.',
    ...{ input: { ...SUBJECT.input, ...PAGE }, required: SUBJECT.required },
    output: { entries: ARRAY, ...NEXT },
    run: async (given, { lethe, signal }) => {
      const { entries, pagination } = await lethe.request('GET /consents/history', asked(given), { signal });
      return { entries, ...paged(pagination) };
    },
  },
  {
    name: 'audit_events',
    description:
      'The audit log, newest first, without the details of the events: lethe events shows these at a terminal.',
    input: { user_id: USER, guild_id: GUILD, event_type: oneOf(AUDIT_EVENT_TYPES), ...PAGE },
    ...{ required: [], output: { events: ARRAY, ...NEXT } },
    run: async (given, { lethe, signal }) => {
      const answer = await lethe.request('GET /audit/events', asked(given), { signal });
      return {
        events: answer.events.map(withoutDetails),
        ...paged(answer.pagination),
      };
    },
  },
  {
    name: 'webhook_deliveries',
    description:
      'The webhook calls of the last 30 days, newest first, without their bodies. Given up are exhausted and gone.',
    input: { status: oneOf(DELIVERY_STATUSES), event: oneOf(WEBHOOK_EVENTS), user_id: USER, ...PAGE },
    ...{ required: [], output: { deliveries: ARRAY, ...NEXT } },
    run: async (given, { lethe, signal }) => {
      const answer = await lethe.request('GET /webhooks/deliveries', asked(given), { signal });
      return { deliveries: answer.deliveries, ...paged(answer.pagination) };
    },
  },
  {
    name: 'statistics',
    description: 'Counts of acts, webhook calls and erasures by day or hour (UTC), of 30 days without dates.',
    input: { from: DAY, to: DAY, bucket: { ...oneOf(['hour', 'day']), description: 'hour or day' } },
    ...{ required: [], output: { buckets: ARRAY } },
    run: (given, { lethe, signal }) => lethe.stats(given, { signal }),
  },
  {
    name: 'user_summary',
    description:
      'What is stored about a user: categories, number of fields, bytes, times, consent, objections and restrictions; ' +
      'no values. Without guild_id in every guild of the bot.',
    input: { user_id: USER, guild_id: GUILD, after: PAGE.after },
    ...{ required: ['user_id'], output: { user_id: TEXT, guilds: ARRAY, ...NEXT } },
    run: async (given, { lethe, signal }) => {
      const where = given as { user_id: string; guild_id?: string; after?: string };
      return { user_id: where.user_id, ...(await summaryOf(lethe, where, where.after, signal)) };
    },
  },
  {
    name: 'erasure_status',
    description:
      'The state of an erasure by its request_id. Only completed means that the user is erased; coverage has the ' +
      'answers of the stores of the bot.',
    input: { request_id: { type: 'string', pattern: UUID, description: 'the request_id of the erasure' } },
    ...{ required: ['request_id'], output: { request_id: TEXT, status: TEXT } },
    run: ({ request_id }, { lethe, signal }) => lethe.privacy.status(String(request_id), { signal }),
  },
];

const EXPORT_MAX_BYTES = 256 * 1024;

/** Everything about a user with all values: for `--allow-export` alone. */
export const exportingTool = (): Tool => ({
  name: 'export_user',
  description:
    'Everything that is stored about a user in a guild, with all values (GDPR Art. 15). It is recorded in the audit log.',
  ...{ ...SUBJECT, output: { export: OBJECT }, effect: 'records' },
  run: async (given, { lethe, signal }) => ({ export: await exported(lethe, given, signal) }),
});

async function exported(lethe: Lethe, given: Given, signal: AbortSignal): Promise<object> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of await lethe.data.exportStream(given as never, { signal })) {
    length += part.length;
    if (length > EXPORT_MAX_BYTES)
      throw refused(
        `The export is larger than ${EXPORT_MAX_BYTES} bytes.`,
        `A human writes it into a file: lethe export ${String(given['user_id'])} --guild ${String(given['guild_id'])} --output FILE`,
      );
    parts.push(part);
  }
  return JSON.parse(Buffer.concat(parts).toString()) as object;
}
