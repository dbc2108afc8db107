export { type Claim, DeliveryLeases } from './delivery-leases';
export { DeliveryResults } from './delivery-results';
export { DeliveriesSettled } from './deliveries-settled.event';
export { DeliveryTexts } from './delivery-texts';
export { DeliveryRetention } from './delivery-retention.job';
export {
  Attempt,
  Delivery,
  DELIVERY_EVENTS,
  DELIVERY_STATUSES,
  ReceiverHealth,
  UrlChange,
} from './delivery.entity';
export { Dispatcher } from './dispatcher';
export { HttpWebhookSender } from './http.sender';
export { NameResolver } from './name-resolver';
export { Outbox } from './outbox';
export { type OutboxState, outboxState } from './outbox-state';
export { RetrySchedule } from './retry-schedule';
export { WakeUpTimer } from './wake-up-timer';
export { WebhookEventsListener } from './webhook-events.listener';
export { type CallResult, type WebhookCall, WebhookSender } from './webhook-sender';
export { WebhooksModule } from './webhooks.module';
