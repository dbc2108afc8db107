export { areCountsExact, lowerCounts } from './audit-counts';
export {
  eventsBetween,
  firstEvent,
  hasEventBetween,
  lastPlace,
  type LoggedEvent,
  removeEvents,
} from './audit-queries';
export { AuditModule } from './audit.module';
export { AuditService } from './audit.service';
export { EventType } from './event-type.field';
export { declareEventTypes, type OwnEventType } from './event-types';
export { UnsealedBots } from './unsealed-bots';
