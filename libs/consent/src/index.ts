export * from './consent.entity';
export * from './consent.gate';
export * from './consent.module';
export * from './consent.service';
export * from './consent-revoked.event';
