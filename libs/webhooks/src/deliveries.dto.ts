import {
  Count,
  Flag,
  Integer,
  JsonObject,
  Of,
  OneOf,
  PageQuery,
  Pagination,
  Snowflake,
  Text,
  Timestamp,
  Uuid,
} from '@app/http';
import { DELIVERY_STATUSES, type DeliveryStatus } from './delivery.entity';
import { DELIVERY_EVENTS, type DeliveryEvent } from './webhook-events';

export class DeliveriesQuery extends PageQuery {
  @OneOf(DELIVERY_STATUSES, { optional: true }) status?: DeliveryStatus;
  @OneOf(DELIVERY_EVENTS, { optional: true }) event?: DeliveryEvent;
  @Snowflake({ optional: true }) user_id?: string;
}

export class Replay {
  @Timestamp('Events from this time on are sent again') since: string;
  @Flag({ optional: true, description: 'Leave out calls that the receiver has confirmed; default false' })
  undelivered_only?: boolean | null;
}

export class ReplayView {
  @Count('Deliveries that are sent again') queued: number;
}

export class DeliveryView {
  @Uuid('The `webhook-id` of every attempt') id: string;
  @OneOf(DELIVERY_EVENTS) event: DeliveryEvent;
  @OneOf(DELIVERY_STATUSES) status: DeliveryStatus;
  @Snowflake({ nullable: true }) user_id: string | null;
  @Snowflake({ nullable: true }) guild_id: string | null;
  @Uuid({
    nullable: true,
    description: 'The erasure request of a `user_forgotten`, or of a `holder_task` to erase',
  })
  request_id: string | null;
  @Count() attempt_count: number;
  @Text(32, { nullable: true, description: 'Outcome of the last attempt' }) last_outcome: string | null;
  @Integer(100, 599, { nullable: true }) last_status_code: number | null;
  @Timestamp() created_at: string;
  @Timestamp({ nullable: true, description: 'null when no further attempt is made' }) next_attempt_at:
    string | null;
  @Timestamp({ nullable: true }) finished_at: string | null;
}

export class AttemptView {
  @Integer(1, Number.MAX_SAFE_INTEGER) number: number;
  @Timestamp({ nullable: true, description: 'null for an attempt whose process ended before its result' })
  started_at: string | null;
  @Integer(0, Number.MAX_SAFE_INTEGER, { nullable: true }) duration_ms: number | null;
  @Text(32) outcome: string;
  @Integer(100, 599, { nullable: true }) status_code: number | null;
}

export class DeliveryDetailsView extends DeliveryView {
  @JsonObject('The body that is sent; after the confirmation only ids, keys and times: a replay sends these')
  payload: object;
  @Of([AttemptView]) attempts: AttemptView[];
}

export class DeliveriesView {
  @Of([DeliveryView]) deliveries: DeliveryView[];
  @Of(Pagination) pagination: Pagination;
}
