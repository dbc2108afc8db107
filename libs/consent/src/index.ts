export * from './consent-revoked.event';
