import type { Revoked } from '@app/consent';
import type { NamedSubject, Subject } from '@app/crypto';
import type { Forgotten, HolderCall } from '@app/gdpr';
import type { Corrected } from '@app/user-data';

/** What each event of webhooks is about. */
export interface Happened {
  readonly user_forgotten: Forgotten;
  readonly consent_revoked: Revoked;
  readonly data_corrected: Corrected;
  readonly holder_task: HolderCall;
  readonly ping: { readonly sentAt: string };
}
export type DeliveryEvent = keyof Happened;
export type EventOfSubject = Exclude<DeliveryEvent, 'ping'>;

/** An event to send to a bot. */
export interface OutgoingEvent {
  readonly botId: string;
  readonly event: DeliveryEvent;
  /** The body of the call. */
  readonly payload: string;
  readonly subject?: Subject;
  /** The erasure that the event is about: such a call outlives the key of its subject. */
  readonly requestId?: string | undefined;
}

/** A payload in two parts. There is no third: each field is kept, or dropped by its name. */
interface WebhookEvent<About> {
  /** Ids, keys and times: what is sent again after the confirmation. */
  readonly kept: (about: About) => object;
  /** Fields by name that the first confirmation removes. */
  readonly dropped?: Readonly<Record<string, (about: About) => unknown>>;
  /** {@link OutgoingEvent.requestId} */
  readonly erasure?: (about: About) => string | undefined;
}

const NOTICE =
  'Only data stored through this service was erased. Delete whatever your bot holds of this user elsewhere.';

const idsOf = ({ ids: { user_id, guild_id } }: NamedSubject): object => ({ user_id, guild_id });

const EVENTS: { readonly [Event in DeliveryEvent]: WebhookEvent<Happened[Event]> } = {
  user_forgotten: {
    kept: ({ subject, requestId: request_id, completedAt: completed_at }) => ({
      ...{ request_id, ...idsOf(subject), completed_at },
    }),
    dropped: { notice: () => NOTICE },
    erasure: ({ requestId }) => requestId,
  },
  consent_revoked: {
    kept: ({ subject, revokedAt: revoked_at }) => ({ ...idsOf(subject), revoked_at }),
    dropped: { previous_version: ({ previousVersion }) => previousVersion },
  },
  // It names what was corrected, and no value: the bot reads that under the consent.
  data_corrected: {
    kept: ({ subject, category, fields, at }) => ({ ...idsOf(subject), category, fields, at }),
  },
  // The task as `GET /holders/{key}/tasks` has it.
  holder_task: {
    kept: ({ subject, holderKey: holder, act, taskId: task_id, createdAt: created_at, dueAt: due_at }) => ({
      ...{ holder, task_id, act, request_id: task_id, ...idsOf(subject), created_at, due_at },
    }),
    erasure: ({ act, taskId }) => (act === 'erase' ? taskId : undefined),
  },
  ping: { kept: ({ sentAt: sent_at }) => ({ sent_at }) },
};

export const DELIVERY_EVENTS = Object.keys(EVENTS) as readonly DeliveryEvent[];

export function payloadOf<Event extends DeliveryEvent>(event: Event, about: Happened[Event]): string {
  const { kept, dropped = {} } = EVENTS[event];
  const more = Object.entries(dropped).map(([name, valueOf]) => [name, valueOf(about)]);
  return JSON.stringify({ event, ...kept(about), ...Object.fromEntries(more) });
}

export function outgoing<Event extends EventOfSubject>(event: Event, about: Happened[Event]): OutgoingEvent {
  const { subject } = about;
  const requestId = EVENTS[event].erasure?.(about);
  return { botId: subject.botId, event, subject, requestId, payload: payloadOf(event, about) };
}

/** A confirmed payload without the fields that its event drops. What only a newer version knows is kept. */
export function confirmedPayload(event: string, payload: string): string {
  const events: Readonly<Record<string, Pick<WebhookEvent<never>, 'dropped'>>> = EVENTS;
  const dropped = Object.keys(events[event]?.dropped ?? {});
  const fields = Object.entries(JSON.parse(payload) as object);
  return JSON.stringify(Object.fromEntries(fields.filter(([name]) => !dropped.includes(name))));
}
