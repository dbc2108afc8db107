export { areCountsExact, lowerCounts } from './audit-counts';
export {
  eventsBehind,
  eventsBetween,
  firstEvent,
  hasEventBetween,
  type HourlyEvents,
  lastPlace,
  type LoggedEvent,
  removeEvents,
} from './audit-queries';
export { AuditModule } from './audit.module';
export { AuditService } from './audit.service';
export { EventType } from './event-type.field';
export { declareEventTypes, EVENT_TYPES, type OwnEventType } from './event-types';
export { UnsealedBots } from './unsealed-bots';
