import { isDigest, type Salts } from '@app/primitives';
import { type Parts, partHash } from './audit-leaf';
import { type Entry, SALTED_BY } from './batch-entries';
import type { OpenEvent } from './event-commitments';

/** A personal part with the salt by which anybody can check it, or, where it may not be told, its hash alone. */
export type DisclosedPart =
  { readonly value: string | null; readonly salt: string } | { readonly hash: string };

/** An event for somebody who does not trust the service: but for `erased`, all that is told of it its leaf proves. */
export interface DisclosedEvent {
  readonly seq: number;
  readonly id: string;
  readonly event_type: string;
  readonly source: string;
  readonly created_at: string;
  readonly commitment: string;
  readonly erased: boolean;
  /** Null where they are gone. */
  readonly parts: Readonly<Record<keyof Parts, DisclosedPart>> | null;
}

/** Of a sealed event all that its bot may know; what says who an erased user was stays behind. */
export function disclosed(
  event: OpenEvent,
  { commitment, saltedBy }: Entry,
  salts: Salts | undefined,
): DisclosedEvent {
  const { seq, id, event_type, source, created_at, parts, isErased } = event;
  // What was sealed before an erasure took its ids fits them no more.
  const isLeft = salts !== undefined && isErased === (saltedBy === SALTED_BY.erased);
  return {
    ...{ seq, id, event_type, source, created_at },
    commitment: commitment.toString('base64url'),
    erased: isErased,
    parts: isLeft
      ? {
          user: part(salts.user, 'user', parts.user),
          guild: part(salts.guild, 'guild', parts.guild),
          details: part(salts.details, 'details', parts.details),
        }
      : null,
  };
}

function part(salt: Buffer, name: keyof Parts, value: string | null): DisclosedPart {
  // One digest for all events of an erased user would tell which of them belong together.
  return name !== 'details' && value !== null && isDigest(value)
    ? { hash: partHash(salt, name, value).toString('base64url') }
    : { value, salt: salt.toString('base64url') };
}
