import type { Revoked } from '@app/consent';
import type { Forgotten } from '@app/erasure';
import type { NamedSubject, SubjectIds } from '@app/subjects';

/** The notice in every `user_forgotten`. */
const NOTICE =
  'Only data stored through this service was erased. Delete whatever your bot holds of this user elsewhere.';

/** Fields kept of a confirmed payload: ids and times, enough to send the event again. */
const KEPT = ['event', 'request_id', 'user_id', 'guild_id', 'completed_at', 'revoked_at', 'sent_at'];

export function userForgottenPayload({ subject, requestId, completedAt }: Forgotten): string {
  const event = 'user_forgotten';
  const ids = { request_id: requestId, ...idsOf(subject) };
  return JSON.stringify({ event, ...ids, completed_at: completedAt, notice: NOTICE });
}

export function consentRevokedPayload({ subject, revokedAt, previousVersion }: Revoked): string {
  const event = 'consent_revoked';
  return JSON.stringify({
    event,
    ...idsOf(subject),
    revoked_at: revokedAt,
    previous_version: previousVersion,
  });
}

function idsOf({ ids: { user_id, guild_id } }: NamedSubject): SubjectIds {
  return { user_id, guild_id };
}

export function pingPayload(sentAt: string): string {
  return JSON.stringify({ event: 'ping', sent_at: sentAt });
}

/** A confirmed payload, reduced to ids and times. */
export function confirmedPayload(payload: string): string {
  const all = JSON.parse(payload) as Record<string, unknown>;
  return JSON.stringify(Object.fromEntries(Object.entries(all).filter(([key]) => KEPT.includes(key))));
}
