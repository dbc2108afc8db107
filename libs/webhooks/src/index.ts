export { type OutboxState, outboxState } from './delivery-health';
export { type Claim, DeliveryLeases } from './delivery-leases';
export { DeliveriesSettled, DeliveryResults } from './delivery-results';
export { RetrySchedule } from './delivery-states';
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
export { HttpWebhookSender, NameResolver } from './http.sender';
export { Outbox, WebhookEventsListener } from './outbox';
export { WakeUpTimer } from './due-queue';
export { type CallResult, type WebhookCall, WebhookSender } from './webhook-call';
export { WebhooksModule } from './webhooks.module';
