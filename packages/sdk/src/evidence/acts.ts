import type { Schemas } from '../routes';
import type { AuditEventEvidence } from './audit-hashes';

/** Acts of the service that have the event type of another act: the `act` of their details tells them apart. */
const TYPES = {
  objection: 'data_deleted',
  restriction: 'consent_revoked',
  restriction_ended: 'consent_accepted',
} as const;

/** What an event can be about: its type, or an act of its details. */
export type AuditAct = Schemas['AuditEventView']['event_type'] | keyof typeof TYPES;

/** Each act in English, as a part of a sentence. */
export const ACTS_EN: Readonly<Record<AuditAct, string>> = {
  consent_requested: 'a consent was asked for',
  consent_accepted: 'a consent was given',
  consent_revoked: 'a consent was withdrawn',
  data_submitted: 'data was stored',
  data_exported: 'data was exported',
  data_deleted: 'data was deleted',
  deletion_requested: 'an erasure was asked for',
  deletion_completed: 'an erasure was completed',
  deletion_failed: 'an erasure failed',
  objection: 'an objection to processing was recorded',
  restriction: 'a restriction of processing was recorded',
  restriction_ended: 'a restriction of processing was ended',
};

/**
 * What a verified event says was done. Several acts, one of which it was, where the details of an event of the service are not
 * shown, as after an erasure. An act or a type that is newer than this package is not among `AuditAct`.
 */
export function actsOf({
  event_type: type,
  source,
  parts,
}: Pick<AuditEventEvidence, 'event_type' | 'source' | 'parts'>): readonly string[] {
  if (source !== 'service') return [type];
  if (parts === null)
    return [type, ...Object.keys(TYPES).filter((act) => TYPES[act as keyof typeof TYPES] === type)];
  const details = JSON.parse(parts.details?.value ?? 'null') as { readonly act?: unknown } | null;
  return [typeof details?.act === 'string' ? details.act : type];
}
