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

/**
 * What a verified event says was done. Several acts, one of which it was, where the details of an event of the service are not
 * shown, as after an erasure. An act or a type that is newer than this package is not among `AuditAct`.
 */
export function actsOf({ event_type: type, source, parts }: AuditEventEvidence): readonly string[] {
  if (source !== 'service') return [type];
  if (parts === null)
    return [type, ...Object.keys(TYPES).filter((act) => TYPES[act as keyof typeof TYPES] === type)];
  const details = JSON.parse(parts.details?.value ?? 'null') as { readonly act?: unknown } | null;
  return [typeof details?.act === 'string' ? details.act : type];
}
