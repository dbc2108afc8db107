export * from './api-key.guard';
export * from './bot.entity';
export { WebhookHealthView, type WebhookCondition } from './bots.dto';
export * from './bots.module';
export * from './identify.middleware';
export * from './key-directory';
export * from './webhook-health';
export * from './webhook-secrets.service';
export * from './webhook-url-changed.event';
