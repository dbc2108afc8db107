import { EventType } from '@app/audit';
import { Count, Flag, Integer, Of, OneOf, Pagination, QueryInteger, Timestamp, Uuid } from '@app/http';
import { ApiProperty } from '@nestjs/swagger';
import type { Parts } from './audit-leaf';

const MAX = Number.MAX_SAFE_INTEGER;
const HASH = '32 bytes in base64url';
const JWS = 'Compact JWS; its key is in /.well-known/lethe-keys.json';

const part = {
  type: 'object',
  properties: {
    value: { type: 'string', nullable: true },
    salt: { type: 'string' },
    hash: { type: 'string' },
  },
} as const;

export class EventPath {
  @Uuid() event_id: string;
}

export class AuditExportQuery {
  @QueryInteger(0, MAX, 0) after?: string;
}

/** A personal part with the salt that verifies it, or only its hash where the part must stay secret. */
export type DisclosedPart =
  { readonly value: string | null; readonly salt: string } | { readonly hash: string };

/** An event for a party that does not trust the service: the leaf proves every field except `erased`. */
export class ProvenEventView {
  @Integer(1, MAX) seq: number;
  @Uuid() id: string;
  @EventType() event_type: string;
  @OneOf(['service', 'client']) source: string;
  @Timestamp() created_at: string;
  @Of(String, HASH) commitment: string;
  @Flag() erased: boolean;
  @ApiProperty({
    type: 'object',
    nullable: true,
    description:
      'The parts behind the commitment: each with its salt, or only its hash where it must stay secret; null once erased',
    properties: { user: part, guild: part, details: part },
  })
  parts: Readonly<Record<keyof Parts, DisclosedPart>> | null;
}

export class AuditProofView {
  @Uuid() bot_id: string;
  @Of(ProvenEventView) event: ProvenEventView;
  @Count() leaf_index: number;
  @Of([String], 'Hashes from the leaf up to the root (RFC 9162)') path: string[];
  @Of(String, JWS) checkpoint: string;
}

export class CheckpointView {
  @Integer(1, MAX) number: number;
  @Integer(1, MAX) first_seq: number;
  @Integer(1, MAX) last_seq: number;
  @Integer(1, MAX) events: number;
  @Of(String, HASH) root: string;
  @Of(String, HASH) chain: string;
  @Timestamp() sealed_at: string;
  @Of(String, JWS) checkpoint: string;
}

export class CheckpointsView {
  @Of([CheckpointView]) checkpoints: CheckpointView[];
  @Of(String, { nullable: true, description: 'Signed statement of what was pruned, if anything was' })
  pruning: string | null;
  @Of(Pagination) pagination: Pagination;
}

/** Documentation of the audit export: one JSON value a line. */
export class AuditLineView {
  @OneOf(['log', 'event', 'batch', 'end']) type: string;
}
