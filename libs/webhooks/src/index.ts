export { DeliveriesSettled } from './delivery-results';
export { type OutboxState, outboxState } from './outbox-state';
export { WebhooksModule } from './webhooks.module';

// Only for the tests, which reach a library through its index alone.
export { DeliveryLeases } from './delivery-leases';
export { DeliveryResults } from './delivery-results';
export { DeliveryRetention } from './delivery-retention.job';
export { RetrySchedule } from './delivery-states';
export { DeliveryTexts } from './delivery-texts';
export { Attempt, Delivery, DELIVERY_STATUSES, ReceiverHealth, UrlChange } from './delivery.entity';
export { Dispatcher } from './dispatcher';
export { WakeUpTimer } from './due-queue';
export { HttpWebhookSender, NameResolver } from './http.sender';
export { Outbox, WebhookEventsListener } from './outbox';
export { type CallResult, type LeasedDelivery, type WebhookCall, WebhookSender } from './webhook-call';
export { DELIVERY_EVENTS } from './webhook-events';
