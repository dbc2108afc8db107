/** The reserved guild id of the bot-wide scope: direct messages, and calls that name no guild. */
export const BOT_WIDE_GUILD_ID = '0'.repeat(17);

export const AUDIT_EVENT_TYPES = [
  'consent_requested',
  'consent_accepted',
  'consent_revoked',
  'data_submitted',
  'data_exported',
  'data_deleted',
  'deletion_requested',
  'deletion_completed',
  'deletion_failed',
] as const;
export type AuditEventType = (typeof AUDIT_EVENT_TYPES)[number];
