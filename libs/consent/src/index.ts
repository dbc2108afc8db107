export * from './announced-erasures';
export * from './consent.entity';
export * from './consent.gate';
export * from './consent-history-pruning';
export * from './consent.module';
export * from './consent.service';
export { holdSubject } from './consent.sql';
export * from './consent-revoked.event';
export * from './consent-withdrawn.event';
