export * from './replay-cache';
export * from './sign-test-webhook';
export * from './verify-webhook';
export * from './webhook-error';
export * from './webhook-event';
export * from './webhook-middleware';
