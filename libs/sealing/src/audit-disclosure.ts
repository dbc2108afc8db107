import type { Salts } from '@app/primitives';
import { type Parts, partHash } from './audit-leaf';
import { type Entry, SALTED_BY } from './batch-entries';
import type { OpenEvent } from './event-commitments';

/** A personal part with the salt that verifies it, or only its hash where the part must stay secret. */
export type DisclosedPart =
  { readonly value: string | null; readonly salt: string } | { readonly hash: string };

/** An event for a party that does not trust the service: the leaf proves every field except `erased`. */
export interface DisclosedEvent {
  readonly seq: number;
  readonly id: string;
  readonly event_type: string;
  readonly source: string;
  readonly created_at: string;
  readonly commitment: string;
  readonly erased: boolean;
  /** Null once they are erased. */
  readonly parts: Readonly<Record<keyof Parts, DisclosedPart>> | null;
}

/** The parts of a sealed event that its bot may read; parts that identify an erased user are hidden. */
export function disclosed(
  event: OpenEvent,
  { commitment, saltedBy }: Entry,
  salts: Salts | undefined,
): DisclosedEvent {
  const { seq, id, event_type, source, created_at, parts, isErased, isClosed } = event;
  const isAboutErasure = saltedBy === SALTED_BY.installation;
  return {
    ...{ seq, id, event_type, source, created_at },
    commitment: commitment.toString('base64url'),
    erased: isErased,
    parts:
      salts === undefined || isClosed || isErased !== isAboutErasure
        ? null
        : {
            user: part(salts.user, 'user', parts.user, isAboutErasure),
            guild: part(salts.guild, 'guild', parts.guild, isAboutErasure),
            details: part(salts.details, 'details', parts.details),
          },
  };
}

function part(salt: Buffer, name: keyof Parts, value: string | null, isDigest = false): DisclosedPart {
  // One digest in all events of an erased user would show which events belong together.
  return isDigest
    ? { hash: partHash(salt, name, value).toString('base64url') }
    : { value, salt: salt.toString('base64url') };
}
