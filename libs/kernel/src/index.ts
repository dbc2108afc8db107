export {
  Clock,
  DAY_MS,
  HOUR_MS,
  daysAfter,
  type Moment,
  Random,
  SharedReading,
  SystemClock,
  SystemRandom,
} from './clock';
export { type Config, CONFIG, ConfigError, loadConfig, readConfig, readDotenv } from './config';
export { CONFLICT_REASONS, type ConflictReason } from './conflict-reasons';
export { Degradations, DISK_LOW } from './degradations';
export { DomainEvents, OnDomainEvent } from './domain-events';
export { flushPath, writeWhole } from './durable-files';
export { addressIn, EgressPolicy, ipv6Groups, lacksPublicUrl, requiresHttps } from './egress';
export {
  ApiError,
  conflict,
  type ErrorCode,
  ERRORS,
  type FieldFault,
  internalError,
  invalidRequest,
  notFound,
  OwnError,
  requireBytes,
  StartError,
  unlessMissing,
} from './errors';
export { bytesOf, homeFolder, isThere, makeFolder, ownAsFolder, realFile, version } from './files';
export { firstIdAt, idAfter } from './ids';
export { inTime } from './in-time';
export { adminCommand, guidePath, isOfNpx, launcherName } from './installation';
export { isForPeople, linesForPeople } from './log-lines';
export { JOB_NAMES } from './job-names';
export { createLogger, describeFault, logDestination, LOGGER, logRequest, NestLogger } from './logger';
export { printable } from './printable';
export {
  MASTER_KEY_PLACES,
  type MasterKeyPlace,
  masterKeyPlace,
  masterKeySetting,
} from './master-key-source';
export { NO_TIER } from './setting-values';
export { sameToken } from './same-token';
export { DEFAULT_DATABASE_PATH, SETTINGS } from './settings';
export { type EndedSpan, Spans } from './spans';
export { codePoints, cutText, isCleanText, isReadableText, mailtoOf, many, storableIso } from './text';
export { isDay, isDayOrTime, momentMs } from './times';
export { Turns } from './turns';
export { AUDIT_EVENT_TYPES, type AuditEventType, BOT_WIDE_GUILD_ID } from './vocabulary';
export { type MetricDefinition, METRICS } from './metric.definitions';
export { metricsEndpoint } from './metrics.endpoint';
export { type LabelOf, Metrics, NO_METRICS } from './metrics';
export { PrometheusMetrics } from './prometheus.metrics';
