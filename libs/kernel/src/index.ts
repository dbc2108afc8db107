export { Clock, daysAfter, Random, SystemClock, SystemRandom } from './clock';
export { type Config, CONFIG, ConfigError, loadConfig, readConfig, readDotenv } from './config';
export { Degradations, DISK_LOW } from './degradations';
export { DomainEvents, OnDomainEvent } from './domain-events';
export { EgressPolicy } from './egress';
export {
  ApiError,
  conflict,
  CONFLICT_REASONS,
  type ConflictReason,
  type ErrorCode,
  ERRORS,
  type FieldFault,
  internalError,
  invalidRequest,
  notFound,
  OwnError,
  requireBytes,
} from './errors';
export { firstIdAt } from './id-time';
export { addressIn, ipv6Groups } from './ip-address';
export { bytesOf, isThere } from './is-there';
export { LogStream } from './log-stream';
export { createLogger, describeFault, LOGGER, logRequest, NestLogger } from './logger';
export { printable } from './printable';
export { realFile } from './real-file';
export { NO_TIER } from './setting-values';
export { DEFAULT_DATABASE_PATH, SETTINGS } from './settings';
export { SharedReading } from './shared.reading';
export { StartError } from './start-error';
export { codePoints, isCleanText, isReadableText } from './text';
export { isDay, isDayOrTime, momentMs } from './times';
export { Turns } from './turns';
export { homeFolder, version } from './version';
export {
  AUDIT_EVENT_TYPES,
  type AuditEventType,
  BOT_WIDE_GUILD_ID,
  CONSENT_STATUSES,
  DELETION_STATUSES,
} from './vocabulary';
