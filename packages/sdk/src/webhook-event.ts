import type { Schemas } from './routes';

/** A user was erased: delete your data of this user in this guild. */
export interface UserForgottenEvent {
  readonly event: 'user_forgotten';
  readonly request_id: string;
  readonly user_id: string;
  readonly guild_id: string;
  readonly completed_at: string;
  readonly notice?: string;
}

/** A consent was withdrawn: stop processing for this user in this guild. */
export interface ConsentRevokedEvent {
  readonly event: 'consent_revoked';
  readonly user_id: string;
  readonly guild_id: string;
  readonly revoked_at: string;
  readonly previous_version?: string;
}

/** A user has corrected values on the privacy page (GDPR Art. 16): read them anew, and correct your copies. */
export interface DataCorrectedEvent {
  readonly event: 'data_corrected';
  readonly user_id: string;
  readonly guild_id: string;
  /** The key of the category. */
  readonly category: string;
  /** The keys of the corrected fields. The values are not sent. */
  readonly fields: readonly string[];
  readonly at: string;
}

/** A store of the bot has a task: erase the user there, or with `act` `export` only read; answer it by `holders.acknowledge`. */
export interface HolderTaskEvent {
  readonly event: 'holder_task';
  /** The key of the holder, of the kind `webhook`. */
  readonly holder: string;
  readonly task_id: string;
  readonly act: 'erase' | 'export';
  /** The erasure; for an export the task itself. */
  readonly request_id: string;
  readonly user_id: string;
  readonly guild_id: string;
  readonly created_at: string;
  /** From this time the task is overdue. */
  readonly due_at: string;
}

/** The answer to `POST /webhooks/test`. */
export interface PingEvent {
  readonly event: 'ping';
  readonly sent_at: string;
}

export type WebhookEvent =
  UserForgottenEvent | ConsentRevokedEvent | DataCorrectedEvent | HolderTaskEvent | PingEvent;

/** The compiler refuses an event of openapi.json that is missing here, and one that is no {@link WebhookEvent}. */
const ALL: Readonly<Record<Schemas['DeliveryView']['event'], true>> = {
  user_forgotten: true,
  consent_revoked: true,
  data_corrected: true,
  holder_task: true,
  ping: true,
} satisfies Readonly<Record<WebhookEvent['event'], true>>;
/** Every event that the service sends. */
export const WEBHOOK_EVENTS: readonly string[] = Object.keys(ALL);

/** A verified call of the service. */
export interface VerifiedWebhook {
  /** The same in every attempt of one delivery: process each id once. */
  readonly id: string;
  readonly sentAt: Date;
  readonly event: WebhookEvent;
}
