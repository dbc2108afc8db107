import type { Schemas } from './routes';

/** The `guild_id` of the bot-wide scope: direct messages, and calls that name no guild. */
export const BOT_WIDE_GUILD_ID = '00000000000000000';

/** The compiler refuses a record in which a value of openapi.json is missing, and one with another value. */
const namesOf = <Name extends string>(all: Readonly<Record<Name, true>>): readonly Name[] =>
  Object.keys(all) as Name[];

export type ConsentStatus = Schemas['ConsentStatusView']['status'];
/** Every status of a consent. */
export const CONSENT_STATUSES = /* @__PURE__ */ namesOf<ConsentStatus>({
  none: true,
  pending: true,
  accepted: true,
  revoked: true,
});

/** The types of audit events that the service itself has. */
export const AUDIT_EVENT_TYPES = /* @__PURE__ */ namesOf<Schemas['AuditEventView']['event_type']>({
  consent_requested: true,
  consent_accepted: true,
  consent_revoked: true,
  data_submitted: true,
  data_exported: true,
  data_deleted: true,
  deletion_requested: true,
  deletion_completed: true,
  deletion_failed: true,
});

/** Every status of a webhook call. */
export const DELIVERY_STATUSES = /* @__PURE__ */ namesOf<Schemas['DeliveryView']['status']>({
  pending: true,
  delivered: true,
  exhausted: true,
  gone: true,
  cancelled: true,
});
