/** The notice in every `user_forgotten`. */
const NOTICE =
  'Only data stored through this service was erased. Delete whatever your bot holds of this user elsewhere.';

/** Fields kept of a confirmed payload: ids and times, enough to send the event again. */
const KEPT = ['event', 'request_id', 'user_id', 'guild_id', 'completed_at', 'revoked_at', 'sent_at'];

interface Erasure {
  readonly requestId: string;
  readonly userId: string;
  readonly guildId: string;
  readonly completedAt: string;
}

interface Withdrawal {
  readonly userId: string;
  readonly guildId: string;
  readonly revokedAt: string;
  readonly previousVersion: string;
}

export function userForgottenPayload({ requestId, userId, guildId, completedAt }: Erasure): string {
  const ids = { request_id: requestId, user_id: userId, guild_id: guildId };
  return JSON.stringify({ event: 'user_forgotten', ...ids, completed_at: completedAt, notice: NOTICE });
}

export function consentRevokedPayload({ userId, guildId, revokedAt, previousVersion }: Withdrawal): string {
  const ids = { user_id: userId, guild_id: guildId };
  const event = 'consent_revoked';
  return JSON.stringify({ event, ...ids, revoked_at: revokedAt, previous_version: previousVersion });
}

export function pingPayload(sentAt: string): string {
  return JSON.stringify({ event: 'ping', sent_at: sentAt });
}

/** A confirmed payload, reduced to ids and times. */
export function confirmedPayload(payload: string): string {
  const all = JSON.parse(payload) as Record<string, unknown>;
  return JSON.stringify(Object.fromEntries(Object.entries(all).filter(([key]) => KEPT.includes(key))));
}
