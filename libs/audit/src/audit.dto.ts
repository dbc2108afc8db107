import { Flag, JsonObject, Of, OneOf, PageQuery, Pagination, Snowflake, Timestamp, Uuid } from '@app/http';
import { AUDIT_EVENT_TYPES, type AuditEventType } from '@app/kernel';
import { type AnyEventType, EventType } from './event-types';

export class WriteAuditEvent {
  @Snowflake() user_id: string;
  @Snowflake() guild_id: string;
  @OneOf(AUDIT_EVENT_TYPES) event_type: AuditEventType;
  @JsonObject({ optional: true, nullable: true, description: 'At most 8 KiB as JSON' }) details?: Record<
    string,
    unknown
  > | null;
}

export class AuditQuery extends PageQuery {
  @Snowflake({ optional: true }) user_id?: string;
  @Snowflake({ optional: true }) guild_id?: string;
  @EventType({ optional: true }) event_type?: AnyEventType;
}

export class AuditEventView {
  @Uuid() id: string;
  @Snowflake() guild_id: string;
  @Snowflake() user_id: string;
  @EventType() event_type: AnyEventType;
  @OneOf(['service', 'client'], '`client` for events that the bot posted') source: string;
  @JsonObject({ nullable: true }) details: object | null;
  @Timestamp() created_at: string;
  @Flag({
    optional: true,
    description: 'true once the user was erased: the ids are 20 zeros, unless the request has named them',
  })
  erased?: boolean;
  @Flag({
    optional: true,
    description:
      'true where the stored details cannot be decrypted, because they or the key of their user are damaged',
  })
  unreadable?: boolean;
}

export class AuditEventsView {
  @Of([AuditEventView]) events: AuditEventView[];
  @Of(Pagination) pagination: Pagination;
}
