export {
  areCountsExact,
  eventsBehind,
  eventsBetween,
  firstEvent,
  hasEventBetween,
  type HourlyEvents,
  lastPlace,
  type LoggedEvent,
  lowerCounts,
  removeEvents,
} from './audit-queries';
export { AuditModule } from './audit.module';
export { AuditService } from './audit.service';
export { type RecentPlace, recentSubjects } from './audit.sql';
export { declareEventTypes, EVENT_TYPES, EventType } from './event-types';
export { UnsealedBots } from './unsealed-bots';
